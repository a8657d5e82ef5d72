// The database that is damaged: small, with one of everything that a file may hold.
#pragma once

#include <string>

namespace quire::tests {

// Makes it at `path`, with so many items in the largest container, at least 30. False, and the reason on
// standard error, if it cannot be made.
bool make_sample_file(const std::string& path, int items);

}  // namespace quire::tests
