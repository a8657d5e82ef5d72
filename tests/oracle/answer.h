// What a database says to a statement, as text to compare.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "quire/quire.hpp"
#include "tests/oracle/generator.h"

namespace quire::sql::oracle {

struct Answer {
  // As JSON, without system properties, in which any two databases differ.
  std::vector<std::string> rows;
  std::string error;  // empty: none
  bool is_out_of_time = false;
};

// Binds those of the parameters that the statement has.
Answer ask(Database& database, const std::string& sql, std::span<const Parameter> parameters = {});

}  // namespace quire::sql::oracle
