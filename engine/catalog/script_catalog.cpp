#include "engine/catalog/script_catalog.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "engine/file/file_cursor.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

constexpr char kScriptRow = 's';
constexpr char kRecordVersion = 1;
constexpr size_t kHeaderBytes = 4;
constexpr size_t kPrefixBytes = 6;

// As ScriptKind counts.
struct KindRow {
  char letter;
  std::string_view name;
};
constexpr KindRow kKinds[] = {{'p', "procedure"}, {'f', "function"}, {'t', "trigger"}};
constexpr std::string_view kTimes[] = {"Pre", "Post"};
constexpr std::string_view kOperations[] = {"All", "Create", "Replace", "Update", "Delete"};

std::string prefix_of(ContainerNumber container) {
  const auto number = static_cast<uint32_t>(container);
  std::string prefix(1, kScriptRow);
  for (int shift = 24; shift >= 0; shift -= 8) prefix += static_cast<char>(number >> shift);
  return prefix;
}

std::string row_name(ContainerNumber container, sql::ScriptKind kind, std::string_view name) {
  return prefix_of(container).append(1, kKinds[static_cast<size_t>(kind)].letter).append(name);
}

Result<ScriptDefinition> parse_row(Bytes key, Bytes record) {
  ScriptDefinition script;
  const auto damaged = [&] {
    return fail(ErrorCode::corrupt,
                fmt::format("the catalog's record of script '{}' is damaged", script.name));
  };
  script.name = key.substr(std::min(key.size(), kPrefixBytes));
  size_t kind = 0;
  while (kind < std::size(kKinds) && kKinds[kind].letter != key[kPrefixBytes - 1]) ++kind;
  if (kind == std::size(kKinds) || record.size() < kHeaderBytes || record[0] != kRecordVersion)
    return damaged();
  const auto time = static_cast<uint8_t>(record[1]);
  const auto operation = static_cast<uint8_t>(record[2]);
  if (time >= std::size(kTimes) || operation >= std::size(kOperations)) return damaged();
  script.kind = static_cast<sql::ScriptKind>(kind);
  script.time = static_cast<sql::TriggerTime>(time);
  script.operation = static_cast<sql::TriggerOperation>(operation);
  script.is_always = record[3] != 0;
  script.body = record.substr(kHeaderBytes);
  return script;
}

Result<void> check(const ScriptDefinition& script) {
  const std::string_view kind = script_kind_name(script.kind);
  const auto refuse = [&](std::string_view what) {
    return fail(ErrorCode::invalid_definition, fmt::format("the {} cannot be made: {}", kind, what));
  };
  if (script.name.empty() || script.name.size() > kLongestScriptName ||
      script.name.find_first_of("/\\?#") != std::string::npos)
    return refuse(fmt::format("its name must be 1 to {} bytes long, without / \\ ? #", kLongestScriptName));
  if (!simdjson::validate_utf8(script.name) || !simdjson::validate_utf8(script.body))
    return refuse("its name and its text must be UTF-8");
  if (script.body.size() > kLongestScript)
    return refuse(fmt::format("its text has {} bytes; the most is {}", script.body.size(), kLongestScript));
  return {};
}

void append_member(std::string& json, std::string_view name, std::string_view value) {
  json += json.empty() ? '{' : ',';
  sql::write_json_string(name, json);
  json += ':';
  sql::write_json_string(value, json);
}

}  // namespace

std::string_view script_kind_name(sql::ScriptKind kind) noexcept {
  return kKinds[static_cast<size_t>(kind)].name;
}

std::string ScriptDefinition::to_json() const {
  std::string json;
  append_member(json, "id", name);
  append_member(json, "kind", script_kind_name(kind));
  if (kind == sql::ScriptKind::trigger) {
    append_member(json, "triggerType", kTimes[static_cast<size_t>(time)]);
    append_member(json, "triggerOperation", kOperations[static_cast<size_t>(operation)]);
    json += is_always ? ",\"always\":true" : ",\"always\":false";
  }
  append_member(json, "body", body);
  return json + '}';
}

Result<void> ScriptCatalog::put(WriteTransaction& transaction, ContainerNumber container,
                                const ScriptDefinition& script, bool replaces) const {
  QUIRE_TRY(check(script));
  const std::string row = row_name(container, script.kind, script.name);
  QUIRE_ASSIGN(const std::optional<Bytes> existing, transaction.get(table_, row));
  if (existing && !replaces)
    return fail(ErrorCode::conflict,
                fmt::format("there is a {} '{}' already; drop it first, or write CREATE OR REPLACE",
                            script_kind_name(script.kind), script.name));
  std::string record = {kRecordVersion, static_cast<char>(script.time), static_cast<char>(script.operation),
                        script.is_always ? '\1' : '\0'};
  return transaction.put(table_, row, record + script.body);
}

Result<bool> ScriptCatalog::erase(WriteTransaction& transaction, ContainerNumber container,
                                  sql::ScriptKind kind, std::string_view name) const {
  if (name.empty() || name.size() > kLongestScriptName) return false;
  return transaction.erase(table_, row_name(container, kind, name));
}

Result<void> ScriptCatalog::erase_all(WriteTransaction& transaction, ContainerNumber container) const {
  QUIRE_ASSIGN(const std::vector<ScriptDefinition> scripts, list(transaction, container));
  for (const ScriptDefinition& script : scripts)
    QUIRE_TRY(transaction.erase(table_, row_name(container, script.kind, script.name)));
  return {};
}

Result<std::optional<ScriptDefinition>> ScriptCatalog::find(const Transaction& transaction,
                                                            ContainerNumber container, sql::ScriptKind kind,
                                                            std::string_view name) const {
  if (name.empty() || name.size() > kLongestScriptName) return std::nullopt;
  const std::string row = row_name(container, kind, name);
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(table_, row));
  if (!record) return std::nullopt;
  return parse_row(row, *record);
}

Result<std::optional<ScriptCatalog::Row>> ScriptCatalog::read_row(Bytes key, Bytes record) {
  if (key.size() <= kPrefixBytes || key[0] != kScriptRow) return std::nullopt;
  uint32_t number = 0;
  for (const char byte : key.substr(1, sizeof number)) number = number << 8 | static_cast<uint8_t>(byte);
  QUIRE_ASSIGN(ScriptDefinition script, parse_row(key, record));
  return Row{ContainerNumber{number}, std::move(script)};
}

Result<std::vector<ScriptDefinition>> ScriptCatalog::with_prefix(const Transaction& transaction,
                                                                 const std::string& prefix) const {
  std::vector<ScriptDefinition> scripts;
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table_));
  QUIRE_ASSIGN(bool is_there, cursor.seek(prefix));
  while (is_there && cursor.key().starts_with(prefix) && cursor.key().size() > kPrefixBytes) {
    QUIRE_ASSIGN(ScriptDefinition script, parse_row(cursor.key(), cursor.record()));
    scripts.push_back(std::move(script));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return scripts;
}

Result<std::vector<ScriptDefinition>> ScriptCatalog::list(const Transaction& transaction,
                                                          ContainerNumber container) const {
  return with_prefix(transaction, prefix_of(container));
}

Result<std::vector<ScriptDefinition>> ScriptCatalog::triggers(const Transaction& transaction,
                                                              ContainerNumber container) const {
  return with_prefix(transaction,
                     prefix_of(container) + kKinds[static_cast<size_t>(sql::ScriptKind::trigger)].letter);
}

Error ScriptCatalog::not_found(const Transaction& transaction, ContainerNumber container,
                               sql::ScriptKind kind, std::string_view name,
                               std::string_view container_name) const {
  NearestName nearest(name);
  const auto known = list(transaction, container);
  if (!known) return known.error();
  for (const ScriptDefinition& script : *known)
    if (script.kind == kind) nearest.offer(script.name);
  return {ErrorCode::not_found, fmt::format("container '{}' has no {} '{}'{}", container_name,
                                            script_kind_name(kind), shortened(name), nearest.hint())};
}

}  // namespace quire::engine
