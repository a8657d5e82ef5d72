// One equality, one order, one hash, used by the operators of the language, DISTINCT, GROUP BY, ORDER BY,
// hash joins and functions alike (DIALECT.md 3).
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <optional>

#include "sql/value/value.h"

namespace quire::sql {

// Deep equality: 1 equals 1.0, the order of an object's members does not matter, that of an array's does.
// undefined equals undefined and NaN equals NaN (for keys of DISTINCT and GROUP BY; the operator = looks for
// these first). Members and elements that are undefined count as absent from an object, present in an array.
bool deep_equal(const Value& a, const Value& b) noexcept;

// Whether the operator = finds nothing equal to a value, itself included: what tables of values that stand
// for = leave out.
inline bool equals_nothing(const Value& value) noexcept {
  return value.is_undefined() || (value.kind() == Kind::real && std::isnan(value.as_real()));
}

// Equal values hash alike. The keys of indexes hold it for arrays and objects (key_encoding.h), so it changes
// only with the file format.
uint64_t deep_hash(const Value& value) noexcept;

// ORDER BY's total order: undefined < null < false < true < number < string < array < object. Numbers exactly
// (int64 against double without rounding; NaN before every other number), strings by UTF-8 bytes, arrays and
// objects by a hash of their content (arbitrary but stable within a version), then by content.
std::strong_ordering total_order(const Value& a, const Value& b) noexcept;

// The order of two numbers, exact; unordered if either is NaN.
std::partial_ordering compare_numbers(const Value& a, const Value& b) noexcept;

// The operators < <= > >=: only between values of the same type among null, boolean, number, string;
// otherwise nothing, which is undefined. NaN is unordered.
std::optional<std::partial_ordering> compare_values(const Value& a, const Value& b) noexcept;

}  // namespace quire::sql
