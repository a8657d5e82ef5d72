#include "engine/container/feed_row.h"

#include <bit>
#include <cstring>

namespace quire::engine {
namespace {

constexpr size_t kItemHead = 5;
constexpr size_t kRangeHead = 23;
constexpr size_t kVersionHead = 15;

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

std::optional<FeedRow> read_version(FeedRow row, Bytes bytes) noexcept {
  if (bytes.size() < kVersionHead) return std::nullopt;
  row.previous = Lsn{number_at<uint64_t>(bytes, 5)};
  const size_t key_length = number_at<uint16_t>(bytes, 13);
  const Bytes rest = bytes.substr(kVersionHead);
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

Lsn lsn_of_feed_key(Bytes key) noexcept {
  if (key.size() < sizeof(uint64_t)) return {};
  return Lsn{std::byteswap(number_at<uint64_t>(key, key.size() - sizeof(uint64_t)))};
}

std::optional<FeedRow> read_feed_row(Bytes bytes) noexcept {
  if (bytes.size() < kItemHead) return std::nullopt;
  FeedRow row;
  row.kind = FeedRowKind{static_cast<uint8_t>(bytes[0])};
  row.timestamp = number_at<uint32_t>(bytes, 1);
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
      return read_version(row, bytes);
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
  out.assign(1, static_cast<char>(row.kind));
  append_number(out, row.timestamp);
  append_number(out, row.previous);
  append_number(out, static_cast<uint16_t>(row.item_key.size()));
  out += row.item_key;
}

}  // namespace quire::engine
