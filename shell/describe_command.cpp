// .describe: what a container is, and what its items look like.
#include <fmt/format.h>

#include <algorithm>

#include "shell/commands.h"
#include "shell/container_definition.h"
#include "shell/display_width.h"
#include "shell/infer_schema.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"
#include "shell/partition_sizes.h"

namespace quire::shell {
namespace {

constexpr uint64_t kDescribedItems = 10'000;
constexpr size_t kLongestExample = 40;

// The definition with the item count and the bytes, as JSON.
Result<std::string> definition_of(const Database& database, const std::string& name) {
  const auto list = database.containers();
  if (!list) return Failure(list.error());
  auto statement = database.prepare("SELECT VALUE c FROM c IN (SELECT VALUE @list) WHERE c.id = @name");
  if (!statement) return Failure(std::move(statement.error()));
  if (auto bound = statement->bind("list", Json{*list}); !bound) return Failure(std::move(bound.error()));
  if (auto bound = statement->bind("name", name); !bound) return Failure(std::move(bound.error()));
  auto has_row = statement->step();
  if (!has_row) return Failure(std::move(has_row.error()));
  return statement->row().to_json();
}

std::string shortened(std::string_view text) {
  const std::string_view start = beginning(text, kLongestExample);
  return std::string(start) + (start.size() < text.size() ? "…" : "");
}

std::string schema_rows(const InferredSchema& schema) {
  std::string rows = "[";
  for (const PathFacts& path : schema.paths) {
    std::string types;
    for (const auto& [type, count] : path.types) types += (types.empty() ? "" : ", ") + type;
    rows += fmt::format(
        R"({}{{"path":{},"types":{},"present %":{:.1f},"example":{}}})", rows.size() > 1 ? "," : "",
        json_string(path.path), json_string(types),
        100.0 * static_cast<double>(path.items) / static_cast<double>(std::max<uint64_t>(1, schema.items)),
        json_string(shortened(path.example)));
  }
  return rows + "]";
}

// How many partitions there are, and how even; nothing where there is no partition key.
Result<std::string> partition_rows(const Database& database, Container& container, const std::string& name) {
  const auto paths = partition_key_of(database, name);
  if (!paths) return Failure(paths.error());
  if (!*paths || (*paths)->empty()) return std::string();
  const auto partitions = partitions_by_items(container, **paths);
  if (!partitions) return Failure(partitions.error());
  if (partitions->empty()) return std::string();
  uint64_t items = 0;
  for (const PartitionSize& partition : *partitions) items += partition.items;
  const PartitionSize& largest = partitions->front();
  return fmt::format(
      R"([{{"partitions":{},"items in the mean":{:.1f},"largest":{},"its items":{},"its share %":{:.1f},"Gini":{:.2f}}}])",
      partitions->size(), static_cast<double>(items) / static_cast<double>(partitions->size()),
      json_string(largest.key), largest.items,
      100.0 * static_cast<double>(largest.items) / static_cast<double>(items),
      gini(*partitions, &PartitionSize::items));
}

}  // namespace

Outcome describe_command(Session& session, const Words& words) {
  auto container = session.database().container(words[0]);
  if (!container) return failed(container.error());
  const auto definition = definition_of(session.database(), words[0]);
  if (!definition) return failed(definition.error());
  const Interruptible interruptible(session.database());
  const auto schema = infer_schema(*container, kDescribedItems);
  if (!schema) return failed(schema.error());
  const auto partitions = partition_rows(session.database(), *container, words[0]);
  if (!partitions) return failed(partitions.error());
  if (const Outcome shown = session.show_rows("[" + *definition + "]"); shown != Outcome::done) return shown;
  if (!partitions->empty())
    if (const Outcome shown = session.show_rows(*partitions); shown != Outcome::done) return shown;
  if (schema->items == kDescribedItems) tell("schema of the first {} items:\n", kDescribedItems);
  return session.show_rows(schema_rows(*schema));
}

}  // namespace quire::shell
