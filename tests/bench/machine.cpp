#include "tests/bench/machine.h"

#include <fmt/format.h>
#include <lmdb.h>
#include <sqlite3.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "quire/quire.h"
#include "tests/bench/duckdb_library.h"

namespace quire::bench {
namespace {

std::string processor() {
  std::ifstream facts("/proc/cpuinfo");
  constexpr std::string_view kRow = "model name";
  for (std::string line; std::getline(facts, line);)
    if (line.starts_with(kRow) && line.contains(": ")) return line.substr(line.find(": ") + 2);
  return "a processor";
}

double memory_in_gigabytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE)) / 1e9;
}

}  // namespace

std::string machine_line() {
  utsname system{};
  uname(&system);
  int major = 0, minor = 0, patch = 0;
  mdb_version(&major, &minor, &patch);
  const std::string duckdb = duckdb_version();
  return fmt::format("{}, {} cores, {:.0f} GB, {} {}; Quire {}, LMDB {}.{}.{}, SQLite {}{}{}", processor(),
                     std::thread::hardware_concurrency(), memory_in_gigabytes(), system.sysname,
                     system.release, quire_version(), major, minor, patch, sqlite3_libversion(),
                     duckdb.empty() ? "" : ", DuckDB ", duckdb);
}

}  // namespace quire::bench
