// One reading of a container: every item's size, partition key and time; the insides of a sample. What the
// findings are made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/advisor/copy_survey.h"
#include "engine/advisor/partition_survey.h"
#include "engine/advisor/path_survey.h"
#include "engine/advisor/reference_survey.h"
#include "engine/advisor/shape_survey.h"
#include "engine/container/long_work.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

struct SurveyOptions {
  // Of more items than this every second, third, ... is looked into.
  uint64_t most_sampled_items = 20'000;
  uint64_t item_limit = 2 << 20;  // bytes
  WorkOptions work = {};          // it tells how many items it has read
};

// The share of the item limit from which an item is near it.
inline constexpr double kNearLimit = 0.5;

struct ContainerSurvey {
  std::string container;
  std::vector<std::string> partition_key_paths;  // "/a/b"
  uint64_t items = 0;
  Tally bytes;                     // of the items
  std::vector<LongArray> largest;  // items by bytes, the largest first
  uint64_t items_near_limit = 0;   // past kNearLimit of it
  uint64_t longest_id = 0;
  ItemName item_with_longest_id;
  PartitionSurvey partitions;

  uint64_t sampled_items = 0;
  double sampled_bytes = 0;
  PathSurvey paths;
  CopySurvey copies;
  ShapeSurvey shapes;
  ReferenceSurvey references;
  std::vector<std::string> containers;  // by their number in the references
  bool has_creation_times = false;

  bool is_sampled() const noexcept { return sampled_items < items; }
};

// Errors of storage; interrupted.
Result<ContainerSurvey> survey(sql::Source& source, sql::Collection& collection,
                               const SurveyOptions& options);

}  // namespace quire::engine
