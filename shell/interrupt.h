// Ctrl-C: ends the statement or import that is running, or the line being typed, and leaves the session open.
// Where there is neither, in a script that waits for input, it ends the program as it would any other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "quire/quire.hpp"

namespace quire::shell {

// At a prompt Ctrl-C while nothing runs does not end the program.
void catch_interrupts(bool has_prompt);

// Whether Ctrl-C was pressed since the last call of forget_interrupt().
bool is_interrupted();
void forget_interrupt();

// As read(), which Ctrl-C ends where nothing has come: -1 with errno EINTR.
int64_t read_until_interrupted(int descriptor, char* buffer, size_t capacity);

// While it lives, Ctrl-C interrupts what runs on the database, or what has none and asks is_interrupted().
// One at a time.
class Interruptible {
 public:
  Interruptible();
  explicit Interruptible(const Database& database);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

}  // namespace quire::shell
