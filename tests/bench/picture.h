#pragma once

#include <string>

#include "tests/bench/report.h"

namespace quire::bench {

// An SVG: for each work how many times SQLite's figure Quire's is, as a bar on a logarithmic scale, with
// marks for LMDB and DuckDB; below it, of works measured at several sizes, how their figures grow.
void write_picture(const Report& report, const std::string& path);

}  // namespace quire::bench
