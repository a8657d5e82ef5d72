// The database that is damaged: small, with one of everything that a file may hold.
#pragma once

#include <cstdint>
#include <string>

namespace quire::tests {

enum class SampleState : uint8_t {
  closed,
  left_open,  // as a process leaves it that is killed: its last commits are in the log, behind an anchor
};

// Makes it at `path`, with so many items in the largest container, at least 30. False, and the reason on
// standard error, if it cannot be made.
bool make_sample_file(const std::string& path, int items, SampleState state = SampleState::closed);

}  // namespace quire::tests
