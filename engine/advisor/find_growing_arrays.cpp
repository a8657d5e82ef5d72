// Arrays without a natural bound: sooner or later their items reach the item limit, and each append rewrites
// all that is there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/advisor/families.h"

namespace quire::engine {
namespace {

// Shorter ones cost little however they come about.
constexpr uint64_t kLeastLength = 50;
// One so long has outgrown whatever was meant to bound it.
constexpr uint64_t kVeryLong = 1000;
// Long, and far longer than most. Lists of mere words and numbers are uneven by nature: the area codes of
// countries.
constexpr uint64_t kLong = 200;
constexpr uint64_t kTimesMedian = 20;
// Elements in order of time: a log that is appended to.
constexpr uint64_t kLeastTimed = 100;
constexpr double kNearlyAll = 0.9;
// So many at exactly the greatest length: that is a cap (a vector's dimensions, the hours of a day).
constexpr uint64_t kLeastCapped = 3;
constexpr double kCappedShare = 0.2;
// Length against age.
constexpr size_t kLeastPoints = 30;
constexpr double kLeastCorrelation = 0.4;
constexpr double kSoon = 5 * 365.25;  // days
constexpr double kLargeShare = 0.25;  // of the item limit

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t from = 0; from < order.size();) {
    size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (size_t i = from; i < to; ++i) ranks[order[i]] = static_cast<double>(from + to - 1) / 2;
    from = to;
  }
  return ranks;
}

// Of length with age by their ranks: 1 where an older item always has the longer array.
double correlation(const std::vector<ArrayFacts::Point>& points) {
  if (points.size() < kLeastPoints) return 0;
  std::vector<double> ages, lengths;
  for (const ArrayFacts::Point& point : points) {
    ages.push_back(-static_cast<double>(point.age));
    lengths.push_back(point.length);
  }
  ages = ranks_of(ages);
  lengths = ranks_of(lengths);
  const double mean = static_cast<double>(points.size() - 1) / 2;
  double both = 0, of_ages = 0, of_lengths = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    both += (ages[i] - mean) * (lengths[i] - mean);
    of_ages += (ages[i] - mean) * (ages[i] - mean);
    of_lengths += (lengths[i] - mean) * (lengths[i] - mean);
  }
  return of_ages == 0 || of_lengths == 0 ? 0 : both / std::sqrt(of_ages * of_lengths);
}

// Days until the first of the longest arrays brings its item to the limit; infinite if it is not known.
double days_to_limit(const ArrayFacts& array, double element_bytes, uint64_t item_limit) {
  double soonest = INFINITY;
  for (const LongArray& item : array.longest) {
    const double left = static_cast<double>(item_limit) - static_cast<double>(item.item_bytes);
    if (item.per_day > 0 && element_bytes > 0)
      soonest = std::min(soonest, std::max(0.0, left) / (item.per_day * element_bytes));
  }
  return soonest;
}

Finding growing_array(const PathFacts& path, const Growth& growth, uint64_t item_limit) {
  const ArrayFacts& array = *path.array;
  const Tally& lengths = array.lengths;
  const double element_bytes = lengths.sum() > 0 ? array.bytes / lengths.sum() : 0;
  const double days = days_to_limit(array, element_bytes, item_limit);
  const LongArray& longest = array.longest.front();
  const double used = static_cast<double>(longest.item_bytes) / static_cast<double>(item_limit);

  const bool is_urgent = days <= kSoon || used >= kLargeShare || lengths.most() >= kVeryLong;
  Finding finding("growing_array", is_urgent ? Severity::warning : Severity::advice, path.path);
  finding.what = fmt::format("the array has {} elements in the median and {} at most, {} each",
                             lengths.quantile(0.5), lengths.most(), bytes_text(element_bytes));
  if (growth.has_rising_times) finding.what += "; its elements are appended in order of time";
  if (growth.correlation >= kLeastCorrelation)
    finding.what +=
        fmt::format("; the older the item, the longer (rank correlation {:.2f})", growth.correlation);
  if (std::isfinite(days))
    finding.what +=
        fmt::format("; at {:.1f} elements a day the first item reaches the limit of {} in {}",
                    longest.per_day, bytes_text(static_cast<double>(item_limit)), days_text(days));
  finding.numbers.count("arrays", lengths.count()).count("median", lengths.quantile(0.5));
  finding.numbers.count("percentile95", lengths.quantile(0.95)).count("longest", lengths.most());
  finding.numbers.figure("elementBytes", element_bytes).figure("shareOfItemLimit", used);
  if (growth.correlation != 0) finding.numbers.figure("correlationWithAge", growth.correlation);
  if (longest.per_day > 0) finding.numbers.figure("elementsPerDay", longest.per_day);
  if (std::isfinite(days)) finding.numbers.figure("daysToItemLimit", days);
  finding.numbers.json("lengths", lengths.histogram_json());
  for (const LongArray& item : array.longest)
    finding.examples.push_back(
        item.item.members().count("length", item.length).count("itemBytes", item.item_bytes).object());
  finding.advice = fmt::format(
      "make each element of {} an item of its own that names its parent ({{\"parentId\": ...}}, in the "
      "parent's "
      "partition), and keep no more than a count or the newest few in the parent",
      path.path);
  return finding;
}

}  // namespace

std::optional<Growth> growth_of(const PathFacts& path) {
  if (path.array == nullptr) return std::nullopt;
  const ArrayFacts& array = *path.array;
  const Tally& lengths = array.lengths;
  const uint64_t most = lengths.most();
  if (most < kLeastLength) return std::nullopt;
  const double capped = static_cast<double>(lengths.count_of_most()) / static_cast<double>(lengths.count());
  if (lengths.count_of_most() >= kLeastCapped && capped >= kCappedShare) return std::nullopt;
  Growth growth;
  growth.has_rising_times =
      most >= kLeastTimed && array.timed * 2 >= lengths.count() &&
      static_cast<double>(array.rising) >= kNearlyAll * static_cast<double>(array.timed);
  growth.correlation = std::max(correlation(array.by_creation), correlation(array.by_number));
  const bool is_uneven = array.holds_objects && most >= kLong &&
                         most >= kTimesMedian * std::max<uint64_t>(1, lengths.quantile(0.5));
  const bool is_outgrown = most >= kVeryLong || is_uneven;
  if (growth.has_rising_times || growth.correlation >= kLeastCorrelation || is_outgrown) return growth;
  return std::nullopt;
}

void find_growing_arrays(const Evidence& evidence, Findings& findings) {
  for (const PathFacts* path : evidence.survey.paths.all())
    if (const auto growth = growth_of(*path))
      findings.push_back(growing_array(*path, *growth, evidence.item_limit));
}

}  // namespace quire::engine
