#include "engine/container/feed_row.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace quire::engine {
namespace {

constexpr size_t kItemHead = 5;
constexpr size_t kRangeHead = 23;
constexpr size_t kVersionHead = 15;
constexpr uint8_t kHasPlaces = 0x80;

template <typename Number>
Number number_at(Bytes row, size_t at) noexcept {
  Number number;
  std::memcpy(&number, row.data() + at, sizeof number);
  return number;
}

template <typename Number>
void append_number(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::optional<FeedRow> read_range(FeedRow row, Bytes bytes) noexcept {
  if (bytes.size() < kRangeHead) return std::nullopt;
  row.first = Lsn{number_at<uint64_t>(bytes, 5)};
  row.live = number_at<uint64_t>(bytes, 13);
  const size_t first_length = number_at<uint16_t>(bytes, 21);
  const Bytes keys = bytes.substr(kRangeHead);
  if (keys.size() < first_length) return std::nullopt;
  row.first_key = keys.substr(0, first_length);
  row.last_key = keys.substr(first_length);
  return row;
}

std::optional<FeedRow> read_version(FeedRow row, Bytes bytes, bool has_places) noexcept {
  const size_t head = kVersionHead + (has_places ? 2 * sizeof(uint32_t) : 0);
  if (bytes.size() < head) return std::nullopt;
  row.previous = Lsn{number_at<uint64_t>(bytes, 5)};
  const size_t key_length = number_at<uint16_t>(bytes, 13);
  if (has_places) {
    row.place = number_at<uint32_t>(bytes, kVersionHead);
    row.previous_place = number_at<uint32_t>(bytes, kVersionHead + sizeof(uint32_t));
    if (row.place == 0 && row.previous_place == 0) return std::nullopt;
  }
  const Bytes rest = bytes.substr(head);
  if (rest.size() < key_length) return std::nullopt;
  row.item_key = rest.substr(0, key_length);
  row.record = rest.substr(key_length);
  return row;
}

}  // namespace

FeedKey::FeedKey(Lsn lsn, size_t from) noexcept : from_(from) {
  bytes_[0] = '\xFF';
  const uint64_t number = std::byteswap(static_cast<uint64_t>(lsn));
  std::memcpy(bytes_ + 1, &number, sizeof number);
}

// All of it but how many items of a range are left, and how they are ordered.
uint64_t feed_row_identity(Bytes row) noexcept {
  constexpr size_t kLiveAt = 13, kLiveEnd = 21;
  const bool is_range = row.size() >= kRangeHead && static_cast<FeedRowKind>(row[0]) != FeedRowKind::item;
  if (!is_range) return XXH3_64bits(row.data(), row.size());
  const uint64_t before = XXH3_64bits(row.data() + 1, kLiveAt - 1);
  return XXH3_64bits_withSeed(row.data() + kLiveEnd, row.size() - kLiveEnd, before);
}

Lsn lsn_of_feed_key(Bytes key) noexcept {
  if (key.size() < sizeof(uint64_t)) return {};
  return Lsn{std::byteswap(number_at<uint64_t>(key, key.size() - sizeof(uint64_t)))};
}

std::optional<FeedRow> read_feed_row(Bytes bytes) noexcept {
  if (bytes.size() < kItemHead) return std::nullopt;
  FeedRow row;
  const auto first = static_cast<uint8_t>(bytes[0]);
  const bool has_places = (first & kHasPlaces) != 0;
  row.kind = FeedRowKind{static_cast<uint8_t>(first & ~kHasPlaces)};
  row.timestamp = number_at<uint32_t>(bytes, 1);
  if (has_places && row.kind < FeedRowKind::created) return std::nullopt;
  switch (row.kind) {
    case FeedRowKind::item:
      row.item_key = bytes.substr(kItemHead);
      return row;
    case FeedRowKind::ordered_range:
    case FeedRowKind::unordered_range:
      return read_range(row, bytes);
    case FeedRowKind::created:
    case FeedRowKind::replaced:
    case FeedRowKind::deleted:
    case FeedRowKind::expired:
      return read_version(row, bytes, has_places);
  }
  return std::nullopt;
}

void write_feed_row(const FeedRow& row, std::string& out) {
  out.assign(1, static_cast<char>(row.kind));
  append_number(out, row.timestamp);
  if (!row.is_range()) {
    out += row.item_key;
    return;
  }
  append_number(out, row.first);
  append_number(out, row.live);
  append_number(out, static_cast<uint16_t>(row.first_key.size()));
  out += row.first_key;
  out += row.last_key;
}

void write_version_head(const FeedRow& row, std::string& out) {
  const bool has_places = row.place != 0 || row.previous_place != 0;
  out.assign(1, static_cast<char>(static_cast<uint8_t>(row.kind) | (has_places ? kHasPlaces : 0)));
  append_number(out, row.timestamp);
  append_number(out, row.previous);
  append_number(out, static_cast<uint16_t>(row.item_key.size()));
  if (has_places) {
    append_number(out, row.place);
    append_number(out, row.previous_place);
  }
  out += row.item_key;
}

}  // namespace quire::engine
