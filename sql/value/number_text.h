// Numbers as text: the shortest that reads back as the same number, laid out as JavaScript does.
#pragma once

#include "sql/value/value.h"

namespace quire::sql {

// The longest of all is a double such as -0.0000012345678901234567: a sign, seven characters, 17 digits.
constexpr size_t kLongestNumber = 32;

// Writes an integer or a real, at most kLongestNumber bytes; returns past them. NaN, Infinity and -Infinity
// go by name, -0 is 0. An integral double below 2^63 is written digit by digit where JavaScript would fill up
// with zeros: it is read back as an integer, and 2^60 must stay 2^60.
char* put_number(const Value& number, char* out) noexcept;
char* put_integer(int64_t integer, char* out) noexcept;
// A real as JSON, which has no NaN and no infinities: these become strings.
char* put_json_real(const Value& real, char* out) noexcept;
// The same of integer / 10^places, 1 to 8 places, without a division of doubles.
char* put_decimal(int32_t integer, int places, char* out) noexcept;

}  // namespace quire::sql
