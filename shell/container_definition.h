// A container's definition as the shell needs it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quire/quire.hpp"

namespace quire::shell {

// The paths of the container's partition key ("/deviceId"), none where it has none; nothing if there is no
// such container.
Result<std::optional<std::vector<std::string>>> partition_key_of(const Database& database,
                                                                 std::string_view name);

// A query that is the shell's own, not the user's: `.advise` does not count it among what is asked of the
// container. Its items come without what the database sets.
Result<Statement> prepare_own(Container& container, std::string_view sql);

// "/address/zip" as an expression on `c`: c["address"]["zip"].
std::string expression_of(std::string_view path);

// The properties that the database sets and nobody else.
bool is_system_property(std::string_view name);

}  // namespace quire::shell
