// Which process has a file open, for another copy of this library in it: two plug-ins, say, that bring one
// each. Neither knows what the other has open, and fcntl's locks are a process's: a close of the lock file by
// one drops those by which other processes see that the other reads and writes. Processes of two containers
// that have the same number are alike to LMDB, too: who closes the file clears the other's readers. Internal
// to engine/file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sql/error.h"

namespace quire::engine {

// Held as long as the file is open; its descriptor has to outlive it.
class ProcessMark {
 public:
  ProcessMark() = default;
  // Before the lock file is touched. misuse where another copy has the file open.
  static Result<ProcessMark> set(int descriptor, const std::string& path);
  ProcessMark(ProcessMark&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ProcessMark& operator=(ProcessMark&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~ProcessMark();

  // Whether another process, of that number, has the file open; true, too, where that cannot be known.
  bool is_set_by(uint32_t process) const noexcept;

 private:
  explicit ProcessMark(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace quire::engine
