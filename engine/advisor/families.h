// The families of findings: each looks at what a survey gathered and adds what it finds. Thresholds stand in
// the file of each, with their reasons.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/advisor/finding.h"
#include "engine/advisor/survey.h"
#include "engine/advisor/workload.h"

namespace quire::engine {

// What leads from the container to another, or to itself.
struct ResolvedReference {
  const ReferencePath* path = nullptr;
  size_t container = 0;  // by its number in the survey
  double share = 0;      // of the different values, those that lead to an item
};

struct Evidence {
  const ContainerSurvey& survey;
  uint64_t item_limit;
  std::span<const QueryShape> queries;  // that read the container, the most run first
  std::vector<ResolvedReference> references;
};

// find_references.cpp: the properties that are references after all, each with the container it most likely
// means.
std::vector<ResolvedReference> resolved_references(const ContainerSurvey& survey);

// find_growing_arrays.cpp: whether an array has no natural bound.
struct Growth {
  double correlation = 0;  // of length with age, -1 to 1; 0: not known
  bool has_rising_times = false;
};
std::optional<Growth> growth_of(const PathFacts& array);

// The families, each in a file of its name.
void find_growing_arrays(const Evidence& evidence, Findings& findings);
void find_large_subdocuments(const Evidence& evidence, Findings& findings);
void find_near_limits(const Evidence& evidence, Findings& findings);
void find_stale_copies(const Evidence& evidence, Findings& findings);
void find_references(const Evidence& evidence, Findings& findings);
void judge_partition_key(const Evidence& evidence, Findings& findings);
void find_better_embedded(const Evidence& evidence, Findings& findings);
void find_types(const Evidence& evidence, Findings& findings);
void judge_queries(const Evidence& evidence, Findings& findings);

}  // namespace quire::engine
