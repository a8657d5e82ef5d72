// The shape of a statement: what it has in common with those that differ in their literals alone.
#pragma once

#include <string>
#include <string_view>

namespace quire::sql {

constexpr size_t kLongestShape = 1000;  // bytes

// The text with ? for each literal, and one ? for a list of them, one blank between words; cut if it is
// longer than kLongestShape. Names in brackets stay: c["order"].
std::string shape_of(std::string_view text);

}  // namespace quire::sql
