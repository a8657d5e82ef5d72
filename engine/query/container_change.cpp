#include "engine/query/container_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sql/value/json.h"

namespace quire::engine {
namespace {

// What WITH says, in Cosmos's JSON, as the definition of a container of that name.
Result<ContainerDefinition> properties_of(const sql::ContainerChange& change) {
  std::string json = "{\"id\":";
  sql::write_json(sql::Value::string(change.name), json);
  if (change.properties != nullptr) {
    const std::string text = sql::print(*change.properties);
    if (!text.starts_with('{'))
      return fail(ErrorCode::invalid_definition, "WITH takes an object: WITH {...}");
    if (text != "{}") json += ',';
    json.append(text, 1, text.size() - 2);
  }
  auto definition = ContainerDefinition::from_json(json + '}');
  if (!definition && definition.error().code == ErrorCode::invalid_json)
    return fail(ErrorCode::invalid_definition, "WITH takes an object of JSON constants alone");
  if (definition && definition->name != change.name)
    return fail(ErrorCode::invalid_definition, "the name of the container is given twice: leave \"id\" out");
  return definition;
}

Result<ContainerDefinition> definition_of(const sql::ContainerChange& change) {
  QUIRE_ASSIGN(ContainerDefinition properties, properties_of(change));
  if (change.partition_key.empty()) return properties;
  if (!properties.partition_key_paths.empty())
    return fail(ErrorCode::invalid_definition,
                "the partition key is given twice: by PARTITION KEY and in WITH; leave one of them out");
  std::vector<std::string> paths;
  for (const sql::Expression* path : change.partition_key) paths.emplace_back(path->text);
  QUIRE_ASSIGN(ContainerDefinition key, ContainerDefinition::make(change.name, paths));
  properties.partition_key_paths = std::move(key.partition_key_paths);
  return properties;
}

Result<void> create(OpenContainers& containers, const sql::ContainerChange& change) {
  QUIRE_ASSIGN(const ContainerDefinition definition, definition_of(change));
  const auto created = containers.create(definition);
  if (created || (change.is_conditional && created.error().code == ErrorCode::container_exists)) return {};
  return std::unexpected(created.error());
}

Result<void> drop(OpenContainers& containers, const sql::ContainerChange& change) {
  auto dropped = containers.drop(change.name);
  if (!dropped && change.is_conditional && dropped.error().code == ErrorCode::container_not_found) return {};
  return dropped;
}

bool names(const sql::ContainerChange& change, std::string_view property) {
  return change.properties != nullptr &&
         std::ranges::find(change.properties->entries, property, &sql::ObjectEntry::key) !=
             change.properties->entries.end();
}

// Members that WITH names take the place of those that are there; the partition key stays.
Result<void> alter(OpenContainers& containers, const sql::ContainerChange& change,
                   const WorkOptions& building) {
  QUIRE_ASSIGN(const ContainerDefinition changes, properties_of(change));
  const auto edit = [&](ContainerDefinition& definition) -> Result<void> {
    if (!changes.partition_key_paths.empty() && changes.partition_key_paths != definition.partition_key_paths)
      return fail(ErrorCode::invalid_definition,
                  fmt::format("the partition key of container '{}' cannot be changed; make another container "
                              "and copy the items",
                              change.name));
    if (names(change, "itemLimit")) definition.item_limit_bytes = changes.item_limit_bytes;
    for (const auto& property : changes.other_properties) {
      if (property.first == "uniqueKeyPolicy")
        return fail(ErrorCode::invalid_definition,
                    fmt::format("the unique keys of container '{}' cannot be changed; make another container "
                                "and copy the items, or use CREATE UNIQUE INDEX",
                                change.name));
      const auto found = std::ranges::find(definition.other_properties, property.first,
                                           [](const auto& p) { return p.first; });
      if (found == definition.other_properties.end())
        definition.other_properties.push_back(property);
      else
        found->second = property.second;
    }
    return {};
  };
  return containers.alter(change.name, edit, building, OpenContainers::Unfinished::is_undone);
}

}  // namespace

Result<void> change_containers(OpenContainers& containers, const sql::Statement& statement,
                               const WorkOptions& building) {
  switch (statement.kind) {
    case sql::StatementKind::create_container:
      return create(containers, *statement.definition);
    case sql::StatementKind::alter_container:
      return alter(containers, *statement.definition, building);
    default:
      return drop(containers, *statement.definition);
  }
}

}  // namespace quire::engine
