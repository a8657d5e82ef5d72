// What is pending as a snapshot sees it beside LMDB's tree: the list that the writer adds to and, while that
// is put into the tree behind his back, the one before it. Which of the two a change is in makes no
// difference to who looks: of one key the newer list has the newer change, and one that is in the tree by now
// says what the tree says. It does not change; another takes its place.
//
// Internal to engine/file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/file/pending_commits.h"

namespace quire::engine {

class PendingView {
 public:
  using Change = PendingCommits::Change;

  // `applying` may be null; nothing is added to it any more.
  PendingView(std::shared_ptr<PendingCommits> newest, std::shared_ptr<const PendingCommits> applying)
      : newest_(std::move(newest)), applying_(std::move(applying)) {}

  const std::shared_ptr<PendingCommits>& newest() const noexcept { return newest_; }
  const PendingCommits* applying() const noexcept { return applying_.get(); }
  // LMDB's number of the commit that the newest list follows: where one is being applied, of what comes of
  // it.
  uint64_t base() const noexcept { return newest_->base(); }
  // How many commits of the newest list are published.
  uint32_t last() const noexcept { return newest_->last(); }
  // Whether it is to be seen beside LMDB's tree as that commit has left it: where a list is being applied,
  // with none of it, all of it, or a part.
  bool fits(uint64_t commit) const noexcept {
    return commit <= base() && commit >= (applying_ == nullptr ? base() : applying_->base());
  }
  // How many are published in both.
  uint32_t commits() const noexcept { return last() + (applying_ == nullptr ? 0 : applying_->last()); }

  // What the first `upto` commits of the newest list, and all of the one before, have made of a key; nothing
  // if they leave it alone.
  std::optional<Change> find(uint32_t slot, Bytes key, uint32_t upto) const noexcept {
    auto change = newest_->find(slot, key, upto);
    if (!change && applying_ != nullptr) change = applying_->find(slot, key, applying_->last());
    return change;
  }
  // The same for the writer, with the commit at hand.
  std::optional<Change> find_at_hand(uint32_t slot, Bytes key) const noexcept {
    auto change = newest_->find_at_hand(slot, key);
    if (!change && applying_ != nullptr) change = applying_->find(slot, key, applying_->last());
    return change;
  }
  // visit(slot, Change): what leads from the tree to what is seen, if it is done in this order; false ends
  // it.
  template <typename Visit>
  bool for_each(uint32_t upto, const Visit& visit) const {
    return (applying_ == nullptr || applying_->for_each(applying_->last(), visit)) &&
           newest_->for_each(upto, visit);
  }

  // Walks the keys of a table that they have changed, as PendingCommits::Walk does; for the writer, those of
  // the commit at hand as they are at each call.
  class Walk {
   public:
    Walk(const PendingView& view, uint32_t slot, uint32_t upto);
    bool seek(Bytes key) noexcept;
    bool seek_before(Bytes key) noexcept;
    bool last() noexcept;
    bool next() noexcept;  // from the key to which seek() or this has led
    bool is_there() const noexcept { return stand_ != Stand::nowhere; }
    Change change() const noexcept {
      return stand_ == Stand::applying ? applying_->change() : newest_.change();
    }

   private:
    enum class Stand : uint8_t { nowhere, newest, applying };
    bool settle(bool is_forward) noexcept;
    void link_own() noexcept {
      if (at_hand_ != nullptr) at_hand_->link_at_hand(slot_);
    }

    PendingCommits* at_hand_;  // what the writer adds to, if it is his; or null
    uint32_t slot_;
    PendingCommits::Walk newest_;
    std::optional<PendingCommits::Walk> applying_;
    Stand stand_ = Stand::nowhere;
  };

 private:
  std::shared_ptr<PendingCommits> newest_;
  std::shared_ptr<const PendingCommits> applying_;
};

}  // namespace quire::engine
