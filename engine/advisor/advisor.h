// ADVISE: whether the model of a container will hold. One reading of its items (of a sample, above a size),
// and what the families of findings make of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/advisor/workload.h"
#include "engine/container/long_work.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

struct AdviseOptions {
  uint64_t item_limit = 2 << 20;        // of the container, in bytes
  std::span<const QueryShape> queries;  // that read the container
  WorkOptions work = {};
};

// The rows of ADVISE as JSON objects: first a summary, whose advice is "nothing to change" where nothing is
// found but notes, then the findings, the gravest first. The source gives all of it from one snapshot.
Result<std::vector<std::string>> advise(sql::Source& source, sql::Collection& collection,
                                        const AdviseOptions& options);

}  // namespace quire::engine
