// How a fuzz target reports a finding: by aborting, once it has said where.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace quire::fuzz {

inline void require(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s, line %u\n", where.file_name(), static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace quire::fuzz
