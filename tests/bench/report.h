// The measurements of all rounds: their medians, the ratios, the table and the JSON.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/work.h"

namespace quire::bench {

struct Row {
  const Work* work;
  std::vector<double> quire, lmdb, sqlite;  // one figure for each round; empty: no such work
};

void print_table(const std::vector<Row>& rows);
void write_json(const std::vector<Row>& rows, const std::string& path);

}  // namespace quire::bench
