// Who work beside the players on the same file, and must not disturb them.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "quire/quire.hpp"

namespace quire::tests {

// Makes one, who acts each time it is called: empty, or what failed.
using MakeDisturber = std::function<std::string()> (*)(Database& database, const std::string& path,
                                                       int process);
std::span<const MakeDisturber> disturbers();

}  // namespace quire::tests
