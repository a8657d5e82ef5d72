// .partitions: how evenly a container's items lie in its partitions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "shell/commands.h"
#include "shell/container_definition.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"

namespace quire::shell {
namespace {

constexpr size_t kShown = 20;
constexpr size_t kWidestBar = 30;

struct Partition {
  std::string key;  // JSON
  uint64_t items = 0;
  uint64_t bytes = 0;
};

// By bytes of the items' JSON, the largest first.
Result<std::vector<Partition>> partitions_of(Container& container, const std::vector<std::string>& paths) {
  std::string key = "[";
  for (const std::string& path : paths) key += (key.size() > 1 ? ", " : "") + expression_of(path);
  auto statement = container.prepare("SELECT " + key + "] AS k, c AS item FROM c");
  if (!statement) return Failure(std::move(statement.error()));
  std::map<std::string, Partition> by_key;
  std::string item;
  for (const Value row : statement->rows()) {
    auto name = row["k"].to_json();
    if (!name) return Failure(std::move(name.error()));
    item.clear();
    if (auto appended = append_item(item, row["item"]); !appended)
      return Failure(std::move(appended.error()));
    Partition& partition = by_key[*name];
    ++partition.items;
    partition.bytes += item.size();
  }
  if (statement->error()) return Failure(*statement->error());
  std::vector<Partition> partitions;
  for (auto& [name, partition] : by_key) partitions.push_back({name, partition.items, partition.bytes});
  std::ranges::sort(partitions, std::ranges::greater(), &Partition::bytes);
  return partitions;
}

// 0 where all are equal, towards 1 where one has everything.
double gini(const std::vector<Partition>& largest_first) {
  double weighted = 0;
  double total = 0;
  const auto count = static_cast<double>(largest_first.size());
  for (size_t i = 0; i < largest_first.size(); ++i) {
    const auto bytes = static_cast<double>(largest_first[i].bytes);
    weighted += bytes * (count - static_cast<double>(i));
    total += bytes;
  }
  return total == 0 ? 0 : 2 * weighted / (count * total) - (count + 1) / count;
}

std::string bar(uint64_t bytes, uint64_t most) {
  std::string text;
  for (uint64_t i = 0; i < std::max<uint64_t>(1, bytes * kWidestBar / std::max<uint64_t>(1, most)); ++i)
    text += "█";
  return text;
}

}  // namespace

Outcome partitions_command(Session& session, const Words& words) {
  const auto failed = [](const Error& error) {
    print_error(error);
    return Outcome::failed;
  };
  auto container = session.database().container(words[0]);
  if (!container) return failed(container.error());
  const auto paths = partition_key_of(session.database(), words[0]);
  if (!paths) return failed(paths.error());
  if (!*paths || (*paths)->empty()) {
    fmt::print(stderr, "'{}' has no partition key: each item is found by its id alone\n", words[0]);
    return Outcome::done;
  }
  const Interruptible interruptible(session.database());
  const auto partitions = partitions_of(*container, **paths);
  if (!partitions) return failed(partitions.error());
  uint64_t total = 0;
  for (const Partition& partition : *partitions) total += partition.bytes;
  std::string rows = "[";
  for (const Partition& partition : std::span(*partitions).first(std::min(kShown, partitions->size())))
    rows += fmt::format(
        R"({}{{"partition":{},"items":{},"bytes":{},"share %":{:.1f},"size":{}}})",
        rows.size() > 1 ? "," : "", quoted(partition.key), partition.items, partition.bytes,
        100.0 * static_cast<double>(partition.bytes) / static_cast<double>(std::max<uint64_t>(1, total)),
        quoted(bar(partition.bytes, partitions->front().bytes)));
  const Outcome shown = session.show_rows(rows + "]");
  fmt::print(stderr, "{} partitions, {} bytes of JSON, Gini {:.2f} (0: all equal, 1: one has everything)\n",
             partitions->size(), total, gini(*partitions));
  if (partitions->size() > kShown) fmt::print(stderr, "the {} largest are shown\n", kShown);
  return shown;
}

}  // namespace quire::shell
