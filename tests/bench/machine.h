#pragma once

#include <string>

namespace quire::bench {

// The machine and the libraries in one line, without which the figures say nothing.
std::string machine_line();

}  // namespace quire::bench
