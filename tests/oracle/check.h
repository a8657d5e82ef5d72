// One case: engine against interpreter, and the engine against itself by what holds of any predicate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/generator.h"

namespace quire::sql::oracle {

struct Failure {
  std::string query;
  std::string message;  // what each gave
};

struct Verdict {
  bool has_run = false;       // false: the query does not mean anything, and both say so
  bool is_reordered = false;  // its sources meet in another order than the written one
  std::optional<Failure> failure;
};

Verdict check(const Case& made);

// The case of a seed; if it fails, a small one that fails as well, with its documents.
struct Finding {
  Case made;
  Failure failure;
};
struct Outcome {
  bool has_run = false;
  bool is_reordered = false;
  std::optional<Finding> finding;
};
Outcome check_seed(uint64_t seed);

// For a person: documents, query, results.
std::string report(const Finding& finding);

}  // namespace quire::sql::oracle
