#include "sql/source.h"

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
  const MemberReader own(item);
  const uint32_t size = own.size();
  const std::span<Member> members = arena.make_array<Member>(size + kSystemPropertyCount);
  size_t count = 0;
  for (uint32_t i = 0; i < size; ++i) {
    members[count] = own[i];
    if (!is_system_name(members[count].name)) ++count;
  }
  for (size_t i = 0; i < kSystemPropertyCount; ++i)
    members[count++] = {kSystemPropertyNames[i],
                        collection.system_property(item, static_cast<SystemProperty>(i), arena)};
  return Value::object(members.first(count));
}

void Collection::write_item(const Value& item, std::string& out) const {
  Arena arena;
  write_json(whole_item(item, *this, arena), out);
}

}  // namespace quire::sql
