#include "engine/file/pending_view.h"

namespace quire::engine {

PendingView::Walk::Walk(const PendingView& view, uint32_t slot, uint32_t upto)
    : at_hand_(upto > view.last() ? view.newest_.get() : nullptr),
      slot_(slot),
      newest_(*view.newest_, slot, upto) {
  if (view.applying_ != nullptr) applying_.emplace(*view.applying_, slot, view.applying_->last());
}

// On the nearer of the two; where both have the key, on the newer change.
bool PendingView::Walk::settle(bool is_forward) noexcept {
  const bool has_applying = applying_ && applying_->is_there();
  stand_ = newest_.is_there() ? Stand::newest : has_applying ? Stand::applying : Stand::nowhere;
  if (has_applying && stand_ == Stand::newest) {
    const int order = newest_.change().key.compare(applying_->change().key);
    if (is_forward ? order > 0 : order < 0) stand_ = Stand::applying;
  }
  return is_there();
}

bool PendingView::Walk::seek(Bytes key) noexcept {
  link_own();
  newest_.seek(key);
  if (applying_) applying_->seek(key);
  return settle(true);
}

bool PendingView::Walk::seek_before(Bytes key) noexcept {
  link_own();
  newest_.seek_before(key);
  if (applying_) applying_->seek_before(key);
  return settle(false);
}

bool PendingView::Walk::last() noexcept {
  link_own();
  newest_.last();
  if (applying_) applying_->last();
  return settle(false);
}

bool PendingView::Walk::next() noexcept {
  link_own();
  const Bytes key = change().key;
  const bool is_in_applying = applying_ && applying_->is_there() && applying_->change().key == key;
  if (stand_ == Stand::newest) newest_.next();
  if (is_in_applying) applying_->next();
  return settle(true);
}

}  // namespace quire::engine
