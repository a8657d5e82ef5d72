// Functions of other databases, and what does the same here: for the error where one is called.
#pragma once

#include <string_view>

namespace quire::sql {

// What to write instead of a call of `name`, in any case; empty if it is no function that is known elsewhere.
std::string_view instead_of_foreign_function(std::string_view name) noexcept;

}  // namespace quire::sql
