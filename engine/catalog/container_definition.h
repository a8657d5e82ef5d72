// What a container is: its name, its partition key and whatever else Cosmos's JSON says about it.
//
//   {"id": "readings", "partitionKey": {"paths": ["/deviceId"], "kind": "Hash", "version": 2}, "defaultTtl":
//   -1,
//    "itemLimit": 2097152, ...}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/error.h"

namespace quire::engine {

inline constexpr size_t kMostPartitionKeyPaths = 3;
inline constexpr uint64_t kDefaultItemLimit = uint64_t{2} << 20;
inline constexpr uint64_t kHighestItemLimit = uint64_t{64} << 20;
inline constexpr size_t kLongestContainerName = 255;
inline constexpr int64_t kHighestThroughput = 1'000'000;  // what Azure gives without a request for more
inline constexpr int64_t kLongestTtl = 2'147'483'647;     // seconds

struct ContainerDefinition {
  std::string name;
  // Each path as its property names: "/address/zip" is {"address", "zip"}. Empty: no partition key.
  std::vector<std::vector<std::string>> partition_key_paths;
  uint64_t item_limit_bytes = kDefaultItemLimit;
  // The other members of the JSON as given, in their order: name and JSON text.
  std::vector<std::pair<std::string, std::string>> other_properties;

  // Errors: invalid_json, invalid_definition (naming the property and what it should be).
  static Result<ContainerDefinition> from_json(std::string_view json);
  // A definition with these paths ("/deviceId"; `\"` quoting as Cosmos has it: /"a/b"), checked alike.
  static Result<ContainerDefinition> make(std::string_view name, const std::vector<std::string>& paths = {});

  // Compact Cosmos JSON: id, partitionKey (if any), itemLimit (if not the default), then the others.
  std::string to_json() const;

  friend bool operator==(const ContainerDefinition&, const ContainerDefinition&) = default;
};

// Of "defaultTtl": seconds, -1 for no end, 0 where it is off (absent or null). invalid_definition.
Result<int64_t> default_ttl_from_json(std::string_view json);
Result<int64_t> default_ttl_of(const ContainerDefinition& definition);
// Of "throughput": request units a second, 0 for no limit (absent or null). invalid_definition.
Result<uint32_t> throughput_from_json(std::string_view json);
Result<uint32_t> throughput_of(const ContainerDefinition& definition);

// "/address/zip" of {"address", "zip"}.
std::string partition_key_path_text(const std::vector<std::string>& path);

}  // namespace quire::engine
