// What a statement may hold: one number for all that keeps memory for it, its arenas, tables and lists, on
// all of its threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace quire::sql {

// Thrown where a budget would be passed; caught with std::bad_alloc at the public functions.
struct MemoryLimitExceeded : std::bad_alloc {
  const char* what() const noexcept override { return "the statement's memory limit is exceeded"; }
};

// Thread-safe. Must outlive those who take from it.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit_bytes) noexcept : limit_(limit_bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  size_t limit() const noexcept { return limit_; }
  size_t left() const noexcept { return limit_ - taken_.load(std::memory_order_relaxed); }

 private:
  friend class MemoryShare;
  bool take(size_t bytes) noexcept {
    size_t taken = taken_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ - taken) return false;
    } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(size_t bytes) noexcept { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

  size_t limit_;
  std::atomic<size_t> taken_ = 0;
};

// What one of them has taken, given back at its end. Not thread-safe.
class MemoryShare {
 public:
  // Without a budget it takes what it likes.
  explicit MemoryShare(MemoryBudget* budget = nullptr) noexcept : budget_(budget) {}
  MemoryShare(MemoryShare&& other) noexcept
      : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryShare() {
    if (budget_ != nullptr) budget_->give_back(bytes_);
  }

  size_t bytes() const noexcept { return bytes_; }
  // By how much it may still grow.
  size_t left() const noexcept { return budget_ != nullptr ? budget_->left() : SIZE_MAX - bytes_; }

  // False: the budget has not so much left.
  [[nodiscard]] bool try_take(size_t bytes) noexcept {
    if (budget_ != nullptr && !budget_->take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  // Throws MemoryLimitExceeded.
  void take(size_t bytes) {
    if (!try_take(bytes)) throw MemoryLimitExceeded{};
  }
  // Of what was taken.
  void give_back(size_t bytes) noexcept {
    if (budget_ != nullptr) budget_->give_back(bytes);
    bytes_ -= bytes;
  }

 private:
  MemoryBudget* budget_;
  size_t bytes_ = 0;
};

}  // namespace quire::sql
