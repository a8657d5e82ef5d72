#include "sql/plan/index_estimate.h"

#include <algorithm>
#include <cmath>

#include "sql/plan/key_ranges.h"

namespace quire::sql {
namespace {

// Entries looked at to estimate: what is fewer is known exactly.
constexpr uint64_t kMostLooks = 200;

// Shares of the entries where nothing better is known.
constexpr double kEqualShare = 0.01;
constexpr double kRangeShare = 0.2;
constexpr double kBoundedShare = 0.02;  // from both sides

bool are_constants(const PlannedProbe& probe) {
  return std::ranges::all_of(probe.parts, [](const std::vector<IndexBound>& bounds) {
    return std::ranges::all_of(bounds, [](const IndexBound& bound) {
      return bound.check != BoundCheck::looked_up &&
             std::ranges::all_of(bound.operands, [](const BoundExpression* operand) {
               return operand->kind == BoundKind::constant;
             });
    });
  });
}

KeyRanges constant_ranges(const PlannedProbe& probe) {
  return make_key_ranges(probe, [](const BoundExpression& e) { return e.constant; });
}

// How many of the values at equal distances lie within the ranges. Half of one at least: less cannot be told.
double share_within(const KeyRanges& ranges, const std::vector<std::string>& bounds) {
  ptrdiff_t within = 0;
  for (const auto& [from, to] : ranges.ranges) {
    const auto first = std::ranges::lower_bound(bounds, from);
    within += (to.empty() ? bounds.end() : std::lower_bound(first, bounds.end(), to)) - first;
  }
  return std::max(0.5, static_cast<double>(within)) / static_cast<double>(bounds.size());
}

// The share of the entries whose first value is there: no other is equal to anything, and they may be most of
// all.
double share_of_defined(const PlannedProbe& probe, const IndexStatistics& statistics) {
  if (statistics.bounds == nullptr || statistics.bounds->empty()) return 1;
  const uint8_t undefined =
      probe.index.parts[0].is_descending ? static_cast<uint8_t>(~kUndefinedType) : kUndefinedType;
  const auto defined = std::ranges::count_if(*statistics.bounds, [&](const std::string& values) {
    return values.empty() || static_cast<uint8_t>(values[0]) != undefined;
  });
  return std::max(0.5, static_cast<double>(defined)) / static_cast<double>(statistics.bounds->size());
}

double usual_share(const PlannedProbe& probe, const IndexStatistics& statistics, double entries) {
  double share = 1, combinations = 1;
  const double defined = share_of_defined(probe, statistics);
  for (size_t part = 0; part < probe.parts.size(); ++part) {
    const IndexBound& bound = probe.parts[part][0];
    if (!bound.names_values()) return share * (probe.parts[part].size() > 1 ? kBoundedShare : kRangeShare);
    const auto values = static_cast<double>(bound.named_values());
    combinations *= values;
    if (part < statistics.distinct.size())
      share = defined * combinations / std::max(1.0, statistics.distinct[part] - (defined < 1 ? 1 : 0));
    else
      share *= values * (probe.index.is_unique ? 1 / std::max(1.0, entries) : kEqualShare);
    share = std::min(share, 1.0);
  }
  return share;
}

// Samples tell of ranges and of frequent values; of a value that few of them are, the number of different
// values tells more.
double share_of(const PlannedProbe& probe, const KeyRanges& ranges, const IndexStatistics& statistics,
                double entries) {
  const double usual = usual_share(probe, statistics, entries);
  if (statistics.bounds == nullptr || statistics.bounds->empty()) return usual;
  const double sampled = share_within(ranges, *statistics.bounds);
  const bool is_equality = std::ranges::all_of(
      probe.parts, [](const std::vector<IndexBound>& bounds) { return bounds[0].names_values(); });
  constexpr double kFewSamples = 3;
  const double few = kFewSamples / static_cast<double>(statistics.bounds->size());
  return is_equality && std::abs(sampled - usual) < few ? usual : sampled;
}

}  // namespace

std::unique_ptr<IndexCursor> open_ranges(const PlannedProbe& probe, const KeyRanges& ranges,
                                         Collection& collection, bool is_reverse) {
  std::vector<KeyRange> views;
  for (const auto& [from, to] : ranges.ranges) views.push_back({from, to});
  const IndexProbe looked{probe.index.number, views};
  Access access;
  access.kind = Access::Kind::index;
  access.probes = std::span(&looked, 1);
  access.is_reverse = is_reverse;
  auto cursor = collection.open_index(access);
  return cursor ? std::move(*cursor) : nullptr;
}

double estimate_entries(const PlannedProbe& probe, Collection& collection, double items) {
  const auto entries = static_cast<double>(probe.index.entries);
  if (probe.parts.empty()) return probe.index.condition.empty() ? std::max(entries, items) : entries;
  const auto known = [&]() -> IndexStatistics {
    auto found = collection.index_statistics(probe.index.number);
    return found ? std::move(*found) : IndexStatistics{};
  };
  if (!are_constants(probe)) return entries * usual_share(probe, known(), entries);
  const KeyRanges ranges = constant_ranges(probe);
  if (!ranges.is_served) return items;
  const auto cursor = open_ranges(probe, ranges, collection);
  const auto counted = cursor != nullptr ? cursor->count_entries(kMostLooks) : Result<uint64_t>(kMostLooks);
  if (counted && *counted < kMostLooks) return static_cast<double>(*counted);
  const IndexStatistics statistics = known();
  const double share = share_of(probe, ranges, statistics, entries);
  return std::max(entries * share, static_cast<double>(kMostLooks));
}

std::unique_ptr<IndexCursor> open_constant_probe(const PlannedProbe& probe, Collection& collection,
                                                 bool is_reverse) {
  if (!are_constants(probe)) return nullptr;
  const KeyRanges ranges = constant_ranges(probe);
  return ranges.is_served ? open_ranges(probe, ranges, collection, is_reverse) : nullptr;
}

}  // namespace quire::sql
