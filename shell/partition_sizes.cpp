#include "shell/partition_sizes.h"

#include <algorithm>
#include <bit>
#include <map>

#include "shell/container_definition.h"

namespace quire::shell {
namespace {

std::string key_list(const std::vector<std::string>& paths, std::string_view behind_each = "") {
  std::string list;
  for (const std::string& path : paths)
    list.append(list.empty() ? "" : ", ").append(expression_of(path)).append(behind_each);
  return list;
}
// As an array. A component that an item lacks stands as {}, which no key is: an array would leave it out.
std::string key_array(const std::vector<std::string>& paths) {
  return "[" + key_list(paths, " ?? {}") + "]";
}

}  // namespace

Result<std::vector<PartitionSize>> partitions_by_items(Container& container,
                                                       const std::vector<std::string>& paths) {
  auto statement = prepare_own(
      container, "SELECT " + key_array(paths) + " AS k, COUNT(1) AS n FROM c GROUP BY " + key_list(paths));
  if (!statement) return Failure(std::move(statement.error()));
  std::vector<PartitionSize> partitions;
  for (const Value row : statement->rows()) {
    auto key = row["k"].to_json();
    if (!key) return Failure(std::move(key.error()));
    partitions.push_back({std::move(*key), static_cast<uint64_t>(row["n"].as_integer()), 0});
  }
  if (statement->error()) return Failure(*statement->error());
  std::ranges::sort(partitions, std::ranges::greater(), &PartitionSize::items);
  return partitions;
}

Result<std::vector<PartitionSize>> partitions_by_bytes(Container& container,
                                                       const std::vector<std::string>& paths) {
  auto statement = prepare_own(container, "SELECT " + key_array(paths) + " AS k, c AS item FROM c");
  if (!statement) return Failure(std::move(statement.error()));
  std::map<std::string, PartitionSize> by_key;
  for (const Value row : statement->rows()) {
    auto key = row["k"].to_json();
    if (!key) return Failure(std::move(key.error()));
    auto item = row["item"].to_json();
    if (!item) return Failure(std::move(item.error()));
    PartitionSize& partition = by_key[*key];
    ++partition.items;
    partition.bytes += item->size();
  }
  if (statement->error()) return Failure(*statement->error());
  std::vector<PartitionSize> partitions;
  for (auto& [key, partition] : by_key) partitions.push_back({key, partition.items, partition.bytes});
  std::ranges::sort(partitions, std::ranges::greater(), &PartitionSize::bytes);
  return partitions;
}

double gini(std::span<const PartitionSize> largest_first, uint64_t PartitionSize::* size) {
  double weighted = 0;
  double total = 0;
  const auto count = static_cast<double>(largest_first.size());
  for (size_t i = 0; i < largest_first.size(); ++i) {
    const auto here = static_cast<double>(largest_first[i].*size);
    weighted += here * (count - static_cast<double>(i));
    total += here;
  }
  return total == 0 ? 0 : 2 * weighted / (count * total) - (count + 1) / count;
}

std::vector<HistogramRow> sizes_of(std::span<const PartitionSize> partitions) {
  std::map<uint64_t, uint64_t> by_bound;
  for (const PartitionSize& partition : partitions) ++by_bound[std::bit_ceil(partition.items + 1) - 1];
  std::vector<HistogramRow> rows;
  for (const auto& [bound, count] : by_bound) rows.push_back({bound, count});
  return rows;
}

}  // namespace quire::shell
