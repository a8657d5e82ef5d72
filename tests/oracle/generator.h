// Random documents and queries. Queries are text, so that a failure can be pasted into the shell.
#pragma once

#include <string>
#include <vector>

#include "tests/oracle/choices.h"

namespace quire::sql::oracle {

struct Case {
  std::vector<std::string> first;   // documents of container "c", partition key /k
  std::vector<std::string> second;  // of container "d", no partition key
  std::string query;
  // From and predicate of the query once more, for what must hold of any predicate.
  std::string from;
  std::string predicate;
};

Case make_case(Choices& choices);

}  // namespace quire::sql::oracle
