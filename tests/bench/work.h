// A work: one row of the benchmark's table, done by each side over the same readings. To add one, write its
// functions in *_side.cpp and a row in work.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/readings.h"

namespace quire::bench {

enum class SqliteLayout { rowid, without_rowid };
// How SQLite keeps an item: as text, or, from 3.45 on, in a binary form of its own.
enum class SqliteJson { text, jsonb };

// What all works share: the folder, the readings, and the files that the import of each side left there.
struct Fixture {
  std::string folder;
  std::string shell;  // the quire program
  const Readings& readings;
  std::vector<ReadingKey> probes;  // for point reads
  std::optional<SqliteLayout> forced_layout;
  SqliteJson sqlite_json = SqliteJson::text;

  mutable std::map<std::string, uint64_t, std::less<>> uses = {};  // of files by new_file_once

  // The path of a file in the folder, removed if it is there.
  std::string new_file(std::string_view name) const {
    std::string path = fmt::format("{}/{}", folder, name);
    for (const char* suffix : {"", "-lock", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
    return path;
  }
  // The same for a file that is made once a run and then used again: removed at the first call.
  std::string new_file_once(std::string_view name) const {
    return uses[std::string(name)]++ == 0 ? new_file(name) : fmt::format("{}/{}", folder, name);
  }
  // How often new_file_once has been asked for it.
  uint64_t uses_of(std::string_view name) const {
    const auto found = uses.find(name);
    return found == uses.end() ? 0 : found->second;
  }

  std::string quire_file() const { return folder + "/readings.quire"; }
  std::string lmdb_file() const { return folder + "/readings.lmdb"; }
  std::string sqlite_file(SqliteLayout layout) const {
    return fmt::format("{}/readings{}{}.sqlite", folder,
                       layout == SqliteLayout::rowid ? "" : "-without-rowid", json_suffix());
  }
  // In the names of the files whose content depends on it.
  std::string_view json_suffix() const { return sqlite_json == SqliteJson::text ? "" : "-jsonb"; }
};

// One measurement. Answers of the sides must be equal; empty: there is nothing to compare.
struct Sample {
  double figure = 0;
  std::string answer;
};
using Side = std::function<Sample(const Fixture&)>;

struct Work {
  std::string_view name;
  std::string_view unit;
  bool more_is_better;
  Side quire;
  Side lmdb;    // none: LMDB has no such work
  Side sqlite;  // none: SQLite has no such work
  Side duckdb = {};
  bool is_of_growth = false;  // measured at several sizes by --growth
};
std::span<const Work> works();

// What a sorted query gave, to be compared: rows of equal values may come in any order.
class OrderedRows {
 public:
  void add(std::string_view id, double value) {
    ++count_;
    id_bytes_ += id.size();
    digest_ = digest_ * 31 + static_cast<uint64_t>(std::llround(value * 100));
  }
  std::string answer() const { return fmt::format("{} {} {}", count_, id_bytes_, digest_); }

 private:
  uint64_t count_ = 0;
  uint64_t id_bytes_ = 0;
  uint64_t digest_ = 0;
};

// (0.000, 5.000, ...): half a megabyte of 40,000 numbers.
std::string long_list();

// Seconds that `act` takes.
template <typename Act>
double seconds_of(Act act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// How long a rate is measured at least: --seconds. Set before the first work.
inline double seconds_of_a_rate = 0.4;

// How many of the `count` things that `act` does it does in a second, with warm caches: once unmeasured, then
// as often as it takes for a steady figure.
template <typename Act>
double rate_of(uint64_t count, Act act) {
  act();
  double seconds = 0;
  uint64_t done = 0;
  while (seconds < seconds_of_a_rate) {
    seconds += seconds_of(act);
    done += count;
  }
  return static_cast<double>(done) / seconds;
}

// Milliseconds that `act` takes once everything is warm: the least of some runs.
template <typename Act>
double least_milliseconds_of(Act act) {
  constexpr int kRuns = 20;
  double least = seconds_of(act);
  for (int run = 1; run < kRuns; ++run) least = std::min(least, seconds_of(act));
  return least * 1e3;
}

}  // namespace quire::bench
