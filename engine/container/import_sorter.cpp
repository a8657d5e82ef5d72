#include "engine/container/import_sorter.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "engine/file/large_pages.h"
#include "engine/index/key_prefix.h"

namespace quire::engine {
namespace {

// What precedes a key, in a lane and in a run. In a run the documents' offsets follow from their sizes.
struct Header {
  uint64_t number;
  uint64_t document_hash;
  uint64_t document_offset;
  uint32_t line;
  uint32_t key_size;
  uint32_t document_size;
  uint32_t unused = 0;
};
static_assert(sizeof(Header) == 40);

Header header_at(const char* at) {
  Header header;
  std::memcpy(&header, at, sizeof header);
  return header;
}

SortedItem item_of(const Header& header, const char* key, const char* document) {
  return {{key, header.key_size},
          {document, header.document_size},
          header.document_hash,
          header.number,
          header.line};
}

Bytes bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

}  // namespace

// ---- Lanes

Result<void> ImportSorter::Lane::add(const SortedItem& item) {
  const size_t size = sizeof(Header) + item.key.size() + item.document.size() + sizeof(Entry);
  const size_t used = keys_.size() + documents_.size() + entries_.size() * sizeof(Entry);
  if (!entries_.empty() && used + size > memory_) QUIRE_TRY(spill());
  // All at once, as memory counts when it is first written: growing by copies would touch twice as much.
  if (documents_.empty()) {
    documents_.reserve(std::max(memory_, size));
    keys_.reserve(memory_);
  }
  const Header header{item.number,
                      item.hash,
                      documents_.size(),
                      item.line,
                      static_cast<uint32_t>(item.key.size()),
                      static_cast<uint32_t>(item.document.size())};
  entries_.push_back({key_prefix(item.key), keys_.size()});
  keys_.append(bytes_of(header)).append(item.key);
  documents_.append(item.document);
  // A small import shall not take a large page.
  if (!has_large_pages_ && documents_.size() > kLargePage) {
    has_large_pages_ = true;
    prefer_large_pages(documents_.data() + documents_.size(), documents_.capacity() - documents_.size());
    prefer_large_pages(keys_.data() + keys_.size(), keys_.capacity() - keys_.size());
  }
  return {};
}

Bytes ImportSorter::Lane::header_and_key(const Entry& entry) const {
  const char* const at = keys_.data() + entry.offset;
  return {at, sizeof(Header) + header_at(at).key_size};
}

SortedItem ImportSorter::Lane::item(const Entry& entry) const {
  const char* const at = keys_.data() + entry.offset;
  const Header header = header_at(at);
  return item_of(header, at + sizeof header, documents_.data() + header.document_offset);
}

// By the prefixes, then by the keys where these are equal: the items of one partition, which often come in
// order.
void ImportSorter::Lane::sort() {
  sort_by_prefix(std::span(entries_));
  const auto is_before = [this](const Entry& a, const Entry& b) { return item(a).key < item(b).key; };
  for (auto first = entries_.begin(); first != entries_.end();) {
    const auto last = std::find_if(first, entries_.end(),
                                   [&](const Entry& entry) { return entry.prefix != first->prefix; });
    if (!std::is_sorted(first, last, is_before)) std::stable_sort(first, last, is_before);
    first = last;
  }
}

void ImportSorter::Lane::prefetch_key(size_t number) const noexcept {
  if (number < entries_.size()) __builtin_prefetch(keys_.data() + entries_[number].offset);
}

Result<void> ImportSorter::Lane::spill() {
  sort();
  const uint64_t begin = file_.size();
  SpillWriter writer(file_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    prefetch_key(i + kItemsAhead);
    QUIRE_TRY(writer.write(header_and_key(entries_[i])));
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    prefetch_key(i + 2 * kItemsAhead);
    if (i + kItemsAhead < entries_.size()) prefetch_document(item(entries_[i + kItemsAhead]).document);
    QUIRE_TRY(writer.write(item(entries_[i]).document));
  }
  QUIRE_TRY(writer.finish());
  runs_.push_back({begin, begin + keys_.size(), file_.size()});
  keys_.clear();
  documents_.clear();
  entries_.clear();
  return {};
}

// ---- Handing out

ImportSorter::Cursor::Cursor(const Lane& lane, const Lane::Run& run)
    : lane_(&lane),
      run_(&run),
      key_(run.keys),
      document_(run.documents),
      brought_in_(run.documents),
      given_back_(run.documents) {}

bool ImportSorter::Cursor::next() {
  if (run_ == nullptr) {
    if (entry_ == lane_->entries_.size()) return false;
    item_ = lane_->item(lane_->entries_[entry_++]);
  } else {
    if (key_ == run_->documents) {
      item_.document = {};
      return false;
    }
    const char* const at = lane_->file_.at(key_);
    const Header header = header_at(at);
    item_ = item_of(header, at + sizeof header, lane_->file_.at(document_));
    key_ += sizeof header + header.key_size;
    document_ += header.document_size;
  }
  prefix_ = key_prefix(item_.key);
  return true;
}

uint64_t ImportSorter::Cursor::document_offset() const {
  return document_ - item_.document.size();
}

void ImportSorter::Cursor::bring_in(uint64_t end) {
  if (run_ == nullptr) return;
  lane_->file_.bring_in(brought_in_, end);
  brought_in_ = end;
}

void ImportSorter::Cursor::give_back(uint64_t end) {
  if (run_ == nullptr) return;
  lane_->file_.give_back(given_back_, end);
  given_back_ = end;
}

bool ImportSorter::Cursor::is_after(const Cursor* a, const Cursor* b) {
  if (a->prefix_ != b->prefix_) return a->prefix_ > b->prefix_;
  const int order = a->item_.key.compare(b->item_.key);
  return order != 0 ? order > 0 : a->item_.number > b->item_.number;
}

ImportSorter::ImportSorter(const std::string& folder, size_t memory, size_t lanes) {
  lanes_.reserve(lanes);
  for (size_t i = 0; i < lanes; ++i) lanes_.push_back(Lane(folder, memory / lanes));
}

void ImportSorter::begin_cursor(Cursor cursor) {
  if (!cursor.next()) return;
  cursors_.push_back(cursor);
  heap_.push_back(&cursors_.back());
}

Result<void> ImportSorter::begin() {
  size_t most_cursors = 0;
  for (Lane& lane : lanes_) {
    if (!is_sorted_) {
      QUIRE_TRY(lane.file_.map());
      lane.sort();
    }
    most_cursors += lane.runs_.size() + 1;
  }
  is_sorted_ = true;
  has_begun_ = false;
  heap_.clear();
  cursors_.clear();
  cursors_.reserve(most_cursors);  // heap_ points into it
  for (const Lane& lane : lanes_) {
    for (const Lane::Run& run : lane.runs_) begin_cursor(Cursor(lane, run));
    begin_cursor(Cursor(lane));
  }
  std::ranges::make_heap(heap_, Cursor::is_after);
  return {};
}

const SortedItem* ImportSorter::next() {
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
void ImportSorter::sink_front() {
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

ImportSorter::Progress ImportSorter::progress() const {
  Progress progress;
  progress.documents.reserve(cursors_.size());
  for (const Cursor& cursor : cursors_) progress.documents.push_back(cursor.document_offset());
  return progress;
}

void ImportSorter::bring_in(const Progress& progress) {
  for (size_t i = 0; i < progress.documents.size(); ++i) cursors_[i].bring_in(progress.documents[i]);
}

void ImportSorter::give_back(const Progress& progress) {
  for (size_t i = 0; i < progress.documents.size(); ++i) cursors_[i].give_back(progress.documents[i]);
}

}  // namespace quire::engine
