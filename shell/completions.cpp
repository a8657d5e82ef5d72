#include "shell/completions.h"

#include <algorithm>
#include <cctype>

#include "shell/commands.h"
#include "shell/infer_schema.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

// Enough items to know the usual properties, few enough that a key press does not wait.
constexpr uint64_t kSampledItems = 100;

constexpr std::string_view kKeywords[] = {
    "ADVISE",    "ALTER",   "ALWAYS",   "ANALYZE", "AND",      "ARRAY",       "AS",        "ASC",
    "BEGIN",     "BETWEEN", "BY",       "CASE",    "CHECK",    "COMMIT",      "CONTAINER", "CREATE",
    "DELETE",    "DESC",    "DISTINCT", "DROP",    "ELSE",     "END",         "ESCAPE",    "EXECUTE",
    "EXISTS",    "EXPLAIN", "FALSE",    "FROM",    "FUNCTION", "GROUP",       "HAVING",    "IF",
    "IN",        "INDEX",   "INSERT",   "INTO",    "IS",       "JOIN",        "KEY",       "LEFT",
    "LIKE",      "LIMIT",   "NOT",      "NULL",    "OFFSET",   "ON",          "OR",        "ORDER",
    "PARTITION", "PATCH",   "POST",     "PRAGMA",  "PRE",      "PROCEDURE",   "REPLACE",   "RETURNING",
    "ROLLBACK",  "SELECT",  "SET",      "THEN",    "TOP",      "TRANSACTION", "TRIGGER",   "TRUE",
    "UNDEFINED", "UNION",   "UNIQUE",   "UNSET",   "UPDATE",   "UPSERT",      "VALUE",     "VALUES",
    "WHEN",      "WHERE",   "WITH"};

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool begins_with_any_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin(),
                                                   [](char a, char b) { return lower(a) == lower(b); });
}

// In the case that was begun: `sel` becomes `select`.
std::string in_case_of(std::string_view word, std::string_view keyword) {
  std::string text(keyword);
  if (!word.empty() && std::islower(static_cast<unsigned char>(word.front())) != 0)
    std::ranges::transform(text, text.begin(), lower);
  return text;
}

// Letters, digits and underscores, of any script; no signs of control, of which Unicode has more than ASCII
// (U+0080 to U+009F).
bool has_names_alone(std::string_view path) {
  for (size_t at = path.find('\xC2'); at != std::string_view::npos; at = path.find('\xC2', at + 1))
    if (at + 1 < path.size() && static_cast<unsigned char>(path[at + 1]) < 0xA0) return false;
  return std::ranges::all_of(path, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || c == '_' || c == '.' || byte >= 0x80;
  });
}

}  // namespace

std::vector<std::string> Completions::of(std::string_view before, std::string_view word) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view candidate) {
    if (begins_with_any_case(candidate, word)) found.emplace_back(candidate);
  };
  const std::string_view start = trim(before);
  if (start.empty() && word.starts_with('.')) {
    for (const Command& command : all_commands()) add(command.name);
    return found;
  }
  if (start == ".mode") {
    for (const ModeRow& row : modes()) add(row.name);
    return found;
  }
  if (start == ".help") {
    for (const Command& command : all_commands()) add(command.name.substr(1));
    return found;
  }
  if (start.starts_with('.')) {
    for (const std::string& name : containers()) add(name);
    return found;
  }
  if (const size_t dot = word.find('.'); dot != std::string_view::npos) {
    const std::string alias(word.substr(0, dot + 1));
    for (const std::string& path : paths(before))
      if (is_path(path)) add(alias + path);
    return found;
  }
  for (const std::string& name : containers()) add(name);
  if (word.empty()) return found;
  for (const std::string_view keyword : kKeywords) add(in_case_of(word, keyword));
  quire_function function;
  for (size_t i = 0; quire_function_at(i, &function) != 0; ++i) add(in_case_of(word, function.name) + "(");
  return found;
}

// Whether it means the property as it stands. What has other signs in it, or a reserved word, might be
// another statement, or do something to the terminal.
bool Completions::is_path(const std::string& path) const {
  return has_names_alone(path) &&
         session_.database().prepare("SELECT VALUE c." + path + " FROM c IN (SELECT VALUE [])").has_value();
}

std::vector<std::string> Completions::containers() const {
  std::vector<std::string> names;
  const auto list = session_.database().containers();
  if (!list) return names;
  auto statement = session_.database().prepare("SELECT VALUE c.id FROM c IN (SELECT VALUE @list)");
  if (!statement || !statement->bind("list", Json{*list})) return names;
  for (const Value name : statement->rows()) names.emplace_back(name.as_string());
  return names;
}

std::vector<std::string> Completions::paths(std::string_view text) const {
  std::vector<std::string> names = {session_.container};
  if (session_.container.empty()) {
    const std::vector<std::string> all = containers();
    names = all;
    std::erase_if(names, [&](const std::string& name) { return !text.contains(name); });
    // FROM comes after SELECT: the container may not have been written yet.
    if (names.empty()) names = all;
  }
  std::vector<std::string> found;
  for (const std::string& name : names) {
    auto container = session_.database().container(name);
    const auto schema =
        container ? infer_schema(*container, kSampledItems) : Result<InferredSchema>(InferredSchema{});
    if (!schema) continue;
    for (const PathFacts& path : schema->paths)
      if (!path.path.contains('[') && std::ranges::find(found, path.path) == found.end())
        found.push_back(path.path);
  }
  return found;
}

}  // namespace quire::shell
