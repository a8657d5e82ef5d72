// The most anonymous memory that a process of its own holds while it imports, and while it scans; mapped
// pages of files aside. The child is this program, told by --watched.
#include "tests/bench/child_process.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

Sample megabytes(const Fixture& fixture, const std::string& watched) {
  const uint64_t peak =
      peak_anonymous_memory_of({"/proc/self/exe", "--dir", fixture.folder, "--watched", watched});
  return {static_cast<double>(peak) / 1e6, {}};
}

}  // namespace

Sample quire_memory_import(const Fixture& fixture) {
  return megabytes(fixture, "import");
}
// Of the file that the import before it leaves.
Sample quire_memory_scan(const Fixture& fixture) {
  megabytes(fixture, "import");
  return megabytes(fixture, "scan");
}

}  // namespace quire::bench
