// What a test puts into a file beneath the API, which is in another world of types (sql/error.h).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace quire::tests {

enum class RowsOf { meta, catalog };

// Gives each record of such a key to `change`, and writes what that leaves of it; an empty one is erased. How
// many there were. Nobody may have the file open.
size_t change_rows(const std::string& path, RowsOf table, std::string_view prefix,
                   const std::function<void(std::string& record)>& change);

// Whether scripts that were stored here are known here later, too.
bool machine_is_known();

}  // namespace quire::tests
