// The table of built-in functions. A family is a file with an array of rows; a row and a C++ function add a
// function. Arity, argument types, determinism and constant folding follow from the row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sql/error.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

// What a call site keeps between rows: a compiled pattern, for one.
struct CallState {
  virtual ~CallState() = default;
};

// What is the same for all calls within one execution of a statement.
struct StatementClock {
  int64_t ticks_since_epoch = 0;  // 100 ns, at the start of the execution: GetCurrentDateTimeStatic()
};

struct CallContext {
  Arena& arena;                // results live here, until the batch ends
  CallState* state = nullptr;  // made by the row's prepare
  const StatementClock* clock = nullptr;
};

using FunctionBody = Value (*)(CallContext&, std::span<const Value> arguments);
// Makes the call site's state; constant arguments are given, others are empty. May return an error (an
// invalid pattern), or null for no state.
using FunctionPrepare =
    Result<std::unique_ptr<CallState>> (*)(std::span<const std::optional<Value>> constants);

enum class Volatility : uint8_t {
  pure,           // same arguments, same result: folded if they are constant
  per_statement,  // GetCurrentDateTimeStatic
  per_row,        // RAND, GetCurrentDateTime
};

// The types of parameters, a character each:
//   s string   n number   i number that is an integer within int64   b boolean   a array   o object
//   c number that is whole, a count or an index: of any size, since what lies past all ends means the end
//   d anything but undefined   x anything, undefined too
// `?` before a parameter: it and what follows is optional; `*` after the last: it may repeat (zero or more
// more times). CONTAINS "ss?b", CONCAT "sss*", PI "". A call with an argument of another type is undefined
// without running the body; an optional argument that is given but undefined makes it so too, save under x.
struct Function {
  std::string_view name;  // as documented, any case matches: "ARRAY_CONTAINS"
  std::string_view parameters;
  FunctionBody body;
  std::string_view signature;  // "ARRAY_CONTAINS(array, value [, partial])"
  std::string_view summary;    // one line for .functions and the documentation
  Volatility volatility = Volatility::pure;
  FunctionPrepare prepare = nullptr;
  bool optional_together = false;  // its optional arguments are given all or not at all
};

struct Arity {
  uint32_t least;
  uint32_t most;  // UINT32_MAX: no bound
};
Arity arity_of(const Function& function) noexcept;

// Whether a call with an undefined argument in that place runs the body at all.
bool takes_undefined(const Function& function, size_t argument) noexcept;

// Checks the types by the row, then runs the body. The hot path of every call.
Value call_function(const Function& function, CallContext& context, std::span<const Value> arguments);

// Case-insensitive; nullptr if there is none.
const Function* find_function(std::string_view name);
std::span<const std::span<const Function>> all_functions() noexcept;  // by family

// Aggregates are not called like the others; their names are known here so that binder, completion and
// documentation read one table.
enum class Aggregate : uint8_t { count, sum, avg, min, max, count_if, make_list, make_set };
struct AggregateRow {
  std::string_view name;
  Aggregate aggregate;
  std::string_view summary;
};
std::span<const AggregateRow> all_aggregates() noexcept;
const AggregateRow* find_aggregate(std::string_view name) noexcept;

// _FullTextScore and the like, which the service's own tools write into queries: they bind, and do not run.
bool is_internal_to_service(std::string_view name) noexcept;

}  // namespace quire::sql
