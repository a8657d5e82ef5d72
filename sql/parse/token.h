// A token of the query text: its kind (a TOKEN_ number of the generated grammar.h) and where it stands. What
// it means (a string without its escapes, a number's value) is worked out only by the action that needs it.
#pragma once

#include <cstdint>
#include <string_view>

namespace quire::sql {

// Trivial, since it is a member of the parser's union of semantic values.
struct Token {
  int kind;
  uint32_t offset;
  uint32_t length;

  uint32_t end() const noexcept { return offset + length; }
  std::string_view text(std::string_view source) const noexcept { return source.substr(offset, length); }
};

}  // namespace quire::sql
