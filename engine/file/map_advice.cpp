#include "engine/file/map_advice.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace quire::engine {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

// The file holds one number, or "max".
uint64_t limit_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t limit = 0;
  return file >> limit ? limit : kNoLimit;
}

// Of a group and those that it lies in. A path that is not mounted here is that of the host: what is mounted
// is the container's then.
uint64_t limit_of(const std::string& mounted, std::string_view group, std::string_view file) {
  uint64_t least = kNoLimit;
  for (;;) {
    least = std::min(least, limit_in(fmt::format("{}{}/{}", mounted, group, file)));
    const size_t slash = group.rfind('/');
    if (slash == std::string_view::npos) return least;
    group = group.substr(0, slash);
  }
}

std::string contents(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void advise(const char* begin, size_t bytes, int advice) noexcept {
  const size_t before = reinterpret_cast<uintptr_t>(begin) % static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  (void)::madvise(const_cast<char*>(begin) - before, bytes + before, advice);
}

}  // namespace

uint64_t memory_limit(const std::string& membership, const std::string& mounted) {
  uint64_t least = kNoLimit;
  std::istringstream lines(membership);
  // NUMBER:CONTROLLERS:GROUP, without controllers in version 2.
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, limit_of(mounted, group, "memory.max"));
    if (controllers.contains(",memory,"))
      least = std::min(least, limit_of(mounted + "/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

uint64_t half_of_memory() {
  static const uint64_t half = [] {
    const uint64_t machine =
        static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    return std::min(machine, memory_limit(contents("/proc/self/cgroup"), "/sys/fs/cgroup")) / 2;
  }();
  return half;
}

void read_exactly(const char* map, size_t bytes) noexcept {
  advise(map, bytes, MADV_RANDOM);
}

void read_ahead(const char* map, size_t bytes) noexcept {
  advise(map, bytes, MADV_NORMAL);
}

bool has_waited_for_disk() noexcept {
  constexpr unsigned kLooksBelieved = 64;
  thread_local unsigned left = 0;
  thread_local long known_waits = 0;
  if (left > 0) {
    --left;
    return true;
  }
  rusage usage;
  if (::getrusage(RUSAGE_THREAD, &usage) != 0 || usage.ru_majflt == known_waits) return false;
  known_waits = usage.ru_majflt;
  left = kLooksBelieved;
  return true;
}

void ask_disk_for(const char* begin, size_t bytes) noexcept {
  advise(begin, bytes, MADV_WILLNEED);
}

}  // namespace quire::engine
