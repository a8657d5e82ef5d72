// Whether a database is as it may be: it opens, CHECK finds nothing, and each writer's containers are in one
// of the states that they may be in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire::tests {

// What may be found of a writer: any of these fingerprints.
struct MayHold {
  int writer;
  std::vector<uint64_t> fingerprints;
};

enum class Look : uint8_t {
  read,             // leaves the file as it is
  write_afterwards  // and then it takes a write, and is right after that
};

// Why it is not; empty: it is. `may_hold` empty: nothing was promised but that it opens.
std::string fault_of_file(const std::string& path, const std::vector<MayHold>& may_hold, Look look);

}  // namespace quire::tests
