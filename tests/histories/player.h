// The threads of a process: players, who make transactions of every kind and write down what they see; and
// those who disturb them: containers and indexes come and go, feeds are followed, the file is opened and
// closed.
#pragma once

#include <cstdint>
#include <string>

#include "quire/quire.hpp"

namespace quire::tests {

struct PlayPlan {
  std::string path;            // of the database
  std::string history_folder;  // a file for each thread
  int process = 0;             // no two processes have one number
  int threads = 3;
  uint64_t seed = 1;
  bool has_disturbers = true;
  Durability durability = Durability::none;
};

// Makes the lists, empty.
bool lay_out_lists(const std::string& path);
// For so long; false if something failed that must not. A message says what.
bool play(const PlayPlan& plan, int64_t milliseconds);

}  // namespace quire::tests
