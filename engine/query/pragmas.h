// PRAGMA: settings of a database that statements read and change, and work that they ask for. A new one is a
// row of the table in pragmas.cpp.
#pragma once

#include <string>

#include "engine/query/session.h"
#include "sql/error.h"
#include "sql/parse/ast.h"

namespace quire::engine {

// The setting as JSON, after the change if there is one. unresolved_name, invalid_argument.
Result<std::string> run_pragma(Session& session, const sql::Pragma& pragma);

}  // namespace quire::engine
