// How many items each partition of a container has, and how even that is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quire/quire.hpp"
#include "shell/bars.h"

namespace quire::shell {

struct PartitionSize {
  std::string key;  // JSON: an array of the key's components
  uint64_t items = 0;
  uint64_t bytes = 0;  // of the items' JSON, if it was asked for
};

// By items, the largest first.
Result<std::vector<PartitionSize>> partitions_by_items(Container& container,
                                                       const std::vector<std::string>& paths);
// By bytes, the largest first; reads all that the items hold.
Result<std::vector<PartitionSize>> partitions_by_bytes(Container& container,
                                                       const std::vector<std::string>& paths);

// 0 where all are equal, towards 1 where one has everything.
double gini(std::span<const PartitionSize> largest_first, uint64_t PartitionSize::* size);

// How many partitions have so many items.
std::vector<HistogramRow> sizes_of(std::span<const PartitionSize> partitions);

}  // namespace quire::shell
