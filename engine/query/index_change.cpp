#include "engine/query/index_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/index/indexing_policy.h"
#include "engine/index/policy_path.h"
#include "sql/plan/index_condition.h"

namespace quire::engine {
namespace {

// readings_location_city; with a number behind it where that is taken.
std::string name_for(const sql::IndexChange& change, const std::vector<NamedIndex>& indexes) {
  std::string name(change.container);
  for (const sql::IndexKey& key : change.keys) {
    for (const char c : key.path->text) {
      const bool is_plain =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      if (is_plain)
        name += c;
      else if (name.back() != '_')
        name += '_';
    }
  }
  while (name.back() == '_') name.pop_back();
  const std::string base = name;
  for (int i = 2; std::ranges::find(indexes, name, &NamedIndex::name) != indexes.end(); ++i)
    name = fmt::format("{}_{}", base, i);
  return name;
}

Result<NamedIndex> named_index_of(const sql::IndexChange& change, const std::vector<NamedIndex>& indexes) {
  NamedIndex made;
  made.name = change.name.empty() ? name_for(change, indexes) : std::string(change.name);
  made.is_unique = change.is_unique;
  for (const sql::IndexKey& key : change.keys) {
    sql::IndexPart& part = made.parts.emplace_back();
    QUIRE_ASSIGN(part.path, parse_plain_path(key.path->text, fmt::format("index '{}'", made.name)));
    part.is_descending = key.is_descending;
  }
  if (change.where != nullptr) {
    QUIRE_ASSIGN(made.condition, sql::index_condition_text(*change.where, change.container));
  }
  return made;
}

Result<void> create(OpenContainers& containers, const sql::IndexChange& change, const WorkOptions& building) {
  const auto add = [&](ContainerDefinition& definition) -> Result<void> {
    QUIRE_ASSIGN(std::vector<NamedIndex> indexes, named_indexes_of(definition));
    QUIRE_ASSIGN(NamedIndex made, named_index_of(change, indexes));
    const bool is_there = std::ranges::any_of(indexes, [&](const NamedIndex& index) {
      return index.parts == made.parts && index.is_unique == made.is_unique &&
             index.condition == made.condition;
    });
    if (change.is_conditional && change.name.empty() && is_there) return {};
    if (std::ranges::find(indexes, made.name, &NamedIndex::name) != indexes.end()) {
      if (change.is_conditional) return {};
      return fail(ErrorCode::invalid_definition,
                  fmt::format("container '{}' has an index '{}' already", change.container, made.name));
    }
    indexes.push_back(std::move(made));
    return set_named_indexes(definition, indexes);
  };
  return containers.alter(change.container, add, building);
}

Error no_such_index(const sql::IndexChange& change, const std::vector<std::string>& known) {
  NearestName nearest(change.name);
  for (const std::string& name : known) nearest.offer(name);
  return {ErrorCode::not_found, fmt::format("there is no index '{}'{}", change.name, nearest.hint())};
}

// The container that has the index; the statement's own, if it names one.
Result<std::string> container_of(OpenContainers& containers, const sql::IndexChange& change) {
  if (!change.container.empty()) return std::string(change.container);
  QUIRE_ASSIGN(const ReadTransaction snapshot, containers.environment().begin_read());
  QUIRE_ASSIGN(const std::vector<CatalogEntry> entries, containers.catalog().list(snapshot));
  std::vector<std::string> known, found;
  for (const CatalogEntry& entry : entries) {
    QUIRE_ASSIGN(const std::vector<NamedIndex> indexes, named_indexes_of(entry.definition));
    for (const NamedIndex& index : indexes) {
      known.push_back(index.name);
      if (index.name == change.name) found.push_back(entry.definition.name);
    }
  }
  if (found.empty()) return std::unexpected(no_such_index(change, known));
  if (found.size() > 1)
    return fail(ErrorCode::invalid_argument,
                fmt::format("the containers '{}' and '{}' both have an index '{}': write DROP INDEX {} ON {}",
                            found[0], found[1], change.name, change.name, found[0]));
  return found[0];
}

Result<void> drop(OpenContainers& containers, const sql::IndexChange& change) {
  auto container = container_of(containers, change);
  if (!container) {
    if (change.is_conditional && container.error().code == ErrorCode::not_found) return {};
    return std::unexpected(std::move(container.error()));
  }
  auto dropped = containers.alter(*container, [&](ContainerDefinition& definition) -> Result<void> {
    QUIRE_ASSIGN(std::vector<NamedIndex> indexes, named_indexes_of(definition));
    std::vector<std::string> known;
    for (const NamedIndex& index : indexes) known.push_back(index.name);
    if (std::erase_if(indexes, [&](const NamedIndex& index) { return index.name == change.name; }) == 0) {
      if (change.is_conditional) return {};
      return std::unexpected(no_such_index(change, known));
    }
    return set_named_indexes(definition, indexes);
  });
  const bool is_nowhere = !dropped && dropped.error().code == ErrorCode::container_not_found;
  return change.is_conditional && is_nowhere ? Result<void>() : dropped;
}

}  // namespace

Result<void> change_indexes(OpenContainers& containers, const sql::Statement& statement,
                            const WorkOptions& building) {
  const sql::IndexChange& change = *statement.index;
  return statement.kind == sql::StatementKind::create_index ? create(containers, change, building)
                                                            : drop(containers, change);
}

}  // namespace quire::engine
