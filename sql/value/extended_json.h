// MongoDB's Extended JSON, as mongoexport writes it, made plain: types that JSON lacks become the strings and
// numbers that a Cosmos document would hold. Import does this on request.
//
//   {"$oid": s}                      s
//   {"$date": …}                     "YYYY-MM-DDThh:mm:ss.fffZ"; of an ISO text, {"$numberLong"} ms, or ms
//   {"$numberLong"|"$numberInt"|"$numberDouble": s}   the number; NaN and the infinities stay strings
//   {"$numberDecimal": s}            the number if a double holds it exactly as written, else s
//   {"$binary": {"base64": s, …}}    s;  {"$uuid": s}   s
//   {"$timestamp": {"t": n, "i": n}} {"t": n, "i": n};  {"$regularExpression": {…}}   the inner object
//   {"$minKey": 1}, {"$maxKey": 1}, {"$undefined": true}   null
//
// Anything else, a text that does not fit its type among it, stays as it is. The outermost "_id" is renamed
// to "id", and made a string, where there is no "id".
#pragma once

#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

// The result may share parts with `value` and lives as long as it and `arena`.
Value map_extended_json(const Value& value, Arena& arena);

}  // namespace quire::sql
