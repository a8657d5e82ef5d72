#include "engine/index/index_statistics.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "sql/value/key_encoding.h"

namespace quire::engine {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kLongestSample = 64;  // bytes of the values: enough to tell shares by

void append_number(uint64_t number, std::string& out) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::optional<uint64_t> take_number(Bytes& bytes) {
  uint64_t number = 0;
  if (bytes.size() < sizeof number) return std::nullopt;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

}  // namespace

IndexSummary::IndexSummary(const IndexShape& shape, uint64_t entries)
    : shape_(shape), distance_(std::max<uint64_t>(1, entries / kSamples)), next_sample_(distance_ / 2) {
  statistics_.distinct.assign(shape.is_descending.size(), 0);
}

void IndexSummary::add(const IndexEntry& entry) {
  const std::string_view values = entry.values;
  if (statistics_.entries == next_sample_ && bounds_.size() < kSamples) {
    bounds_.emplace_back(values.substr(0, kLongestSample));
    next_sample_ += distance_;
  }
  ++statistics_.entries;
  if (values == last_values_) return;
  const auto differs_at =
      static_cast<size_t>(std::ranges::mismatch(values, std::string_view(last_values_)).in1 - values.begin());
  // Cut values cannot be told apart by part: they count as different in all.
  size_t part = 0;
  for (size_t at = 0; !entry.has_cut_values && part + 1 < shape_.is_descending.size(); ++part) {
    at += sql::encoded_key_size(values.substr(at), shape_.is_descending[part]);
    if (at > differs_at) break;
  }
  for (; part < statistics_.distinct.size(); ++part) ++statistics_.distinct[part];
  last_values_ = values;
}

sql::IndexStatistics IndexSummary::finish() {
  statistics_.bounds = std::make_shared<const std::vector<std::string>>(std::move(bounds_));
  return std::move(statistics_);
}

std::string index_statistics_to_bytes(const sql::IndexStatistics& statistics) {
  std::string bytes;
  bytes += static_cast<char>(kVersion);
  bytes += static_cast<char>(statistics.distinct.size());
  append_number(statistics.entries, bytes);
  for (const double distinct : statistics.distinct) append_number(static_cast<uint64_t>(distinct), bytes);
  if (statistics.bounds != nullptr)
    for (const std::string& bound : *statistics.bounds) {
      bytes += static_cast<char>(bound.size());
      bytes += bound;
    }
  return bytes;
}

std::optional<sql::IndexStatistics> index_statistics_from_bytes(Bytes bytes) {
  if (bytes.size() < 2 || static_cast<uint8_t>(bytes[0]) != kVersion) return std::nullopt;
  const auto parts = static_cast<uint8_t>(bytes[1]);
  bytes.remove_prefix(2);
  sql::IndexStatistics statistics;
  const auto entries = take_number(bytes);
  if (!entries) return std::nullopt;
  statistics.entries = *entries;
  for (uint8_t part = 0; part < parts; ++part) {
    const auto distinct = take_number(bytes);
    if (!distinct) return std::nullopt;
    statistics.distinct.push_back(static_cast<double>(*distinct));
  }
  std::vector<std::string> bounds;
  while (!bytes.empty()) {
    const auto size = static_cast<uint8_t>(bytes[0]);
    if (bytes.size() < size_t{1} + size) return std::nullopt;
    bounds.emplace_back(bytes.substr(1, size));
    bytes.remove_prefix(size_t{1} + size);
  }
  statistics.bounds = std::make_shared<const std::vector<std::string>>(std::move(bounds));
  return statistics;
}

}  // namespace quire::engine
