// How much of the calling thread's stack a script may use.
#pragma once

#include "sql/error.h"

namespace quire::engine {

// The lowest address that a script's frames may reach from here; limit_exceeded where the thread's stack is
// too small to run scripts at all.
Result<unsigned char*> lowest_script_frame();

}  // namespace quire::engine
