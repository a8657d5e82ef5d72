// Whether the rows of a query are those that a case expects (the rules of ../shared/conformance/README.md).
#pragma once

#include <string>
#include <vector>

#include "sql/value/value.h"

namespace quire::conformance {

struct Expectation {
  std::vector<sql::Value> rows;
  bool ordered = false;
  bool unordered_arrays = false;
  std::string order_key;        // only this key's order counts
  double tolerance = 1e-12;     // relative, for doubles
  bool ids_were_added = false;  // by the runner: an id that the case does not expect is passed over
};

bool matches(const std::vector<sql::Value>& rows, const Expectation& expected);

}  // namespace quire::conformance
