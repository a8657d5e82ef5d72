// Order-preserving bytes of values: memcmp of two encodings is total_order of the values (the keys of
// indexes). undefined < null < false < true < number < string < array < object. Prefix-free, so encodings
// concatenate to composite keys. int64 and double share one exact order.
//
//   undefined  05
//   null       10
//   false      20          true  21
//   number     30 | the double, rounded down, 8 bytes big-endian with its bits turned so that they sort: all
//                   inverted if negative, else the sign bit set; NaN is 0
//                 | only from 2^53 up to 2^63 either way: what the number exceeds that double by, 2 bytes
//                   big-endian. So int64 and double share the places of one exact line.
//   string     40 | its bytes, each 00 as 00 FF | 00 00
//   array      50 | deep_hash, 8 bytes big-endian, at the outermost level only | the elements' encodings | 00
//   object     60 | deep_hash likewise | name and value of each member, by name | 00
//
// No type byte is 00, so a shorter array sorts before a longer one that it begins. The hash is why deep_hash
// may change only together with the version of the file format.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

void encode_key(const Value& value, std::string& out);
// The complement of the same bytes, for DESC.
void encode_key_descending(const Value& value, std::string& out);

// The least text greater than all that begin with `prefix`; empty if there is none.
std::string key_behind(std::string prefix);

// How many bytes the encoding that `bytes` begins with takes; 0 if it is cut off or is none. An array or
// object is walked through without recursion.
size_t encoded_key_size(std::string_view bytes, bool is_descending) noexcept;

// The value of a complete encoding. Nothing where the bytes do not tell it: arrays, objects, and numbers from
// 2^53 up, of which int64 and double look the same. A string lies in `bytes` if it can, else in `arena`.
std::optional<Value> decode_key(std::string_view bytes, bool is_descending, Arena& arena);

}  // namespace quire::sql
