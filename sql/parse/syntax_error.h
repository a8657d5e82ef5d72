// Says what is wrong where the grammar does not take a token: the token, what could stand there, and for
// common slips what to write instead.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sql/error.h"
#include "sql/parse/token.h"

namespace quire::sql {

struct UnexpectedToken {
  std::string_view text;
  std::span<const Token> tokens;
  size_t index;                       // the one that the grammar does not take
  const std::vector<bool>& expected;  // by token number, those that it would take there
  bool strict;
};

Error describe_unexpected(const UnexpectedToken& unexpected);

}  // namespace quire::sql
