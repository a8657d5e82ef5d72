// .indexes: the indexes of containers, by whatever made them: CREATE INDEX, the indexing policy, unique keys.
#include <fmt/format.h>

#include "shell/commands.h"
#include "shell/json_text.h"

namespace quire::shell {
namespace {

// The paths of a list of {"path": ..., "order": ...}, or of strings.
std::string paths_text(Value list) {
  std::string text;
  for (const Value part : list.elements()) {
    const Value path = part.type() == Type::string ? part : part["path"];
    text += (text.empty() ? "" : ", ") + std::string(path.as_string());
    // "descending" in any case, which nothing else begins like.
    const std::string_view order = part["order"].as_string();
    if (order.starts_with('d') || order.starts_with('D')) text += " DESC";
  }
  return text;
}

class IndexRows {
 public:
  void add(Value container) {
    container_ = container["id"].as_string();
    for (const Value index : container["indexes"].elements())
      row("CREATE INDEX", index["name"].as_string(), paths_text(index["paths"]), index["unique"].as_boolean(),
          index["where"].as_string());
    const Value policy = container["indexingPolicy"];
    if (policy["includedPaths"].size() > 0)
      row("indexingPolicy", "included", paths_text(policy["includedPaths"]), false);
    if (policy["excludedPaths"].size() > 0)
      row("indexingPolicy", "excluded", paths_text(policy["excludedPaths"]), false);
    for (const Value composite : policy["compositeIndexes"].elements()) {
      const std::string paths = paths_text(composite);
      // One over elements is not made.
      if (!paths.contains("/[]")) row("indexingPolicy", "composite", paths, false);
    }
    for (const Value key : container["uniqueKeyPolicy"]["uniqueKeys"].elements())
      row("uniqueKeyPolicy", "unique within a partition", paths_text(key["paths"]), true);
  }
  std::string json() const { return "[" + rows_ + "]"; }

 private:
  void row(std::string_view made_by, std::string_view name, const std::string& paths, bool is_unique,
           std::string_view where = {}) {
    rows_ +=
        fmt::format(R"({}{{"container":{},"index":{},"paths":{},"where":{},"unique":{},"by":{}}})",
                    rows_.empty() ? "" : ",", json_string(container_), json_string(name), json_string(paths),
                    where.empty() ? "null" : json_string(where), is_unique, json_string(made_by));
  }

  std::string container_;
  std::string rows_;
};

}  // namespace

Outcome indexes_command(Session& session, const Words& words) {
  if (!words.empty())
    if (const auto container = session.database().container(words[0]); !container)
      return failed(container.error());
  const auto list = session.database().containers();
  if (!list) return failed(list.error());
  auto statement = session.database().prepare("SELECT VALUE c FROM c IN (SELECT VALUE @list)");
  if (!statement) return failed(statement.error());
  if (auto bound = statement->bind("list", Json{*list}); !bound) return failed(bound.error());
  IndexRows rows;
  for (const Value container : statement->rows())
    if (words.empty() || container["id"].as_string() == words[0]) rows.add(container);
  if (statement->error()) return failed(*statement->error());
  return session.show_rows(rows.json());
}

}  // namespace quire::shell
