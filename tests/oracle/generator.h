// Random documents and queries. Queries are text, so that a failure can be pasted into the shell.
#pragma once

#include <string>
#include <vector>

#include "tests/oracle/choices.h"

namespace quire::sql::oracle {

struct Parameter {
  std::string name;  // without @
  std::string json;
};

struct Case {
  std::vector<std::string> first;   // documents of container "c", partition key /k
  std::vector<std::string> second;  // of container "d", no partition key
  std::string query;
  // From and predicate of the query once more, for what must hold of any predicate.
  std::string from;
  std::string predicate;
  std::vector<Parameter> parameters;  // of the query and of the predicate
};

// Statements that change items, one after the other.
struct ChangeCase {
  std::vector<std::string> first;
  std::vector<std::string> second;
  std::vector<std::string> statements;
  std::vector<Parameter> parameters;  // of all of them
};

Case make_case(Choices& choices);
ChangeCase make_changes(Choices& choices);

}  // namespace quire::sql::oracle
