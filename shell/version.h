// What `--version` and `.version` say.
#pragma once

#include <string>

namespace quire::shell {

// "quire 0.1.0 (commit 1a2b3c4)" and a line for each library.
std::string version_text();

}  // namespace quire::shell
