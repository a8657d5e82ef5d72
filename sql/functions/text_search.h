// Where one string occurs in another, in time that grows with the sum of their lengths, whatever they hold.
#pragma once

#include <cstddef>
#include <string_view>

#include "sql/value/arena.h"

namespace quire::sql {

constexpr size_t kNotFound = std::string_view::npos;

// The byte offset of the first occurrence at or after `from`, or kNotFound. An empty needle occurs
// everywhere.
size_t find_first(std::string_view text, std::string_view needle, size_t from = 0) noexcept;
inline bool contains(std::string_view text, std::string_view needle) noexcept {
  return find_first(text, needle) != kNotFound;
}

// The byte offset of the last occurrence, or kNotFound. May allocate in `arena`.
size_t find_last(std::string_view text, std::string_view needle, Arena& arena);

}  // namespace quire::sql
