// An array that grows within a statement's memory: what operators keep of many rows. Growing moves nothing
// where the system can lengthen the memory in place (realloc), so that it takes no more than the array has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "sql/value/memory_budget.h"

namespace quire::sql {

// Not thread-safe. What makes it longer throws MemoryLimitExceeded past the budget.
template <typename T>
class LimitedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit LimitedArray(MemoryBudget* budget) noexcept : memory_(budget) {}
  LimitedArray(LimitedArray&& other) noexcept
      : memory_(std::move(other.memory_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  LimitedArray& operator=(LimitedArray&&) = delete;
  ~LimitedArray() { std::free(data_); }

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T& operator[](size_t at) noexcept { return data_[at]; }
  const T& operator[](size_t at) const noexcept { return data_[at]; }
  T& front() noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) [[unlikely]]
      grow(size_ + 1);
    data_[size_++] = value;
  }
  // None of its own.
  void append(std::span<const T> values) {
    if (values.size() > capacity_ - size_) grow(size_ + values.size());
    std::uninitialized_copy(values.begin(), values.end(), data_ + size_);
    size_ += values.size();
  }
  // New ones are T().
  void resize(size_t size) {
    if (size > capacity_) grow(size);
    if (size > size_) std::uninitialized_value_construct(data_ + size_, data_ + size);
    size_ = size;
  }
  void assign(size_t size, T value) {
    clear();
    if (size > capacity_) grow(size);
    std::uninitialized_fill_n(data_, size, value);
    size_ = size;
  }
  // Room for so many, and no more than that.
  void reserve(size_t size) {
    if (size > capacity_) reallocate(size);
  }
  // Keeps its memory.
  void clear() noexcept { size_ = 0; }

 private:
  // Twice as many, or as many as the memory that is left has room for.
  void grow(size_t needed) {
    constexpr size_t kFirst = 16;
    const size_t most = capacity_ + memory_.left() / sizeof(T);
    if (needed > most) throw MemoryLimitExceeded{};
    reallocate(std::min(std::max({needed, 2 * capacity_, kFirst}), most));
  }

  void reallocate(size_t capacity) {
    if (capacity > SIZE_MAX / sizeof(T)) throw MemoryLimitExceeded{};
    if (size_ == 0) release();  // nothing to move
    const size_t more = (capacity - capacity_) * sizeof(T);
    memory_.take(more);
    void* const grown = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (grown == nullptr) {
      memory_.give_back(more);
      throw std::bad_alloc{};
    }
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }

  void release() noexcept {
    std::free(std::exchange(data_, nullptr));
    memory_.give_back(std::exchange(capacity_, 0) * sizeof(T));
  }

  MemoryShare memory_;
  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace quire::sql
