// Builds values in an arena from the same calls that DocumentWriter takes: the other sink of JsonParser.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "sql/value/arena.h"
#include "sql/value/document.h"
#include "sql/value/json_number.h"
#include "sql/value/json_string.h"
#include "sql/value/value.h"

namespace quire::sql {

class ValueBuilder {
 public:
  // Forgets what an earlier build left unfinished.
  void start(Arena& arena) {
    arena_ = &arena;
    pending_.clear();
    depth_ = 0;
    root_ = {};
  }
  Value root() const noexcept { return root_; }

  void element() {}
  static bool take_likely_key(const char*, size_t) noexcept { return false; }
  void key(std::string_view name) { pending_.push_back({arena_->copy_string(name), {}}); }
  [[nodiscard]] bool begin_array() { return begin(false); }
  [[nodiscard]] bool begin_object() { return begin(true); }
  void end_array() { end(); }
  void end_object() { end(); }

  void null() { add(Value::null()); }
  void boolean(bool value) { add(Value::boolean(value)); }
  void integer(int64_t value) { add(Value::integer(value)); }
  void real(double value) { add(Value::number(value)); }
  void decimal(bool is_negative, uint64_t digits, uint32_t places) {
    real(decimal_value(is_negative, digits, places));
  }
  [[nodiscard]] bool take_string(std::string_view text, size_t readable) {
    if (contains_backslash(text, readable)) return false;
    string(text);
    return true;
  }
  void string(std::string_view text) { add(Value::string(arena_->copy_string(text))); }

 private:
  struct Frame {
    size_t first = 0;  // in pending_
    bool is_object = false;
  };
  void end();
  bool begin(bool is_object) {
    if (depth_ == kMostNesting) return false;
    frames_[++depth_] = {pending_.size(), is_object};
    return true;
  }
  void add(const Value& value) {
    if (depth_ == 0)
      root_ = value;
    else if (frames_[depth_].is_object)
      pending_.back().value = value;
    else
      pending_.push_back({{}, value});
  }

  Arena* arena_ = nullptr;
  std::vector<Member> pending_;  // of all unfinished containers; elements have no name
  std::array<Frame, kMostNesting + 1> frames_;
  size_t depth_ = 0;
  Value root_;
};

// A copy that owns all that it holds: nothing of it lies in storage.
Value copy_value(const Value& value, Arena& arena);

// Of several members of one name keeps the last, at the place of the first; returns how many members remain.
size_t remove_duplicate_members(std::span<Member> members);

}  // namespace quire::sql
