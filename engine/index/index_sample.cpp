#include "engine/index/index_sample.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/file/file_cursor.h"
#include "engine/file/table_tree.h"
#include "engine/index/index_entry.h"
#include "sql/value/key_encoding.h"

namespace quire::engine {
namespace {

constexpr uint64_t kPlaces = 64, kMostParts = 4096;
constexpr size_t kFewPlaces = 8;
// Entries behind each place that are held against the one before: most of a value's lie together, so that few
// pairs would tell values of hundreds of entries from those of thousands.
constexpr size_t kNeighbours = 32;
constexpr size_t kLongestSampled = 64;  // bytes of the values, as in IndexSummary

// Of an entry, which the cursor goes on from.
struct Sample {
  std::string values;
  bool is_cut = false;
};

// How many leading parts two entries have in common. Cut values are equal in all or in none.
size_t equal_parts(const Sample& a, const Sample& b, const IndexShape& shape) {
  if (a.is_cut || b.is_cut)
    return a.is_cut == b.is_cut && a.values == b.values ? shape.is_descending.size() : 0;
  size_t at = 0, part = 0;
  for (; part < shape.is_descending.size(); ++part) {
    const Bytes rest = Bytes(a.values).substr(at);
    const size_t size = sql::encoded_key_size(rest, shape.is_descending[part]);
    if (Bytes(b.values).substr(at, size) != rest.substr(0, size)) break;
    at += size;
  }
  return part;
}

class IndexSampler {
 public:
  IndexSampler(const IndexShape& shape, std::string prefix) : shape_(shape), prefix_(std::move(prefix)) {
    differing_.assign(shape.is_descending.size(), 0);
    changes_.assign(shape.is_descending.size(), 0);
  }

  Result<void> look_at(FileCursor& cursor, Bytes place) {
    QUIRE_ASSIGN(bool is_there, cursor.seek(place));
    auto first = is_there ? read(cursor) : std::nullopt;
    if (!first) return {};
    count(changes_, places_ > 0 ? equal_parts(last_, *first, shape_) : 0);
    ++places_;
    bounds_.push_back(first->values.substr(0, kLongestSampled));
    last_ = *first;
    for (size_t i = 0; i < kNeighbours; ++i) {
      QUIRE_ASSIGN(is_there, cursor.next());
      auto second = is_there ? read(cursor) : std::nullopt;
      if (!second) break;
      count(differing_, equal_parts(*first, *second, shape_));
      ++pairs_;
      first = std::move(second);
    }
    return {};
  }

  sql::IndexStatistics finish(uint64_t entries) {
    sql::IndexStatistics statistics;
    statistics.entries = entries;
    if (places_ < kFewPlaces || pairs_ == 0) return statistics;
    for (size_t part = 0; part < differing_.size(); ++part) {
      const double share = static_cast<double>(differing_[part]) / static_cast<double>(pairs_);
      statistics.distinct.push_back(
          std::max(share * static_cast<double>(entries), static_cast<double>(changes_[part])));
    }
    statistics.bounds = std::make_shared<const std::vector<std::string>>(std::move(bounds_));
    return statistics;
  }

 private:
  // Nothing: none of this index.
  std::optional<Sample> read(const FileCursor& cursor) const {
    if (!cursor.key().starts_with(prefix_)) return std::nullopt;
    const auto entry = parse_index_entry(cursor.key(), cursor.record(), shape_);
    if (!entry) return std::nullopt;
    return Sample{std::string(entry->values), entry->has_cut_values};
  }
  static void count(std::vector<uint64_t>& counts, size_t equal) {
    for (size_t part = equal; part < counts.size(); ++part) ++counts[part];
  }

  const IndexShape& shape_;
  std::string prefix_;
  // By number of leading parts: of so many pairs of neighbours the two differ, and of so many places' entries
  // each from that of the place before.
  std::vector<uint64_t> differing_, changes_;
  uint64_t pairs_ = 0, places_ = 0;
  Sample last_;
  std::vector<std::string> bounds_;
};

}  // namespace

Result<sql::IndexStatistics> sample_index(const Transaction& transaction, Table table, IndexNumber number,
                                          const IndexShape& shape, uint64_t entries, uint64_t all) {
  sql::IndexStatistics unknown;
  unknown.entries = entries;
  const auto tree = TableTree::of(transaction, table);
  if (!tree || entries == 0) return unknown;
  std::string prefix;
  append_index_number(number, prefix);
  std::vector<Bytes> places =
      tree->divide(std::clamp(kPlaces * (std::min(all / entries, kMostParts) + 1), kPlaces, kMostParts));
  std::erase_if(places, [&](Bytes place) { return !place.starts_with(prefix); });
  IndexSampler sampler(shape, prefix);
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table));
  const size_t step = std::max<size_t>(1, places.size() / kPlaces);
  for (size_t i = step / 2; i < places.size(); i += step) QUIRE_TRY(sampler.look_at(cursor, places[i]));
  return sampler.finish(entries);
}

std::optional<sql::IndexStatistics> IndexSamples::find(uint64_t version, IndexNumber number,
                                                       uint64_t entries) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(number);
  if (version != version_ || found == known_.end()) return std::nullopt;
  const uint64_t then = found->second.entries;
  if (std::max(then, entries) / 2 > std::min(then, entries)) return std::nullopt;
  return found->second;
}

void IndexSamples::keep(uint64_t version, IndexNumber number, const sql::IndexStatistics& statistics) {
  const std::lock_guard lock(mutex_);
  if (version != version_ || known_.size() >= kMost) known_.clear();
  version_ = version;
  known_.insert_or_assign(number, statistics);
}

}  // namespace quire::engine
