// The parts of a container's definition that say what is indexed, in Cosmos's JSON: indexingPolicy,
// uniqueKeyPolicy, and "indexes", which CREATE INDEX fills.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

// The service's limits.
inline constexpr size_t kMostPolicyPatterns = 1500;  // included; excluded likewise
inline constexpr size_t kMostCompositeIndexes = 100;
inline constexpr size_t kMostIndexParts = 8;
inline constexpr size_t kMostUniqueKeys = 10;
inline constexpr size_t kMostUniqueKeyPaths = 16;

// "/a/b/?": the scalar there; "/a/*": each scalar there and below.
struct PathPattern {
  std::vector<sql::IndexStep> steps;
  bool is_subtree = false;
  friend bool operator==(const PathPattern&, const PathPattern&) = default;
};

struct IndexingPolicy {
  bool is_none = false;  // indexingMode "none"
  std::vector<PathPattern> included;
  std::vector<PathPattern> excluded;
  std::vector<std::vector<sql::IndexPart>> composites;  // but for those over elements of arrays
  bool has_tuple_of_paths = false;                      // as policy_path.h has it

  // invalid_definition, naming the member and what it should be.
  static Result<IndexingPolicy> from_json(std::string_view json);

  // Whether a scalar at this path is indexed: the longest pattern that matches decides.
  bool covers(std::span<const sql::IndexStep> path) const noexcept;
};

// What from_json lets pass in a policy that a file holds, and a new one may not have.
Result<void> check_new_policy(std::string_view json);

// The paths of each unique key.
Result<std::vector<std::vector<sql::IndexPart>>> unique_keys_from_json(std::string_view json);

// CREATE [UNIQUE] INDEX, as a member of "indexes".
struct NamedIndex {
  std::string name;
  std::vector<sql::IndexPart> parts;
  bool is_unique = false;
  std::string condition;  // of WHERE, as sql/plan/index_condition.h has it; empty: none
};
Result<std::vector<NamedIndex>> named_indexes_from_json(std::string_view json);
std::string named_indexes_to_json(std::span<const NamedIndex> indexes);

// "/location/city", "/tags/[]", /"odd name".
std::string index_path_text(std::span<const sql::IndexStep> path);

}  // namespace quire::engine
