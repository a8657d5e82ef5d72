#include "sql/source.h"

#include <array>

#include "sql/value/json.h"
#include "sql/value/member_reader.h"

namespace quire::sql {
namespace {

bool is_system_name(std::string_view name) {
  return name.starts_with('_') &&
         std::ranges::find(kSystemPropertyNames, name) != std::ranges::end(kSystemPropertyNames);
}

}  // namespace

Value whole_item(const Value& item, const Collection& collection, Arena& arena) {
  if (!item.is_object()) return item;
  std::array<Value, kSystemPropertyCount> properties;
  collection.system_properties(item, properties, arena);
  return whole_item(item, properties, arena);
}

Value whole_item(const Value& item, std::span<const Value, kSystemPropertyCount> properties, Arena& arena) {
  MemberWalk own(item);
  const std::span<Member> members = arena.make_array<Member>(own.size() + kSystemPropertyCount);
  size_t count = 0;
  while (own.next(members[count]))
    if (!is_system_name(members[count].name)) ++count;
  for (size_t i = 0; i < kSystemPropertyCount; ++i)
    members[count++] = {kSystemPropertyNames[i], properties[i]};
  return Value::object(members.first(count));
}

void Collection::system_properties(const Value& item, std::span<Value, kSystemPropertyCount> values,
                                   Arena& arena) const {
  for (size_t i = 0; i < kSystemPropertyCount; ++i)
    values[i] = system_property(item, static_cast<SystemProperty>(i), arena);
}

void Collection::write_item(const Value& item, std::string& out) const {
  Arena arena;
  write_json(whole_item(item, *this, arena), out);
}

}  // namespace quire::sql
