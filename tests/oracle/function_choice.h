// Which functions random expressions call.
#pragma once

#include "sql/functions/function.h"
#include "tests/oracle/choices.h"

namespace quire::sql::oracle {

// One of the table of functions, whose results an interpreter can tell.
const Function& any_function(Choices& choices);
bool is_of_dates(const Function& function);
// A date, or the name of a part of one, as SQL.
std::string date_or_part(Choices& choices);

}  // namespace quire::sql::oracle
