#include "engine/container/import_sorter.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <span>
#include <utility>

#include "engine/container/side_work.h"
#include "engine/file/large_pages.h"
#include "engine/index/key_prefix.h"
#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

// What precedes a key, in a lane and in a run. In a run the documents' offsets follow from their sizes.
struct Header {
  uint64_t number;
  uint64_t document_offset;
  uint32_t line;
  uint32_t key_size;
  uint32_t document_size;
  uint32_t unused = 0;
};

Header header_at(const char* at) {
  Header header;
  std::memcpy(&header, at, sizeof header);
  return header;
}

// How many a thread is begun for.
constexpr size_t kItemsForThread = 1024;

Bytes bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

}  // namespace

// ---- Lanes

SortedItem ImportSorter::Lane::item_at(const char* at, const char* document) noexcept {
  static_assert(sizeof(Header) == kHeaderBytes);
  const Header header = header_at(at);
  return {{at + kHeaderBytes, header.key_size}, {document, header.document_size}, header.number, header.line};
}

Result<void> ImportSorter::Lane::add(const SortedItem& item) {
  const size_t size = sizeof(Header) + item.key.size() + item.document.size() + sizeof(Entry);
  const size_t used = keys_.size() + documents_.size() + entries_.size() * sizeof(Entry);
  if (!entries_.empty() && used + size > memory_) QUIRE_TRY(spill());
  // All at once, as memory counts when it is first written: growing by copies would touch twice as much.
  if (documents_.empty()) {
    documents_.reserve(std::max(memory_, size));
    keys_.reserve(memory_);
  }
  const Header header{item.number, documents_.size(), item.line, static_cast<uint32_t>(item.key.size()),
                      static_cast<uint32_t>(item.document.size())};
  entries_.push_back({key_prefix(item.key), keys_.size()});
  keys_.append(bytes_of(header)).append(item.key);
  documents_.append(item.document);
  bytes_ += item.key.size() + item.document.size();
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
  return item_at(at, documents_.data() + header_at(at).document_offset);
}

// By the prefixes, then by the keys where these are equal: the items of one partition, which often come in
// order. Their keys, which lie anywhere in the lane, are asked for while it is found out which they are.
void ImportSorter::Lane::sort() {
  sort_by_prefix(std::span(entries_));
  const auto is_before = [this](const Entry& a, const Entry& b) { return item(a).key < item(b).key; };
  for (auto first = entries_.begin(); first != entries_.end();) {
    const auto last = std::find_if(first, entries_.end(), [&](const Entry& entry) {
      sql::prefetch(keys_.data() + entry.offset);
      sql::prefetch(keys_.data() + entry.offset + sizeof(Header));
      return entry.prefix != first->prefix;
    });
    if (!std::is_sorted(first, last, is_before)) std::stable_sort(first, last, is_before);
    first = last;
  }
}

void ImportSorter::Lane::prefetch_key(size_t number) const noexcept {
  if (number < entries_.size()) sql::prefetch(keys_.data() + entries_[number].offset);
}

Result<void> ImportSorter::Lane::spill() {
  sort();
  auto written = write_run();
  // Also where that failed, which ends the import: they are no longer what they were.
  keys_.clear();
  documents_.clear();
  entries_.clear();
  return written;
}

Result<void> ImportSorter::Lane::write_run() {
  const uint64_t begin = file_.size();
  Run& run = runs_.emplace_back(begin, begin + keys_.size());
  SpillWriter writer(file_);
  uint64_t key = run.keys, document = run.documents;
  for (size_t i = 0; i < entries_.size(); ++i) {
    prefetch_key(i + kItemsAhead);
    if (i % kItemsBetweenMarks == 0) run.marks.push_back({entries_[i].prefix, key, document});
    const Bytes header_and_key = this->header_and_key(entries_[i]);
    const Header header = header_at(header_and_key.data());
    key += header_and_key.size();
    document += header.document_size;
    entries_[i] = {header.document_size, header.document_offset};  // all that is asked for from here on
    QUIRE_TRY(writer.write(header_and_key));
  }
  const auto document_at = [this](size_t number) -> Bytes {
    return {documents_.data() + entries_[number].offset, entries_[number].prefix};
  };
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i + kItemsAhead < entries_.size()) prefetch_document(document_at(i + kItemsAhead));
    QUIRE_TRY(writer.write(document_at(i)));
  }
  return writer.finish();
}

// ---- All of them

ImportSorter::ImportSorter(const std::string& folder, size_t memory, size_t lanes) {
  lanes_.reserve(lanes);
  for (size_t i = 0; i < lanes; ++i) lanes_.push_back(Lane(folder, memory / lanes));
}

uint64_t ImportSorter::bytes() const noexcept {
  uint64_t bytes = 0;
  for (const Lane& lane : lanes_) bytes += lane.bytes_;
  return bytes;
}

Result<void> ImportSorter::finish() {
  for (Lane& lane : lanes_) QUIRE_TRY(lane.file_.map());
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < lanes_.size(); ++i)
    if (lanes_[i].entries_.size() > kItemsForThread)
      others.push_back(std::async(kBesideIfPossible, [this, i] { lanes_[i].sort(); }));
    else
      lanes_[i].sort();
  lanes_.front().sort();
  for (std::future<void>& other : others) other.get();
  return {};
}

}  // namespace quire::engine
