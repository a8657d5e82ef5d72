#include "engine/container/import_mapping.h"

#include <algorithm>
#include <cmath>

#include "sql/value/extended_json.h"

namespace quire::engine {

Result<ImportMapping> ImportMapping::make(const ImportOptions& options) {
  ImportMapping mapping;
  mapping.maps_extended_json_ = options.extended_json;
  mapping.id_path_ = options.id_path;
  std::string_view path = options.id_path;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/', 1), path.size());
    if (path.front() != '/' || end == 1)
      return fail(ErrorCode::invalid_argument,
                  "the path of the id must be names that each follow a /, as in /key or /meta/key, not '" +
                      options.id_path + "'");
    mapping.id_steps_.emplace_back(path.substr(1, end - 1));
    path.remove_prefix(end);
  }
  return mapping;
}

Result<sql::Value> ImportMapping::map(std::string_view json) {
  arena_->reset();
  QUIRE_ASSIGN(sql::Value item, reader_.to_value(json, *arena_));
  if (maps_extended_json_) item = sql::map_extended_json(item, *arena_);
  return id_steps_.empty() ? Result<sql::Value>(item) : with_id(item);
}

// The item with the path's value as its id, in front; an "id" of its own is replaced.
Result<sql::Value> ImportMapping::with_id(const sql::Value& item) {
  if (!item.is_object()) return item;  // refused where all items are checked
  sql::Value id = item;
  for (const std::string& step : id_steps_) id = id.member(step);
  if (!id.is_string() && !id.is_number())
    return fail(ErrorCode::invalid_id,
                "the item has no string and no number at " + id_path_ + " to take as its id");
  // From there on two whole numbers of the input may be one.
  constexpr double kExact = 0x1p53;
  if (id.kind() == sql::Kind::real && !(std::abs(id.as_real()) < kExact))
    return fail(ErrorCode::invalid_id, "the number at " + id_path_ +
                                           " is larger than one that keeps all its digits, so that other "
                                           "items could get its id; write it as a string");
  if (id.is_number()) {
    std::string text;
    sql::write_number(id, text);
    id = sql::Value::string(arena_->copy_string(text));
  }
  const std::span<sql::Member> members = arena_->make_array<sql::Member>(size_t{item.size()} + 1);
  size_t count = 0;
  members[count++] = {"id", id};
  for (uint32_t i = 0; i < item.size(); ++i)
    if (const sql::Member member = item.member_at(i); member.name != "id") members[count++] = member;
  return sql::Value::object(members.first(count));
}

}  // namespace quire::engine
