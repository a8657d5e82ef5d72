// Dates to and from numbers, parts and other text. Ticks and timestamps count from 1970, not from the year 1.
#include <string>

#include "sql/functions/date_format.h"
#include "sql/functions/date_time.h"
#include "sql/functions/families.h"
#include "sql/functions/integers.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

Value from_parts(CallContext& context, Arguments arguments) {
  constexpr size_t most_parts = 7;
  uint32_t parts[most_parts] = {};
  for (size_t i = 0; i < arguments.size(); ++i) {
    // No part is as large as a second has ticks; what is too large for its place is refused below.
    const int64_t part = integer_argument(arguments[i]);
    if (part < 0 || part >= kTicksPerSecond) return Value::undefined();
    parts[i] = static_cast<uint32_t>(part);
  }
  const std::optional<Ticks> ticks = to_ticks({.year = static_cast<int32_t>(parts[0]),
                                               .month = parts[1],
                                               .day = parts[2],
                                               .hour = parts[3],
                                               .minute = parts[4],
                                               .second = parts[5],
                                               .fraction = parts[6]});
  return ticks ? print_date_time(*ticks, context.arena) : Value::undefined();
}

Value date_time_to_ticks(CallContext&, Arguments arguments) {
  const std::optional<Ticks> ticks = parse_date_time(arguments[0].as_string());
  return ticks ? Value::integer(*ticks) : Value::undefined();
}

Value date_time_to_timestamp(CallContext&, Arguments arguments) {
  const std::optional<Ticks> ticks = parse_date_time(arguments[0].as_string());
  return ticks ? Value::integer(divide_down(*ticks, kTicksPerMillisecond)) : Value::undefined();
}

Value ticks_to_date_time(CallContext& context, Arguments arguments) {
  const std::optional<int64_t> ticks = truncated_argument(arguments[0]);
  return ticks ? print_date_time(*ticks, context.arena) : Value::undefined();
}

Value timestamp_to_date_time(CallContext& context, Arguments arguments) {
  const std::optional<int64_t> milliseconds = truncated_argument(arguments[0]);
  Ticks ticks = 0;
  if (!milliseconds || __builtin_mul_overflow(*milliseconds, kTicksPerMillisecond, &ticks))
    return Value::undefined();
  return print_date_time(ticks, context.arena);
}

Value date_time_format(CallContext& context, Arguments arguments) {
  const std::optional<Ticks> ticks = parse_date_time(arguments[0].as_string());
  if (!ticks) return Value::undefined();
  thread_local std::string text;
  text.clear();
  if (!format_date_time(*ticks, arguments[1].as_string(), text)) return Value::undefined();
  return Value::string(context.arena.copy_string(text));
}

constexpr Function kDateConvertRows[] = {
    {"DATETIMEFORMAT", "ss", date_time_format, "DATETIMEFORMAT(date, format)",
     "The date as text in a custom format of .NET, such as 'yyyy-MM-dd'"},
    {"DATETIMEFROMPARTS", "iii?iiii", from_parts,
     "DATETIMEFROMPARTS(year, month, day [, hour [, minute [, second [, ticks]]]])",
     "The date that has these parts"},
    {"DATETIMETOTICKS", "s", date_time_to_ticks, "DATETIMETOTICKS(date)",
     "How many times 100 ns have passed since 1970"},
    {"DATETIMETOTIMESTAMP", "s", date_time_to_timestamp, "DATETIMETOTIMESTAMP(date)",
     "How many milliseconds have passed since 1970"},
    {"TICKSTODATETIME", "n", ticks_to_date_time, "TICKSTODATETIME(ticks)",
     "The date that is so many times 100 ns after 1970"},
    {"TIMESTAMPTODATETIME", "n", timestamp_to_date_time, "TIMESTAMPTODATETIME(milliseconds)",
     "The date that is so many milliseconds after 1970"},
};

}  // namespace

std::span<const Function> date_convert_functions() noexcept {
  return kDateConvertRows;
}

}  // namespace quire::sql
