#include "sql/source.h"

#include <array>

#include "sql/value/json.h"
#include "sql/value/member_reader.h"

namespace quire::sql {

Value whole_item(const Value& item, const Collection& collection, Arena& arena) {
  if (!item.is_object()) return item;
  std::array<Value, kSystemPropertyCount> properties;
  collection.system_properties(item, properties, arena);
  return whole_item(item, properties, arena);
}

Value whole_item(const Value& item, std::span<const Value, kSystemPropertyCount> properties, Arena& arena) {
  const std::span<Member> more = arena.make_array<Member>(kSystemPropertyCount);
  for (size_t i = 0; i < kSystemPropertyCount; ++i) more[i] = {kSystemPropertyNames[i], properties[i]};
  return Value::extended(*arena.make<ExtendedObject>(item, more));
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
