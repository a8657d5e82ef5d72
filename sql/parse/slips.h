// Common slips, by the tokens around the one that the grammar does not take: what to write instead.
#pragma once

#include <string>

#include "sql/parse/syntax_error.h"

namespace quire::sql {

// Empty if the place looks like no slip that is known.
std::string find_slip(const UnexpectedToken& unexpected);

}  // namespace quire::sql
