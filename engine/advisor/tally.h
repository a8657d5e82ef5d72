// How a number is spread over many things, in little memory: counts and sums by bucket, eight buckets to a
// doubling. Sums, means and extremes are exact, quantiles right to within an eighth.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace quire::engine {

class Tally {
 public:
  void add(uint64_t value);

  uint64_t count() const noexcept { return count_; }
  double sum() const noexcept { return sum_; }
  double mean() const noexcept { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  uint64_t least() const noexcept { return least_; }
  uint64_t most() const noexcept { return most_; }
  // How many have exactly the greatest value.
  uint64_t count_of_most() const noexcept { return count_of_most_; }
  // The value that a share of all stays at or below: 0.5 gives the median.
  uint64_t quantile(double share) const;
  // 0 where all are equal, towards 1 where one has everything.
  double gini() const;
  // [{"upTo": 7, "count": 12}, ...], a row for each doubling that holds something.
  std::string histogram_json() const;

 private:
  struct Bucket {
    uint64_t count = 0;
    double sum = 0;
  };
  std::map<uint32_t, Bucket> buckets_;  // at most some 500
  uint64_t count_ = 0;
  double sum_ = 0;
  uint64_t least_ = 0;
  uint64_t most_ = 0;
  uint64_t count_of_most_ = 0;
};

}  // namespace quire::engine
