// The number at the front of a text, by the grammar of JSON.
#pragma once

#include <cstdint>

#include "sql/value/value.h"

namespace quire::sql {

struct ParsedNumber {
  Value value;  // integer if the text is one and fits int64, else real; undefined if the text is no number
  const char* end;            // just past the number; where it went wrong, if it did
  bool is_too_large = false;  // a number, but past the range of a double
  // Of a real that stands there as up to 19 digits with a point: the digits, and how many of them follow it.
  uint64_t digits = 0;
  uint32_t places = 0;  // else 0
};

ParsedNumber parse_json_number(const char* begin, const char* end) noexcept;

}  // namespace quire::sql
