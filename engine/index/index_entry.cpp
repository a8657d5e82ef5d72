#include "engine/index/index_entry.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>

#include "engine/file/large_pages.h"
#include "engine/index/key_prefix.h"
#include "sql/value/key_encoding.h"

namespace quire::engine {
namespace {

constexpr uint8_t kCutValues = 1;
constexpr uint8_t kCutItemKey = 2;

// The first bytes, so that `size` are taken in all, and the hash of the whole.
void append_cut(std::string_view bytes, size_t size, std::string& out) {
  const XXH128_hash_t digest = XXH3_128bits(bytes.data(), bytes.size());
  static_assert(sizeof digest == kIndexHashBytes);
  out.append(bytes.substr(0, size - sizeof digest));
  out.append(reinterpret_cast<const char*>(&digest), sizeof digest);
}

static_assert(kLongestTableKey <= std::numeric_limits<uint16_t>::max());

}  // namespace

void append_index_number(IndexNumber number, std::string& out) {
  const auto value = static_cast<uint16_t>(number);
  const char bytes[kIndexNumberBytes] = {static_cast<char>(value >> 8), static_cast<char>(value)};
  out.append(bytes, sizeof bytes);
}

IndexNumber index_number_of(Bytes key) noexcept {
  if (key.size() < kIndexNumberBytes) return IndexNumber::none;
  return static_cast<IndexNumber>(static_cast<uint8_t>(key[0]) << 8 | static_cast<uint8_t>(key[1]));
}

void append_index_values(std::string_view values, std::string& out) {
  if (values.size() <= kLongestIndexValues)
    out.append(values);
  else
    append_cut(values, kCutIndexValues, out);
}

std::optional<IndexEntry> parse_index_entry(Bytes key, Bytes record, const IndexShape& shape) noexcept {
  const uint8_t flags = record.empty() ? uint8_t{0} : static_cast<uint8_t>(record[0]);
  IndexEntry entry;
  size_t at = kIndexNumberBytes;
  if (key.size() < at + shape.scope_bytes) return std::nullopt;
  entry.scope = key.substr(at, shape.scope_bytes);
  at += shape.scope_bytes;
  const size_t begin = at;
  entry.has_cut_values = (flags & kCutValues) != 0;
  if (entry.has_cut_values) {
    at += kCutIndexValues;
  } else {
    for (size_t part = 0; part < shape.is_descending.size(); ++part) {
      if (at >= key.size()) return std::nullopt;
      const size_t size = sql::encoded_key_size(key.substr(at), shape.is_descending[part]);
      if (size == 0) return std::nullopt;
      at += size;
    }
  }
  if (at > key.size()) return std::nullopt;
  entry.values = key.substr(begin, at - begin);
  entry.item_key = (flags & kCutItemKey) != 0 ? record.substr(1) : key.substr(at);
  return entry;
}

bool are_all_undefined(const IndexEntry& entry, const IndexShape& shape) noexcept {
  constexpr char kUndefined = 0x05;
  if (entry.has_cut_values || entry.values.size() != shape.is_descending.size()) return false;
  for (size_t i = 0; i < entry.values.size(); ++i)
    if (entry.values[i] != (shape.is_descending[i] ? static_cast<char>(~kUndefined) : kUndefined))
      return false;
  return true;
}

// Either part may be nearly all of it. Room that is not written to costs no memory.
void EntryList::reserve(size_t memory) {
  if (memory <= bytes_.capacity()) return;
  bytes_.reserve(memory);
  entries_.reserve(memory / sizeof(Entry));
  prefer_large_pages(bytes_.data(), bytes_.capacity());
  prefer_large_pages(entries_.data(), entries_.capacity() * sizeof(Entry));
}

void EntryList::add(IndexNumber number, std::string_view scope, std::string_view values, Bytes item_key) {
  const size_t offset = bytes_.size();
  append_index_number(number, bytes_);
  bytes_.append(scope);
  append_index_values(values, bytes_);
  const size_t values_end = bytes_.size() - offset;
  uint8_t flags = values.size() > kLongestIndexValues ? kCutValues : uint8_t{0};
  const size_t room = kLongestTableKey - (bytes_.size() - offset);
  const bool is_cut = item_key.size() > room;
  if (is_cut) {
    flags |= kCutItemKey;
    append_cut(item_key, room, bytes_);
  } else {
    bytes_.append(item_key);
  }
  const size_t key_bytes = bytes_.size() - offset;
  size_t record_bytes = 0;
  if (flags != 0) {
    bytes_.push_back(static_cast<char>(flags));
    if (is_cut) bytes_.append(item_key);
    record_bytes = bytes_.size() - offset - key_bytes;
  }
  entries_.push_back({0, offset, number, static_cast<uint16_t>(values_end), static_cast<uint16_t>(key_bytes),
                      static_cast<uint16_t>(record_bytes)});
}

IndexEntry EntryList::entry(size_t at, size_t scope_bytes) const noexcept {
  const Bytes key = this->key(at), record = this->record(at);
  const size_t values_begin = kIndexNumberBytes + scope_bytes, values_end = entries_[at].values_end;
  const uint8_t flags = record.empty() ? uint8_t{0} : static_cast<uint8_t>(record[0]);
  return {.scope = key.substr(kIndexNumberBytes, scope_bytes),
          .values = key.substr(values_begin, values_end - values_begin),
          .item_key = (flags & kCutItemKey) != 0 ? record.substr(1) : key.substr(values_end),
          .has_cut_values = (flags & kCutValues) != 0};
}

// The keys lie anywhere in memory, and comparing two costs two looks there: so they are sorted by eight bytes
// at a time, which are kept beside them.
void EntryList::sort(SortRoom& room) {
  has_twins_ = false;
  if (!std::ranges::is_sorted(entries_, {}, &Entry::number))
    std::ranges::stable_sort(entries_, {}, &Entry::number);
  const std::span<Entry> all(entries_);
  for (size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && all[last].number == all[first].number) ++last;
    sort_from(kIndexNumberBytes, all.subspan(first, last - first), room);
  }
  if (!has_twins_) return;
  const auto rest = std::ranges::unique(
      entries_, [this](const Entry& a, const Entry& b) { return key_of(a) == key_of(b); });
  entries_.erase(rest.begin(), rest.end());
}

// Whether they are in order; notes equal ones that it passes.
bool EntryList::is_ascending(std::span<const Entry> alike) {
  for (size_t i = 1; i < alike.size(); ++i) {
    ask_ahead(alike, i);
    const int order = key_of(alike[i - 1]).compare(key_of(alike[i]));
    if (order > 0) return false;
    has_twins_ = has_twins_ || order == 0;
  }
  return true;
}

// Entries whose keys are equal up to `depth`, in the order in which they were added: often that of the items,
// so that those of one value need no sorting.
void EntryList::sort_from(size_t depth, std::span<Entry> alike, SortRoom& room) {
  if (alike.size() < 2 || is_ascending(alike)) return;
  if (depth >= kLongestTableKey) {  // one ends where another goes on with zeros
    std::ranges::sort(alike, [this](const Entry& a, const Entry& b) { return key_of(a) < key_of(b); });
    is_ascending(alike);
    return;
  }
  for (size_t i = 0; i < alike.size(); ++i) {
    ask_ahead(alike, i);
    alike[i].prefix = key_prefix(key_of(alike[i]), depth);
  }
  sort_by_prefix<11>(alike, room);
  for (size_t first = 0, last = 0; first < alike.size(); first = last) {
    while (last < alike.size() && alike[last].prefix == alike[first].prefix) ++last;
    sort_from(depth + kPrefixBytes, alike.subspan(first, last - first), room);
  }
}

}  // namespace quire::engine
