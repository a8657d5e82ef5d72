// Calls of functions by name in tests: arguments and results as JSON text, where `undefined`, `NaN` and
// `Infinity` are words of their own.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sql/functions/function.h"
#include "sql/value/json.h"

namespace quire::sql {

inline Value value_of(std::string_view text, Arena& arena) {
  if (text == "undefined") return Value::undefined();
  if (text == "NaN") return Value::real(std::numeric_limits<double>::quiet_NaN());
  if (text == "Infinity") return Value::real(std::numeric_limits<double>::infinity());
  JsonReader reader;
  Result<Value> value = reader.to_value(text, arena);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value::undefined();
}

inline std::string text_of(const Value& value) {
  if (value.is_undefined()) return "undefined";
  if (value.is_number() && std::isnan(value.as_double())) return "NaN";
  if (value.is_number() && std::isinf(value.as_double()))
    return value.as_double() > 0 ? "Infinity" : "-Infinity";
  std::string text;
  write_json(value, text);
  return text;
}

inline std::string call(std::string_view name, const std::vector<std::string>& arguments) {
  const Function* function = find_function(name);
  if (function == nullptr) return "no such function";
  const Arity arity = arity_of(*function);
  if (arguments.size() < arity.least || arguments.size() > arity.most) return "wrong arity";
  Arena arena;
  std::vector<Value> values;
  for (const std::string& argument : arguments) values.push_back(value_of(argument, arena));
  CallContext context{arena};
  return text_of(call_function(*function, context, values));
}

// A row of a table of cases.
struct CallCase {
  std::string_view function;
  std::vector<std::string> arguments;
  std::string expected;
};

inline void expect_all(const std::vector<CallCase>& cases) {
  for (const CallCase& row : cases) {
    std::string shown(row.function);
    for (const std::string& argument : row.arguments) shown += " | " + argument;
    EXPECT_EQ(call(row.function, row.arguments), row.expected) << shown;
  }
}

}  // namespace quire::sql
