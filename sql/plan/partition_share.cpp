#include "sql/plan/partition_share.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

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

// Of constant keys, each a number of expressions that follow each other.
std::optional<double> share_of_keys(std::span<const BoundExpression* const> keys, size_t components,
                                    Collection& collection) {
  constexpr size_t kMostKeys = 16;
  if (components == 0 || keys.empty() || keys.size() / components > kMostKeys) return std::nullopt;
  double share = 0;
  std::vector<Value> values(components);
  for (size_t first = 0; first + components <= keys.size(); first += components) {
    for (size_t i = 0; i < components; ++i) {
      const BoundExpression& component = *keys[first + i];
      const Value& value = values[i] = component.constant;
      if (component.kind != BoundKind::constant || value.is_undefined() || value.is_array() ||
          value.is_object())
        return std::nullopt;
    }
    const auto of_key = collection.partition_share(values);
    if (!of_key) return std::nullopt;
    share += *of_key;
  }
  return share;
}

// That of the partitions, where the statement names them by constants.
std::optional<double> known_share(const AccessPath& access, Collection& collection) {
  if (access.arm_key_size > 0) return share_of_keys(access.arm_keys, access.arm_key_size, collection);
  if (access.choices.empty())
    return share_of_keys(access.partition_key, access.partition_key.size(), collection);
  const KeyChoices& first = access.choices.front();
  if (access.choices.size() > 1 || first.are_elements) return std::nullopt;
  return share_of_keys(first.values, 1, collection);
}

}  // namespace

double items_of_partitions(const AccessPath& access, Collection& collection) {
  const auto items = static_cast<double>(collection.item_count());
  if (const auto known = known_share(access, collection)) return std::max(1.0, items * std::min(1.0, *known));
  double share = kPartitionShare;
  const size_t paths = collection.partition_key_paths().size();
  for (const IndexDescription& index : collection.indexes()) {
    if (leading_partition_parts(index, collection) < paths) continue;
    const auto known = collection.index_statistics(index.number);
    if (known && known->distinct.size() >= paths) share = 1 / std::max(known->distinct[paths - 1], 1.0);
  }
  const double keys = count_keys(access, kListedPartitions);
  return items * std::min(1.0, share * keys);
}

bool names_partition(const PlannedProbe& probe, const Collection& collection) {
  const size_t paths = collection.partition_key_paths().size();
  const size_t parts = std::min(leading_partition_parts(probe.index, collection), probe.parts.size());
  return parts >= paths && std::ranges::all_of(std::span(probe.parts).first(paths), names_values);
}

bool names_partition_alone(const PlannedProbe& probe, const Collection& collection) {
  return probe.index.condition.empty() && probe.index.holds == IndexHolds::every_item &&
         probe.parts.size() == collection.partition_key_paths().size() && names_partition(probe, collection);
}

bool names_all_values(const PlannedProbe& probe) {
  return probe.parts.size() == probe.index.parts.size() && std::ranges::all_of(probe.parts, names_values);
}

}  // namespace quire::sql
