// What a condition says about one path of an item, in a form that an index can serve.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/bind/bound.h"
#include "sql/source.h"

namespace quire::sql {

class SlotSet;

enum class BoundCheck : uint8_t {
  equal,      // operands[0]
  in,         // any of operands
  in_array,   // any element of operands[0], an array
  looked_up,  // any of the keys that a join asks for (Frame::lookup_keys)
  less,       // than operands[0], of its type
  less_equal,
  greater,
  greater_equal,
  prefix,    // a string that begins with operands[0]
  like,      // a string that begins as operands[0], a pattern, does
  of_types,  // its encoding's first byte is in [first_type, last_type)
  at_least,  // equal to operands[0], which may be an array or an object, or greater
  at_most,
};

// The number of elements of an array that is known before the query runs; 0 of what is no array.
std::optional<size_t> known_size(const BoundExpression& array) noexcept;

// The first byte of the encoding of undefined. Only an index of every item has entries for it.
inline constexpr uint8_t kUndefinedType = 0x05;

struct IndexBound {
  BoundCheck check;
  std::vector<IndexStep> path;
  std::vector<const BoundExpression*> operands;  // read no slot of the query
  uint8_t first_type = 0;
  uint8_t last_type = 0;
  const BoundExpression* condition = nullptr;
  bool is_exact = true;        // says as much as the condition does
  bool is_of_scalars = false;  // where an operand is none, it says nothing
  std::shared_ptr<const BoundExpression> own_operand =
      nullptr;  // one of them that the condition does not have

  // Whether it says which values there may be, one or several, and how many these are: of an array that the
  // query is given, a guess; of keys that a join asks for, those of one row.
  bool names_values() const noexcept {
    return check == BoundCheck::equal || check == BoundCheck::looked_up || names_several();
  }
  bool names_several() const noexcept { return check == BoundCheck::in || check == BoundCheck::in_array; }
  size_t named_values() const noexcept;
};

// Where the values of slots lie in an item: the item itself, or elements of its arrays (x IN c.tags).
struct PlacedSlot {
  SlotNumber slot;
  std::vector<IndexStep> path;
};

// The bounds that `condition` puts on paths of the item: mostly one or none, several where it asks for
// several things of one element. `own_slots`: of the query, which what the path is compared with may not
// read. A bound on elements only says that one of them is so: it is exact for ARRAY_CONTAINS alone.
std::vector<IndexBound> find_index_bounds(const BoundExpression& condition, std::span<const PlacedSlot> slots,
                                          const SlotSet& own_slots);
// The first of them.
std::optional<IndexBound> find_index_bound(const BoundExpression& condition,
                                           std::span<const PlacedSlot> slots, const SlotSet& own_slots);

// The path that an expression reads of the item in `slot`, if it does nothing else and has no array index.
std::optional<std::vector<IndexStep>> indexable_path(const BoundExpression& expression, SlotNumber slot);

}  // namespace quire::sql
