// A work of every kind, call by call, through the C functions. Each step is one whole: where it fails it has
// changed nothing, and can be taken again.
#pragma once

#include <span>
#include <string>

#include "quire/quire.h"

namespace quire::tests {

// What the steps work with: it allocates nothing of its own while they run.
struct Bench {
  std::string path;
  std::string backup_path;
  std::string recovered_path;
  quire_durability durability = QUIRE_NONE;
  quire_database* database = nullptr;
  quire_container* items = nullptr;
  quire_feed* feed = nullptr;
  quire_buffer out = {};
  bool may_be_open = false;  // a transaction of BEGIN

  ~Bench();
  // Closes what is open; steps may go on after open_again.
  void close() noexcept;
  int open_again(quire_error* error) noexcept;
};

struct WorkStep {
  const char* what;  // the statement itself where it is one
  int (*run)(Bench& bench, const WorkStep& step, quire_error* error);
};
std::span<const WorkStep> work_steps();

// Why the database is not as all steps leave it; empty: it is.
std::string fault_of_work(const Bench& bench);

}  // namespace quire::tests
