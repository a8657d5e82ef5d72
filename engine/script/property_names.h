// The numbers that the engine has given to names of properties ("atoms"), as far as they came up in a run.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace quire::engine {

// Belongs to one sandbox. Whoever adds a number has the engine hold it, so that it keeps its name.
class PropertyNames {
 public:
  static constexpr size_t kMost = 4096;

  std::optional<uint32_t> number_of(std::string_view name) {
    if (next_ < entries_.size() && entries_[next_].name == name) return entries_[next_++].number;
    const auto found = by_name_.find(name);
    return found != by_name_.end() ? std::optional(entry(found->second).number) : std::nullopt;
  }
  // Good until clear().
  std::optional<std::string_view> name_of(uint32_t number) {
    if (next_ < entries_.size() && entries_[next_].number == number) return entries_[next_++].name;
    const auto found = by_number_.find(number);
    return found != by_number_.end() ? std::optional<std::string_view>(entry(found->second).name)
                                     : std::nullopt;
  }
  bool is_full() const noexcept { return entries_.size() == kMost; }
  // One that is not there yet.
  std::string_view add(std::string name, uint32_t number) {
    const Entry& added = entries_.emplace_back(std::move(name), number);
    next_ = entries_.size();
    by_name_.emplace(added.name, next_ - 1);
    by_number_.emplace(number, next_ - 1);
    return added.name;
  }
  void clear() noexcept {
    by_name_.clear();
    by_number_.clear();
    entries_.clear();
    next_ = 0;
  }

 private:
  struct Entry {
    std::string name;
    uint32_t number;
  };
  const Entry& entry(size_t at) noexcept {
    next_ = at + 1;
    return entries_[at];
  }

  std::deque<Entry> entries_;  // in the order in which they came up first
  size_t next_ = 0;            // objects that are alike have their names one after the other
  std::unordered_map<std::string_view, size_t> by_name_;
  std::unordered_map<uint32_t, size_t> by_number_;
};

}  // namespace quire::engine
