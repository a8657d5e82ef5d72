// The same queries over the same items with and without indexes: results never depend on them. Runs on the
// database itself, since the interpreter's documents have no indexes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace quire::sql::oracle {

// Two databases in memory that are used again for each seed.
class IndexChecker {
 public:
  IndexChecker();
  ~IndexChecker();
  // What differs, for a person; nothing if all is well.
  std::optional<std::string> check(uint64_t seed);
  // Queries that ran, and those of them whose plan used an index.
  uint64_t run() const { return run_; }
  uint64_t indexed() const { return indexed_; }

 private:
  struct Databases;
  std::unique_ptr<Databases> databases_;
  uint64_t run_ = 0;
  uint64_t indexed_ = 0;
};

}  // namespace quire::sql::oracle
