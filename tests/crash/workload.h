// What a writer does to a database: a sequence of steps of every kind, drawn from a seed, that is the same
// whoever takes it up, and what each of them makes of the writer's containers. Every step is atomic: after a
// crash a container is as it was before it, or after it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "quire/quire.hpp"

namespace quire::tests {

// A map for the run to begin with, in bytes: it has to grow, several times.
inline constexpr uint64_t kSmallMap = uint64_t{1} << 20;

// What a writer's containers hold.
struct Holdings {
  struct Item {
    int64_t n = 0;
    std::string text;
  };
  std::map<std::pair<int, std::string>, Item> items;  // by partition and id
  std::optional<int> scratch;                         // items of a container that comes and goes
  bool has_index = false;
  bool indexes_all = false;
  bool expires = false;
  bool keeps_versions = false;
  int function = 0;          // which version of it there is
  bool has_ballast = false;  // all of it; a part of it is none

  // Two that are equal have one fingerprint; so has a database that holds them.
  uint64_t fingerprint(int writer) const;
};

// The same of a database; an error's message in its place.
struct Found {
  uint64_t fingerprint = 0;
  std::string failure;
};
Found look_for_holdings(Database& database, int writer);

// What a step works with.
struct Desk {
  Database& database;
  Container items;
  int writer;
  std::string folder;  // for backups
};
Result<Desk> open_desk(Database& database, int writer, std::string folder);

struct Step {
  std::string what;
  bool is_backup;
  std::function<Result<void>(Desk&)> run;
};
// Changes the holdings as the writer's step of this number does.
Step next_step(Holdings& holdings, uint64_t seed, int writer, uint64_t number);

// Makes the containers of the writers.
Result<void> lay_out(Database& database, int writers);

// The backup that a writer's last such step has made.
std::string backup_path(const std::string& folder, int writer);

}  // namespace quire::tests
