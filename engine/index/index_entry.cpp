#include "engine/index/index_entry.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

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

uint64_t prefix_of(Bytes key) {
  uint64_t prefix = 0;
  const Bytes rest = key.substr(kIndexNumberBytes, sizeof prefix);
  std::memcpy(&prefix, rest.data(), rest.size());
  return __builtin_bswap64(prefix);
}

}  // namespace

void append_index_number(IndexNumber number, std::string& out) {
  const auto value = static_cast<uint16_t>(number);
  out.push_back(static_cast<char>(value >> 8));
  out.push_back(static_cast<char>(value));
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
    for (const bool is_descending : shape.is_descending) {
      if (at >= key.size()) return std::nullopt;
      const size_t size = sql::encoded_key_size(key.substr(at), is_descending);
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

void EntryList::add(IndexNumber number, std::string_view scope, std::string_view values, Bytes item_key) {
  const size_t offset = bytes_.size();
  append_index_number(number, bytes_);
  bytes_.append(scope);
  append_index_values(values, bytes_);
  uint8_t flags = values.size() > kLongestIndexValues ? kCutValues : uint8_t{0};
  const size_t room = kLongestTableKey - (bytes_.size() - offset);
  const bool is_cut = item_key.size() > room;
  if (is_cut) {
    flags |= kCutItemKey;
    append_cut(item_key, room, bytes_);
  } else {
    bytes_.append(item_key);
  }
  const auto key_bytes = static_cast<uint32_t>(bytes_.size() - offset);
  uint32_t record_bytes = 0;
  if (flags != 0) {
    bytes_.push_back(static_cast<char>(flags));
    if (is_cut) bytes_.append(item_key);
    record_bytes = static_cast<uint32_t>(bytes_.size() - offset - key_bytes);
  }
  entries_.push_back({prefix_of(Bytes(bytes_).substr(offset, key_bytes)), offset, key_bytes, record_bytes});
}

void EntryList::sort() {
  const auto key_of = [&](const Entry& entry) {
    return Bytes(bytes_.data() + entry.offset, entry.key_bytes);
  };
  std::ranges::sort(entries_, [&](const Entry& a, const Entry& b) {
    const Bytes a_key = key_of(a), b_key = key_of(b);
    const int numbers = std::memcmp(a_key.data(), b_key.data(), kIndexNumberBytes);
    if (numbers != 0) return numbers < 0;
    return a.prefix != b.prefix ? a.prefix < b.prefix : a_key < b_key;
  });
  const auto rest = std::ranges::unique(entries_, std::ranges::equal_to{}, key_of);
  entries_.erase(rest.begin(), rest.end());
}

}  // namespace quire::engine
