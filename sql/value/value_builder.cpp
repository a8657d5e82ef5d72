#include "sql/value/value_builder.h"

#include <unordered_map>

namespace quire::sql {
namespace {

// Up to here comparing each name with each is quicker than a hash table.
constexpr size_t kFewMembers = 16;

bool has_duplicate(std::span<const Member> members) {
  for (size_t i = 1; i < members.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (members[i].name == members[j].name) return true;
  return false;
}

}  // namespace

size_t remove_duplicate_members(std::span<Member> members) {
  if (members.size() <= kFewMembers && !has_duplicate(members)) return members.size();
  std::unordered_map<std::string_view, size_t> places;
  size_t kept = 0;
  for (const Member& member : members) {
    const auto [place, is_new] = places.try_emplace(member.name, kept);
    members[place->second] = member;
    if (is_new) ++kept;
  }
  return kept;
}

// Values nest no deeper than documents and the expressions that build them, which are both bounded.
Value copy_value(const Value& value, Arena& arena) {
  if (value.is_string()) return Value::string(arena.copy_string(value.as_string()));
  if (value.is_array()) {
    const std::span<Value> copies = arena.make_array<Value>(value.size());
    for (uint32_t i = 0; i < value.size(); ++i) copies[i] = copy_value(value.element(i), arena);
    return Value::array(copies);
  }
  if (!value.is_object()) return value;
  const std::span<Member> copies = arena.make_array<Member>(value.size());
  for (uint32_t i = 0; i < value.size(); ++i) {
    const Member member = value.member_at(i);
    copies[i] = {arena.copy_string(member.name), copy_value(member.value, arena)};
  }
  return Value::object(copies);
}

void ValueBuilder::end() {
  const Frame frame = frames_[depth_--];
  const std::span<Member> pending = std::span(pending_).subspan(frame.first);
  Value value;
  if (frame.is_object) {
    const size_t count = remove_duplicate_members(pending);
    value = Value::object(arena_->copy_array(std::span<const Member>(pending.first(count))));
  } else {
    const std::span<Value> elements = arena_->make_array<Value>(pending.size());
    for (size_t i = 0; i < pending.size(); ++i) elements[i] = pending[i].value;
    value = Value::array(elements);
  }
  pending_.resize(frame.first);
  add(value);
}

}  // namespace quire::sql
