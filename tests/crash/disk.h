// The disk under a folder while a tape plays: what has reached it for certain, and what only may have. A
// power cut keeps the first, and of the second any part, sector by sector, in any order; of the names of
// files, as file systems keep a journal of them, any beginning.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/crash/tape.h"

namespace quire::tests {

// Which of the writes that were not waited for reach the disk.
enum class PowerCut : uint8_t {
  dropped,    // none
  torn,       // all, and of the one under way its first sectors
  reordered,  // any sectors
  kept        // all: no power cut, the process alone was killed
};
inline constexpr int kPowerCuts = 4;

// The files of the folder by name.
using FolderImage = std::map<std::string, std::string>;

class Disk {
 public:
  // A call that has ended.
  void play(const TapeEntry& entry);
  // What a power cut leaves while `entry`, the next call, is under way.
  FolderImage after_cut(const TapeEntry& entry, PowerCut cut, std::mt19937_64& random) const;

 private:
  struct Change {
    const TapeEntry* entry;
    bool is_certain;  // written to a descriptor that waits
  };
  struct File {
    std::string certain;
    std::vector<Change> pending;
  };
  void sync(File& file);

  std::map<uint64_t, File> files_;
  std::map<std::string, uint64_t> names_;        // for certain
  std::vector<const TapeEntry*> pending_names_;  // created, renamed, unlinked
};

}  // namespace quire::tests
