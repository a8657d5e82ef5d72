// Doubles as integers, without undefined behaviour: a cast of a double that the integer cannot hold has none.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "sql/value/value.h"

namespace quire::sql {

// The whole part of a double, if int64 can hold it; nothing for NaN, infinities and beyond.
inline std::optional<int64_t> truncate_to_integer(double real) noexcept {
  constexpr double bound = 9223372036854775808.0;  // 2^63
  if (!(real >= -bound && real < bound)) return std::nullopt;
  return static_cast<int64_t>(real);
}

// The integer that a double is, if it is one within int64.
inline std::optional<int64_t> integer_from(double real) noexcept {
  const std::optional<int64_t> whole = truncate_to_integer(real);
  return whole && static_cast<double>(*whole) == real ? whole : std::nullopt;
}

// The value of a parameter of type i, whose check has passed.
inline int64_t integer_argument(const Value& argument) noexcept {
  return argument.kind() == Kind::integer ? argument.as_integer() : static_cast<int64_t>(argument.as_real());
}

// The value of a parameter of type c, whose check has passed: past int64, the end of int64 that lies there.
inline int64_t count_argument(const Value& argument) noexcept {
  if (argument.kind() == Kind::integer) return argument.as_integer();
  const double real = argument.as_real();
  return truncate_to_integer(real).value_or(real < 0 ? INT64_MIN : INT64_MAX);
}

// A number without its fraction; nothing if int64 cannot hold it.
inline std::optional<int64_t> truncated_argument(const Value& number) noexcept {
  return number.kind() == Kind::integer ? std::optional(number.as_integer())
                                        : truncate_to_integer(number.as_real());
}

}  // namespace quire::sql
