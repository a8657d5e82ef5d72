// Scripts as the catalog keeps them. Table "catalog" has, beside its containers, for each script
//
//   key      's', the container's number (4 bytes, big-endian), the kind ('f', 'p' or 't'), the name
//   byte 0   version of this record: 1
//        1   when a trigger runs: 0 before the write, 1 after it
//        2   at which operation: 0 all, 1 create, 2 replace, 3 update, 4 delete
//        3   1: at every such write, 0: where the request names it
//        4.. the JavaScript
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/file/environment.h"
#include "sql/error.h"
#include "sql/parse/ast.h"

namespace quire::engine {

inline constexpr size_t kLongestScript = size_t{1} << 20;
inline constexpr size_t kLongestScriptName = 255;

struct ScriptDefinition {
  sql::ScriptKind kind = sql::ScriptKind::procedure;
  std::string name;
  std::string body;
  // Of a trigger.
  sql::TriggerTime time = sql::TriggerTime::pre;
  sql::TriggerOperation operation = sql::TriggerOperation::all;
  bool is_always = false;

  // {"id":...,"kind":"procedure","body":...}; a trigger's has triggerType, triggerOperation and always too.
  std::string to_json() const;
};

// "procedure", "function", "trigger".
std::string_view script_kind_name(sql::ScriptKind kind) noexcept;

// Stateless: all of it is in the file.
class ScriptCatalog {
 public:
  explicit ScriptCatalog(const Environment& environment) : table_(environment.catalog()) {}
  explicit ScriptCatalog(Table catalog) : table_(catalog) {}

  // conflict if there is one of that kind and name, unless it is to be replaced; invalid_definition for a
  // name or a body that cannot be.
  Result<void> put(WriteTransaction& transaction, ContainerNumber container, const ScriptDefinition& script,
                   bool replaces) const;
  // False if there is none.
  Result<bool> erase(WriteTransaction& transaction, ContainerNumber container, sql::ScriptKind kind,
                     std::string_view name) const;
  // With the container.
  Result<void> erase_all(WriteTransaction& transaction, ContainerNumber container) const;

  Result<std::optional<ScriptDefinition>> find(const Transaction& transaction, ContainerNumber container,
                                               sql::ScriptKind kind, std::string_view name) const;
  // Of a row of the table, wherever it was found; nothing if it is no script's. corrupt.
  struct Row {
    ContainerNumber container{};
    ScriptDefinition script;
  };
  static Result<std::optional<Row>> read_row(Bytes key, Bytes record);
  // Functions, procedures, triggers, each by name.
  Result<std::vector<ScriptDefinition>> list(const Transaction& transaction, ContainerNumber container) const;
  Result<std::vector<ScriptDefinition>> triggers(const Transaction& transaction,
                                                 ContainerNumber container) const;
  // not_found, naming the nearest name there is.
  Error not_found(const Transaction& transaction, ContainerNumber container, sql::ScriptKind kind,
                  std::string_view name, std::string_view container_name) const;

 private:
  Result<std::vector<ScriptDefinition>> with_prefix(const Transaction& transaction,
                                                    const std::string& prefix) const;

  Table table_;
};

}  // namespace quire::engine
