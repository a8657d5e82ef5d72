#pragma once

#include <string>

namespace quire::tests {

// Makes the file look as if the machine had been started again since it was written to: where an anchor is
// set (engine/file/anchor.h), it is of another boot. Nobody may have the file open.
void as_after_restart(const std::string& path);

}  // namespace quire::tests
