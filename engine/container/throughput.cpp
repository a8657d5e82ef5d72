#include "engine/container/throughput.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace quire::engine {
namespace {

template <typename Number>
Number rounded_up_quotient(Number dividend, Number divisor) noexcept {
  return dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
}

}  // namespace

uint32_t physical_partitions(uint32_t units, uint64_t bytes) noexcept {
  const uint64_t by_bytes = rounded_up_quotient(bytes, kMostBytesOfPartition);
  const uint64_t by_units = rounded_up_quotient(units, kMostUnitsOfPartition);
  return static_cast<uint32_t>(std::clamp<uint64_t>(std::max(by_bytes, by_units), 1, UINT32_MAX));
}

void Throughput::set(uint32_t units, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const uint32_t partitions = physical_partitions(units, bytes);
  if (units == units_ && (units == 0 || partitions == budgets_.size())) return;
  units_ = units;
  units_of_each_ = static_cast<double>(units) / partitions;
  budgets_.assign(units == 0 ? 0 : partitions, {units_of_each_, clock_()});
  is_limited_.store(units != 0, std::memory_order_relaxed);
}

// The hashes begin with two zero bits; the next 32 decide.
Throughput::Range Throughput::range_of(Bytes epk) const noexcept {
  uint64_t begin = 0;
  if (epk.size() < sizeof begin) return {0, budgets_.size()};
  std::memcpy(&begin, epk.data(), sizeof begin);
  constexpr int kHashBits = 62;
  const uint64_t hash = std::byteswap(begin) & ((uint64_t{1} << kHashBits) - 1);
  constexpr int kDecidingBits = 32;
  const size_t at = (hash >> (kHashBits - kDecidingBits)) * budgets_.size() >> kDecidingBits;
  return {at, at + 1};
}

void Throughput::refill(Budget& budget, Clock::time_point now) const noexcept {
  const double seconds = std::chrono::duration<double>(now - budget.at).count();
  if (seconds <= 0) return;
  budget.units = std::min(units_of_each_, budget.units + seconds * units_of_each_);
  budget.at = now;
}

Result<void> Throughput::admit(Bytes epk) {
  if (!is_limited()) [[likely]]
    return {};
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = clock_();
  double least = units_of_each_;
  const Range range = range_of(epk);
  for (size_t i = range.first; i < range.last; ++i) {
    refill(budgets_[i], now);
    least = std::min(least, budgets_[i].units);
  }
  if (budgets_.empty() || least > 0) return {};
  constexpr double kLongest = 86'400'000;  // of a debt that a whole import has left
  const double wait = std::min(kLongest, std::ceil(-least / units_of_each_ * 1000) + 1);
  Error error{ErrorCode::too_many_requests,
              fmt::format("the request rate is too large: {} request units a second are there for this "
                          "partition, and they are used up; retry after {} ms",
                          units_of_each_, wait)};
  error.retry_after_ms = static_cast<uint32_t>(wait);
  return std::unexpected(std::move(error));
}

void Throughput::take(Bytes epk, double charge) {
  if (!is_limited()) [[likely]]
    return;
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = clock_();
  const Range range = range_of(epk);
  if (range.first == range.last) return;
  const double share = charge / static_cast<double>(range.last - range.first);
  for (size_t i = range.first; i < range.last; ++i) {
    refill(budgets_[i], now);
    budgets_[i].units -= share;
  }
}

}  // namespace quire::engine
