#include "sql/plan/partition_share.h"

#include <algorithm>
#include <span>

namespace quire::sql {
namespace {

constexpr double kListedPartitions = 10;  // of a list that the query is given

bool names_values(const std::vector<IndexBound>& bounds) {
  return bounds[0].names_values();
}

// How many leading parts of an index are parts of the partition key.
size_t leading_partition_parts(const IndexDescription& index, const Collection& collection) {
  const auto is_step = [](const IndexStep& step, const std::string& name) {
    return !step.is_element && step.name == name;
  };
  const auto is_partition_key = [&](const IndexPart& part) {
    return std::ranges::any_of(collection.partition_key_paths(), [&](const std::vector<std::string>& path) {
      return std::ranges::equal(part.path, path, is_step);
    });
  };
  return static_cast<size_t>(std::ranges::find_if_not(index.parts, is_partition_key) - index.parts.begin());
}

}  // namespace

double items_of_partitions(const AccessPath& access, Collection& collection) {
  double share = kPartitionShare;
  const size_t paths = collection.partition_key_paths().size();
  for (const IndexDescription& index : collection.indexes()) {
    if (leading_partition_parts(index, collection) < paths) continue;
    const auto known = collection.index_statistics(index.number);
    if (known && known->distinct.size() >= paths) share = 1 / std::max(known->distinct[paths - 1], 1.0);
  }
  const double keys = count_keys(access, kListedPartitions);
  return static_cast<double>(collection.item_count()) * std::min(1.0, share * keys);
}

bool names_partition(const PlannedProbe& probe, const Collection& collection) {
  const size_t paths = collection.partition_key_paths().size();
  const size_t parts = std::min(leading_partition_parts(probe.index, collection), probe.parts.size());
  return parts >= paths && std::ranges::all_of(std::span(probe.parts).first(paths), names_values);
}

bool names_all_values(const PlannedProbe& probe) {
  return probe.parts.size() == probe.index.parts.size() && std::ranges::all_of(probe.parts, names_values);
}

}  // namespace quire::sql
