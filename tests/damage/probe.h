// What is done with a damaged file: whatever a program may do with one.
#pragma once

#include <string>

namespace quire::tests {

// Opens, checks, reads, writes, closes, and salvages into a file beside it. Errors are no failure; one
// without a message is, and is told on standard error.
bool probe_file(const std::string& path, bool is_trusted);

}  // namespace quire::tests
