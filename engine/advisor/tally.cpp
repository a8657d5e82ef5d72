#include "engine/advisor/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace quire::engine {
namespace {

constexpr uint32_t kExact = 16;  // below this each value is a bucket of its own
constexpr uint32_t kExactBits = 4;
constexpr uint32_t kBucketsPerDoubling = 8;

uint32_t bucket_of(uint64_t value) {
  if (value < kExact) return static_cast<uint32_t>(value);
  const auto width = static_cast<uint32_t>(std::bit_width(value));
  const auto within = static_cast<uint32_t>(value >> (width - kExactBits)) % kBucketsPerDoubling;
  return kExact + (width - kExactBits - 1) * kBucketsPerDoubling + within;
}

// The mean of a bucket, whose values may be as great as there are.
uint64_t mean_of(uint64_t count, double sum) {
  constexpr double kGreatest = 9e18;
  return static_cast<uint64_t>(std::llround(std::min(kGreatest, sum / static_cast<double>(count))));
}

}  // namespace

void Tally::add(uint64_t value) {
  Bucket& bucket = buckets_[bucket_of(value)];
  ++bucket.count;
  bucket.sum += static_cast<double>(value);
  least_ = count_ == 0 ? value : std::min(least_, value);
  if (count_ == 0 || value > most_) {
    most_ = value;
    count_of_most_ = 0;
  }
  if (value == most_) ++count_of_most_;
  ++count_;
  sum_ += static_cast<double>(value);
}

uint64_t Tally::quantile(double share) const {
  const double wanted = share * static_cast<double>(count_);
  double before = 0;
  for (const auto& [number, bucket] : buckets_) {
    before += static_cast<double>(bucket.count);
    if (before >= wanted) return mean_of(bucket.count, bucket.sum);
  }
  return most_;
}

// Sum over all pairs of the smaller and the larger: in order of value, each stands before `after` others.
double Tally::gini() const {
  if (count_ < 2 || sum_ == 0) return 0;
  const auto count = static_cast<double>(count_);
  double weighted = 0;
  double before = 0;
  for (const auto& [number, bucket] : buckets_) {
    const auto here = static_cast<double>(bucket.count);
    weighted += bucket.sum * (before + (here + 1) / 2);
    before += here;
  }
  return std::max(0.0, 2 * weighted / (count * sum_) - (count + 1) / count);
}

std::string Tally::histogram_json() const {
  std::map<uint64_t, uint64_t> by_bound;
  for (const auto& [number, bucket] : buckets_) {
    const uint64_t value = mean_of(bucket.count, bucket.sum);
    const auto width = static_cast<int>(std::bit_width(value));
    by_bound[width >= 63 ? UINT64_MAX >> 1 : (uint64_t{1} << width) - 1] += bucket.count;
  }
  std::string json = "[";
  for (const auto& [bound, count] : by_bound)
    json += fmt::format(R"({}{{"upTo":{},"count":{}}})", json.size() > 1 ? "," : "", bound, count);
  return json + "]";
}

}  // namespace quire::engine
