#include "shell/container_definition.h"

#include <algorithm>
#include <array>

#include "shell/json_text.h"

namespace quire::shell {

Result<Statement> prepare_own(Container& container, std::string_view sql) {
  auto statement = container.prepare(sql);
  if (statement) {
    statement->leave_unrecorded();
    statement->omit_system_properties();
  }
  return statement;
}

Result<std::optional<std::vector<std::string>>> partition_key_of(const Database& database,
                                                                 std::string_view name) {
  auto list = database.containers();
  if (!list) return Failure(std::move(list.error()));
  auto statement = database.prepare("SELECT VALUE c FROM c IN (SELECT VALUE @list) WHERE c.id = @name");
  if (!statement) return Failure(std::move(statement.error()));
  if (auto bound = statement->bind("list", Json{*list}); !bound) return Failure(std::move(bound.error()));
  if (auto bound = statement->bind("name", name); !bound) return Failure(std::move(bound.error()));
  auto has_row = statement->step();
  if (!has_row) return Failure(std::move(has_row.error()));
  if (!*has_row) return std::nullopt;
  std::vector<std::string> paths;
  for (const Value path : statement->row()["partitionKey"]["paths"].elements())
    paths.emplace_back(path.as_string());
  return paths;
}

std::string expression_of(std::string_view path) {
  std::string expression = "c";
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    if (name.size() > 1 && name.starts_with('"') && name.ends_with('"'))
      name = name.substr(1, name.size() - 2);
    expression += "[" + json_string(name) + "]";
  }
  return expression;
}

bool is_system_property(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"_rid", "_self", "_etag", "_attachments", "_ts"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace quire::shell
