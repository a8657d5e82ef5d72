// Copies of values that give way to others: the extremes of groups, the keys of a sort under a limit. Memory
// in an arena is freed at once or not at all, so when as much was let go as is held, what is held moves to a
// second arena and the first one starts anew.
#pragma once

#include <algorithm>
#include <array>

#include "sql/run/frame.h"
#include "sql/value/arena.h"

namespace quire::sql {

class KeptValues {
 public:
  explicit KeptValues(MemoryBudget& memory) : arenas_{Arena(&memory), Arena(&memory)} {}

  Value keep(const Value& value) { return retain(value, arenas_[used_]); }

  // Of the `held` values one more was let go. `visit_held(move)` must call `move` with a reference to each
  // that is still held.
  template <typename VisitHeld>
  void let_go(size_t held, VisitHeld visit_held) {
    constexpr size_t kFewValues = 64;
    if (++gone_ < std::max(held, kFewValues)) return;
    gone_ = 0;
    Arena& other = arenas_[1 - used_];
    visit_held([&other](Value& value) { value = retain(value, other); });
    arenas_[used_].reset();
    used_ = 1 - used_;
  }

  // Nothing is held any more.
  void clear() {
    for (Arena& arena : arenas_) arena.reset();
    gone_ = 0;
  }

 private:
  std::array<Arena, 2> arenas_;
  size_t used_ = 0;
  size_t gone_ = 0;
};

}  // namespace quire::sql
