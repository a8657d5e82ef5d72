// The present time. Functions named STATIC, and NOW and AGO, give the time at which the statement began, so
// that a condition on them is the same for all rows and may use an index; the others look at the clock for
// every row.
#include "sql/functions/date_time.h"
#include "sql/functions/families.h"
#include "sql/functions/integers.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;
using Clock = Ticks (*)(const CallContext&);

Ticks row_time(const CallContext&) {
  return now();
}
Ticks statement_time(const CallContext& context) {
  return context.clock != nullptr ? context.clock->ticks_since_epoch : now();
}

template <Clock clock>
Value current_date_time(CallContext& context, Arguments) {
  return print_date_time(clock(context), context.arena);
}

template <Clock clock>
Value current_ticks(CallContext& context, Arguments) {
  return Value::integer(clock(context));
}

template <Clock clock>
Value current_timestamp(CallContext& context, Arguments) {
  return Value::integer(divide_down(clock(context), kTicksPerMillisecond));
}

// The statement's time moved by arguments (part, count), forwards or backwards.
Value moved_time(CallContext& context, Arguments arguments, bool backwards) {
  const std::optional<DatePart> part = find_date_part(arguments[0].as_string());
  std::optional<int64_t> count = truncated_argument(arguments[1]);
  if (!part || !count || *count == INT64_MIN) return Value::undefined();
  const std::optional<Ticks> moved = add_parts(statement_time(context), *part, backwards ? -*count : *count);
  return moved ? print_date_time(*moved, context.arena) : Value::undefined();
}

Value now_plus(CallContext& context, Arguments arguments) {
  return arguments.empty() ? print_date_time(statement_time(context), context.arena)
                           : moved_time(context, arguments, false);
}

Value ago(CallContext& context, Arguments arguments) {
  return moved_time(context, arguments, true);
}

constexpr Function kClockRows[] = {
    {"AGO", "sn", ago, "AGO(part, count)",
     "The time so many years, months, days, ... before the statement began", Volatility::per_statement},
    {"GETCURRENTDATETIME", "", current_date_time<row_time>, "GETCURRENTDATETIME()", "The present time",
     Volatility::per_row},
    {"GETCURRENTDATETIMESTATIC", "", current_date_time<statement_time>, "GETCURRENTDATETIMESTATIC()",
     "The time at which the statement began", Volatility::per_statement},
    {"GETCURRENTTICKS", "", current_ticks<row_time>, "GETCURRENTTICKS()",
     "The present time, in 100 ns since 1970", Volatility::per_row},
    {"GETCURRENTTICKSSTATIC", "", current_ticks<statement_time>, "GETCURRENTTICKSSTATIC()",
     "The time at which the statement began, in 100 ns since 1970", Volatility::per_statement},
    {"GETCURRENTTIMESTAMP", "", current_timestamp<row_time>, "GETCURRENTTIMESTAMP()",
     "The present time, in milliseconds since 1970", Volatility::per_row},
    {"GETCURRENTTIMESTAMPSTATIC", "", current_timestamp<statement_time>, "GETCURRENTTIMESTAMPSTATIC()",
     "The time at which the statement began, in milliseconds since 1970", Volatility::per_statement},
    {"NOW", "?sn", now_plus, "NOW([part, count])",
     "The time at which the statement began, or so many years, months, days, ... after it",
     Volatility::per_statement, nullptr, true},
};

}  // namespace

std::span<const Function> clock_functions() noexcept {
  return kClockRows;
}

}  // namespace quire::sql
