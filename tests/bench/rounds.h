// The rounds of a run: each does every work on each side, and each begins with another side, since whoever is
// first meets memory and a disk that are not warm yet.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/bench/report.h"
#include "tests/bench/work.h"

namespace quire::bench {

struct Wanted {
  std::set<std::string> names;  // none: all
  bool growth = false;          // the works of growth alone
  bool has_jsonb = false;       // SQLite's library knows JSONB
  bool has_duckdb = false;

  bool takes(const Work& work) const {
    return growth ? work.is_of_growth : names.empty() || names.contains(std::string(work.name));
  }
};

std::vector<Comparison> run_rounds(const Fixture& fixture, const Wanted& wanted, size_t rounds);

}  // namespace quire::bench
