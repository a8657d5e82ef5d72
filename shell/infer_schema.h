// What the items of a container look like, from a sample of them: .describe shows it, completion offers its
// paths.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "quire/quire.hpp"

namespace quire::shell {

struct PathFacts {
  std::string path;                       // "address.city", "tags[]"
  std::map<std::string, uint64_t> types;  // "string": how often
  uint64_t items = 0;                     // that have it
  std::string example;                    // JSON of the first
};

struct InferredSchema {
  uint64_t items = 0;            // looked at
  std::vector<PathFacts> paths;  // in order of first appearance
};

Result<InferredSchema> infer_schema(Container& container, uint64_t most_items);

}  // namespace quire::shell
