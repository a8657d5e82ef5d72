// A program may be started with its standard input, output or error output closed, as daemons are. The next
// file that it opens gets that number, and what it prints would be written into it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace quire::engine {

// Before a file is opened. What stands in their place can be read alone, so that who prints is told.
inline void occupy_standard_descriptors() noexcept {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // The lowest that is free, unless another thread was faster.
    const int opened = ::open("/dev/null", O_RDONLY);
    if (opened > STDERR_FILENO) ::close(opened);
  }
}

}  // namespace quire::engine
