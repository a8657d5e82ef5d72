#include "sql/run/frame.h"

namespace quire::sql {

// Built values nest no deeper than the expressions that built them, which the parser bounds; encoded ones lie
// in storage, which outlives the execution.
Value retain(const Value& value, Arena& arena) {
  if (value.is_string()) return Value::string(arena.copy_string(value.as_string()));
  if (!value.is_built()) return value;
  if (value.is_array()) {
    const std::span<Value> copies = arena.copy_array(value.built_elements());
    for (Value& element : copies) element = retain(element, arena);
    return Value::array(copies);
  }
  const std::span<Member> copies = arena.copy_array(value.built_members());
  for (Member& member : copies) member = {arena.copy_string(member.name), retain(member.value, arena)};
  return Value::object(copies);
}

}  // namespace quire::sql
