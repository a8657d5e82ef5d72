// The families: each is a file that ends with the rows of its functions. function.cpp joins them to one
// table. A new family is a file, a line here and a line there.
#pragma once

#include <span>

#include "sql/functions/function.h"

namespace quire::sql {

std::span<const Function> type_functions() noexcept;
std::span<const Function> math_functions() noexcept;
std::span<const Function> integer_functions() noexcept;
std::span<const Function> string_search_functions() noexcept;
std::span<const Function> string_change_functions() noexcept;
std::span<const Function> string_convert_functions() noexcept;
std::span<const Function> pattern_functions() noexcept;
std::span<const Function> array_functions() noexcept;
std::span<const Function> array_aggregate_functions() noexcept;
std::span<const Function> set_functions() noexcept;
std::span<const Function> conditional_functions() noexcept;
std::span<const Function> date_functions() noexcept;
std::span<const Function> date_convert_functions() noexcept;
std::span<const Function> clock_functions() noexcept;
std::span<const Function> spatial_functions() noexcept;
std::span<const Function> vector_functions() noexcept;
std::span<const Function> full_text_functions() noexcept;

}  // namespace quire::sql
