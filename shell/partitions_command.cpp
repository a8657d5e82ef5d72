// .partitions: how evenly a container's items lie in its partitions.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "shell/bars.h"
#include "shell/commands.h"
#include "shell/container_definition.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"
#include "shell/partition_sizes.h"

namespace quire::shell {
namespace {

constexpr size_t kShown = 20;

}  // namespace

Outcome partitions_command(Session& session, const Words& words) {
  auto container = session.database().container(words[0]);
  if (!container) return failed(container.error());
  const auto paths = partition_key_of(session.database(), words[0]);
  if (!paths) return failed(paths.error());
  if (!*paths || (*paths)->empty()) {
    tell("'{}' has no partition key: each item is found by its id alone\n", words[0]);
    return Outcome::done;
  }
  const Interruptible interruptible(session.database());
  const auto partitions = partitions_by_bytes(*container, **paths);
  if (!partitions) return failed(partitions.error());
  uint64_t total = 0;
  for (const PartitionSize& partition : *partitions) total += partition.bytes;
  std::string rows = "[";
  for (const PartitionSize& partition : std::span(*partitions).first(std::min(kShown, partitions->size())))
    rows += fmt::format(
        R"({}{{"partition":{},"items":{},"bytes":{},"share %":{:.1f},"size":{}}})",
        rows.size() > 1 ? "," : "", json_string(partition.key), partition.items, partition.bytes,
        100.0 * static_cast<double>(partition.bytes) / static_cast<double>(std::max<uint64_t>(1, total)),
        json_string(bar(partition.bytes, partitions->front().bytes)));
  const Outcome shown = session.show_rows(rows + "]");
  tell("{} partitions, {} bytes of JSON, Gini {:.2f} (0: all equal, 1: one has everything)\n",
       partitions->size(), total, gini(*partitions, &PartitionSize::bytes));
  if (partitions->size() > kShown) {
    tell("the {} largest are shown; items of a partition, and how many have so many:\n", kShown);
    tell("{}", histogram(sizes_of(*partitions), 2));
  }
  return shown;
}

}  // namespace quire::shell
