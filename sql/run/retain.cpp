#include "sql/run/frame.h"

namespace quire::sql {

// Built values nest no deeper than the expressions that built them, which the parser bounds; encoded ones lie
// in storage, which outlives the execution.
Value retain(const Value& value, Arena& arena) {
  if (value.is_string()) return Value::string(arena.copy_string(value.as_string()));
  const auto retain_members = [&arena](std::span<const Member> members) {
    const std::span<Member> copies = arena.copy_array(members);
    for (Member& member : copies) member = {arena.copy_string(member.name), retain(member.value, arena)};
    return copies;
  };
  if (value.is_extended()) {
    const auto& [own, more] = value.extended_object();
    return Value::extended(*arena.make<ExtendedObject>(own, retain_members(more)));
  }
  if (!value.is_built()) return value;
  if (value.is_array()) {
    const std::span<Value> copies = arena.copy_array(value.built_elements());
    for (Value& element : copies) element = retain(element, arena);
    return Value::array(copies);
  }
  return Value::object(retain_members(value.built_members()));
}

}  // namespace quire::sql
