// Statements that change items, once in a database and once over lists of documents: the naive interpreter
// says what items a statement makes or takes away, and a few lines here write them down. Both must end with
// the same items, or both refuse.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace quire::sql::oracle {

// A database in memory that is used again for each seed.
class ChangeChecker {
 public:
  ChangeChecker();
  ~ChangeChecker();
  // What differs, for a person; nothing if all is well.
  std::optional<std::string> check(uint64_t seed);
  // Statements that ran, and those of them that changed something.
  uint64_t run() const { return run_; }
  uint64_t effective() const { return effective_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  uint64_t run_ = 0;
  uint64_t effective_ = 0;
};

}  // namespace quire::sql::oracle
