// An entry of <c>/index:
//
//   key     index number, 2 bytes big-endian, from 1 on | scope | values | key of the item in <c>/items
//   record  empty; or, if something did not fit, a byte of flags, and the item's key if it was cut
//
// Scope: of an index that belongs to each partition (unique keys), the EPK; else nothing. Values: the
// encodings of the index's parts (sql/value/key_encoding.h) one behind the other. Values of more than 255
// bytes are cut: their first 240 bytes and the 128-bit hash of all of them. An item's key that does not fit
// into the rest likewise. So who has a cut entry looks into the item to know the values.
//
// Number 0 is no index: its rows say which indexes there are (index_set.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/table.h"
#include "engine/index/key_prefix.h"
#include "sql/value/prefetch.h"
#include "sql/value/value.h"

namespace quire::engine {

enum class IndexNumber : uint16_t { none = 0 };

inline constexpr size_t kIndexNumberBytes = 2;
inline constexpr size_t kLongestIndexValues = 255;
inline constexpr size_t kCutIndexValues = 256;  // what longer ones take in a key
inline constexpr size_t kIndexHashBytes = 16;

// The number as the first bytes of a key.
void append_index_number(IndexNumber number, std::string& out);
IndexNumber index_number_of(Bytes key) noexcept;
// Values as they stand in a key: themselves, or cut.
void append_index_values(std::string_view values, std::string& out);

// Which of an index's parts sort downwards. Of kMost parts at most.
class PartOrders {
 public:
  static constexpr size_t kMost = 32;

  PartOrders() noexcept = default;
  PartOrders(std::initializer_list<bool> parts) noexcept {
    for (const bool is_descending : parts) add(is_descending);
  }
  void add(bool is_descending) noexcept { descending_ |= uint32_t{is_descending} << size_++; }
  size_t size() const noexcept { return size_; }
  bool operator[](size_t part) const noexcept { return (descending_ >> part & 1) != 0; }

 private:
  uint32_t descending_ = 0;
  uint32_t size_ = 0;
};

// How the bytes of an index's keys are to be read.
struct IndexShape {
  size_t scope_bytes = 0;
  PartOrders is_descending;
};

// An entry taken apart. Views into the key and the record.
struct IndexEntry {
  std::string_view scope;
  std::string_view values;  // if they are cut: the first bytes and the hash
  Bytes item_key;
  bool has_cut_values = false;
};

// Nothing if the bytes are damaged.
std::optional<IndexEntry> parse_index_entry(Bytes key, Bytes record, const IndexShape& shape) noexcept;

// Whether all of an entry's values stand for nothing: of a unique index over the container there may be many
// such.
bool are_all_undefined(const IndexEntry& entry, const IndexShape& shape) noexcept;

// Entries of one item, or of many. Keeps its memory.
class EntryList {
 public:
  struct Entry {
    uint64_t prefix;  // what sort() looks at: some of the key's bytes, as a number that sorts like them
    size_t offset;
    IndexNumber number;
    uint16_t values_end;  // in the key
    uint16_t key_bytes;
    uint16_t record_bytes;
  };
  using SortRoom = engine::SortRoom<Entry>;

  void clear() noexcept {
    bytes_.clear();
    entries_.clear();
  }
  // Room for that many bytes of memory(), on large pages where it is long enough for such.
  void reserve(size_t memory);
  void add(IndexNumber number, std::string_view scope, std::string_view values, Bytes item_key);
  // In the order of keys, each once.
  void sort(SortRoom& room);
  void sort() {
    SortRoom room;
    sort(room);
  }

  size_t size() const noexcept { return entries_.size(); }
  size_t memory() const noexcept { return bytes_.size() + entries_.size() * sizeof(Entry); }
  Bytes key(size_t at) const noexcept { return key_of(entries_[at]); }
  Bytes record(size_t at) const noexcept {
    return {bytes_.data() + entries_[at].offset + entries_[at].key_bytes, entries_[at].record_bytes};
  }
  IndexNumber number(size_t at) const noexcept { return entries_[at].number; }
  // Taken apart. `scope_bytes`: of its index.
  IndexEntry entry(size_t at, size_t scope_bytes) const noexcept;
  // Who walks along asks for the memory of an entry further on: sorted, they lie anywhere.
  void ask_ahead(size_t at) const noexcept { ask_ahead(entries_, at); }

 private:
  Bytes key_of(const Entry& entry) const noexcept { return {bytes_.data() + entry.offset, entry.key_bytes}; }
  void ask_ahead(std::span<const Entry> entries, size_t at) const noexcept {
    constexpr size_t kAhead = 8;
    if (at + kAhead >= entries.size()) return;
    const Bytes key = key_of(entries[at + kAhead]);
    sql::prefetch(key.data());
    sql::prefetch(key.data() + key.size() - 1);
  }
  void sort_from(size_t depth, std::span<Entry> alike, SortRoom& room);
  bool is_ascending(std::span<const Entry> alike);

  std::string bytes_;
  std::vector<Entry> entries_;
  bool has_twins_ = false;  // known by sort()
};

// What an entry adds to IndexCounters::cut_entries: 1 for cut values, this for the cut key of an item, which
// was not counted at first.
inline constexpr uint64_t kOneCutItemKey = uint64_t{1} << 32;
inline uint64_t cuts_of(Bytes record) noexcept {
  const unsigned flags = record.empty() ? 0 : static_cast<unsigned char>(record[0]);
  return (flags & 1) + ((flags & 2) != 0 ? kOneCutItemKey : 0);
}

}  // namespace quire::engine
