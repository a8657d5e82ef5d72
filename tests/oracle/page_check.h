// Queries of scripts page by page and at once: the pages together are what the query gives. Runs on the
// database itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace quire::sql::oracle {

// A database in memory that is used again for each seed.
class PageChecker {
 public:
  PageChecker();
  ~PageChecker();
  // What differs, for a person; nothing if all is well.
  std::optional<std::string> check(uint64_t seed);
  // Queries that ran, and those of them that had several pages.
  uint64_t run() const { return run_; }
  uint64_t paged() const { return paged_; }

 private:
  struct Shelf;
  std::unique_ptr<Shelf> shelf_;
  uint64_t run_ = 0;
  uint64_t paged_ = 0;
};

}  // namespace quire::sql::oracle
