#include "engine/container/import_merge.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/container/item_key.h"
#include "engine/index/key_prefix.h"
#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

// A commit takes a little from each run, of which there are the more the longer the import is: a call for
// each would be more calls than in proportion. To give pages back interrupts the other processors, too.
constexpr uint64_t kLeastGivenBack = uint64_t{1} << 20;
constexpr uint64_t kBroughtInAhead = uint64_t{128} << 10;
// Of the keys of a run: from its memory, and from the disk.
constexpr uint64_t kPrefetchedAhead = 512;
constexpr uint64_t kAskedForAhead = uint64_t{128} << 10;

}  // namespace

// ---- Runs and lanes

ImportMerge::Cursor::Cursor(const Lane& lane, const Lane::Run& run, Range range)
    : lane_(&lane), run_(&run), to_(range.to), key_(run.keys), document_(run.documents) {
  if (range.from != 0) seek(range.from);
  brought_in_ = given_back_ = document_;
}

ImportMerge::Cursor::Cursor(const Lane& lane, Range range) : lane_(&lane), to_(range.to) {
  const auto first = std::ranges::lower_bound(lane.entries_, range.from, {}, &Lane::Entry::prefix);
  entry_ = static_cast<size_t>(first - lane.entries_.begin());
}

SortedItem ImportMerge::Cursor::item_of_run() {
  if (key_ + kAskedForAhead > asked_for_ && asked_for_ < run_->documents) {
    const uint64_t end = std::min(key_ + 2 * kAskedForAhead, run_->documents);
    lane_->file_.ask_for(std::max(key_, asked_for_), end);
    asked_for_ = end;
  }
  return Lane::item_at(lane_->file_.at(key_), lane_->file_.at(document_));
}

void ImportMerge::Cursor::pass(const SortedItem& item) {
  key_ += Lane::kHeaderBytes + item.key.size();
  document_ += item.document.size();
}

// To the first item of the run whose prefix is at least `from`.
void ImportMerge::Cursor::seek(uint64_t from) {
  const auto mark = std::ranges::lower_bound(run_->marks, from, {}, &Lane::RunMark::prefix);
  if (mark != run_->marks.begin()) {
    key_ = std::prev(mark)->key;
    document_ = std::prev(mark)->document;
  }
  while (key_ != run_->documents) {
    const SortedItem item = item_of_run();
    if (key_prefix(item.key) >= from) return;
    pass(item);
  }
}

bool ImportMerge::Cursor::next() {
  if (run_ == nullptr) {
    if (entry_ == lane_->entries_.size()) return false;
    lane_->prefetch_key(entry_ + kItemsAhead);
    item_ = lane_->item(lane_->entries_[entry_++]);
  } else {
    if (key_ == run_->documents) {
      item_.document = {};
      return false;
    }
    item_ = item_of_run();
    pass(item_);
    sql::prefetch(lane_->file_.at(key_) + kPrefetchedAhead);
  }
  prefix_ = key_prefix(item_.key);
  return to_ == 0 || prefix_ < to_;
}

uint64_t ImportMerge::Cursor::document_offset() const {
  return document_ - item_.document.size();
}

void ImportMerge::Cursor::ask_for(uint64_t end) {
  if (run_ == nullptr || end <= brought_in_) return;
  lane_->file_.ask_for(brought_in_, std::min(end + kBroughtInAhead, lane_->file_.size()));
}

void ImportMerge::Cursor::bring_in(uint64_t end) {
  if (run_ == nullptr || end <= brought_in_) return;
  end = std::min(end + kBroughtInAhead, lane_->file_.size());
  lane_->file_.bring_in(brought_in_, end);
  brought_in_ = end;
}

void ImportMerge::Cursor::give_back(uint64_t end) {
  if (run_ == nullptr || end < given_back_ + kLeastGivenBack) return;
  lane_->file_.give_back(given_back_, end);
  given_back_ = end;
}

bool ImportMerge::Cursor::is_after(const Cursor* a, const Cursor* b) {
  if (a->prefix_ != b->prefix_) return a->prefix_ > b->prefix_;
  const int order = a->item_.key.compare(b->item_.key);
  return order != 0 ? order > 0 : a->item_.number > b->item_.number;
}

// ---- The merge

ImportMerge::ImportMerge(const ImportSorter& sorter, uint32_t part, uint32_t parts) {
  const Range range{key_prefix(start_of_part(part, parts)),
                    part + 1 == parts ? 0 : key_prefix(start_of_part(part + 1, parts))};
  size_t most_cursors = 0;
  for (const Lane& lane : sorter.lanes_) most_cursors += lane.runs_.size() + 1;
  cursors_.reserve(most_cursors);  // heap_ points into it
  for (const Lane& lane : sorter.lanes_) {
    for (const Lane::Run& run : lane.runs_) begin_cursor(Cursor(lane, run, range));
    begin_cursor(Cursor(lane, range));
  }
  std::ranges::make_heap(heap_, Cursor::is_after);
}

void ImportMerge::begin_cursor(Cursor cursor) {
  if (!cursor.next()) return;
  cursors_.push_back(cursor);
  heap_.push_back(&cursors_.back());
}

const SortedItem* ImportMerge::next() {
  if (std::exchange(has_begun_, true) && !heap_.empty()) {
    if (!heap_.front()->next()) {
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    if (!heap_.empty()) sink_front();
  }
  return heap_.empty() ? nullptr : &heap_.front()->item();
}

// Ends at once where the next item is of the same run: those of a partition that came one after the other.
void ImportMerge::sink_front() {
  Cursor* const sinking = heap_.front();
  size_t at = 0;
  for (size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && Cursor::is_after(heap_[child], heap_[child + 1])) ++child;
    if (!Cursor::is_after(sinking, heap_[child])) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = sinking;
}

ImportMerge::Progress ImportMerge::progress() const {
  Progress progress;
  progress.documents.reserve(cursors_.size());
  for (const Cursor& cursor : cursors_) progress.documents.push_back(cursor.document_offset());
  return progress;
}

void ImportMerge::bring_in(const Progress& progress) {
  for (size_t i = 0; i < progress.documents.size(); ++i) cursors_[i].ask_for(progress.documents[i]);
  for (size_t i = 0; i < progress.documents.size(); ++i) cursors_[i].bring_in(progress.documents[i]);
}

void ImportMerge::give_back(const Progress& progress) {
  for (size_t i = 0; i < progress.documents.size(); ++i) cursors_[i].give_back(progress.documents[i]);
}

}  // namespace quire::engine
