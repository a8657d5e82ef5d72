// The ids of a collection's items as an index, where the id alone is an item's key: without a partition key,
// or with /id as such. It has no entries of its own, and is of use in an OR alone, beside other indexes: each
// id in its ranges, which are those of equality, is a point read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sql/source.h"

namespace quire::sql {

// Its number; indexes count from below.
inline constexpr uint32_t kIdIndex = UINT32_MAX;

inline IndexDescription describe_id_index() {
  IndexDescription ids;
  ids.number = kIdIndex;
  ids.name = "id";
  ids.parts = {{{{"id", false}}, false}};
  return ids;
}

inline bool has_id_index(const Collection& collection) {
  const std::vector<std::string> id{"id"};
  return collection.finds_by_key() &&
         std::ranges::all_of(collection.partition_key_paths(), [&](const auto& path) { return path == id; });
}

}  // namespace quire::sql
