// From the bounds of a probe to ranges of encoded keys, once the values that they compare with are known.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sql/plan/plan.h"
#include "sql/value/value.h"

namespace quire::sql {

struct KeyRanges {
  // [from, to) in order, none overlapping; an empty `to` is the end of the index. No range: no entry fits.
  std::vector<std::pair<std::string, std::string>> ranges;
  // False: the index has no entries for such a value; all items have to be read.
  bool is_served = true;
};

// `value_of` gives the value of an operand of a bound; `lookup_keys` are those of a join. `last`: ranges that
// are done with, whose memory is taken.
KeyRanges make_key_ranges(const PlannedProbe& probe,
                          const std::function<Value(const BoundExpression&)>& value_of,
                          std::span<const Value> lookup_keys = {}, KeyRanges last = {});

}  // namespace quire::sql
