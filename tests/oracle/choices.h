// Random choices that are recorded, so that a case can be made again, and made smaller by changing the
// record: whatever a generator draws from is smaller if its choices are fewer or nearer to zero.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace quire::sql::oracle {

class Choices {
 public:
  explicit Choices(uint64_t seed) : random_(seed) {}
  // Replays a record; past its end every choice is the first.
  explicit Choices(std::vector<uint32_t> record) : record_(std::move(record)), replays_(true) {}

  // From 0 to before `count`.
  uint32_t pick(uint32_t count) {
    if (next_ == record_.size()) {
      if (replays_) return 0;
      record_.push_back(static_cast<uint32_t>(random_()));
    }
    return record_[next_++] % count;
  }
  bool one_in(uint32_t count) { return pick(count) == count - 1; }
  std::string_view one_of(std::span<const std::string_view> texts) {
    return texts[pick(static_cast<uint32_t>(texts.size()))];
  }
  std::string_view one_of(std::initializer_list<std::string_view> texts) {
    return one_of(std::span(texts.begin(), texts.size()));
  }
  const std::vector<uint32_t>& record() const { return record_; }

 private:
  std::mt19937_64 random_;
  std::vector<uint32_t> record_;
  size_t next_ = 0;
  bool replays_ = false;
};

}  // namespace quire::sql::oracle
