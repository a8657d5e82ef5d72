// Arithmetic on dates: adding, counting, taking apart, rounding down. Dates are strings (date_time.h); one
// that is no date, or a result out of the years 0001 to 9999, is undefined.
#include <algorithm>

#include "sql/functions/date_time.h"
#include "sql/functions/families.h"
#include "sql/functions/integers.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr Ticks kFirstOrigin =
    -11'644'473'600 * kTicksPerSecond;  // 1601-01-01, where the service begins to count

std::optional<Ticks> date_argument(const Value& argument) {
  return parse_date_time(argument.as_string());
}

Value date_time_add(CallContext& context, Arguments arguments) {
  const std::optional<DatePart> part = find_date_part(arguments[0].as_string());
  const std::optional<int64_t> count = truncated_argument(arguments[1]);
  const std::optional<Ticks> ticks = date_argument(arguments[2]);
  if (!part || !count || !ticks) return Value::undefined();
  const std::optional<Ticks> moved = add_parts(*ticks, *part, *count);
  return moved ? print_date_time(*moved, context.arena) : Value::undefined();
}

// How many whole parts lie between 1970 and a point in time: their difference counts the boundaries crossed.
int64_t parts_since_epoch(Ticks ticks, DatePart part) {
  if (part == DatePart::year) return to_date_time(ticks).year;
  if (part == DatePart::month) {
    const DateTime date_time = to_date_time(ticks);
    return int64_t{date_time.year} * 12 + date_time.month;
  }
  return divide_down(ticks, ticks_of(part));
}

Value date_time_diff(CallContext&, Arguments arguments) {
  const std::optional<DatePart> part = find_date_part(arguments[0].as_string());
  const std::optional<Ticks> start = date_argument(arguments[1]);
  const std::optional<Ticks> end = date_argument(arguments[2]);
  if (!part || !start || !end) return Value::undefined();
  if (*part != DatePart::nanosecond)
    return Value::integer(parts_since_epoch(*end, *part) - parts_since_epoch(*start, *part));
  int64_t nanoseconds = 0;
  if (!__builtin_mul_overflow(*end - *start, kNanosecondsPerTick, &nanoseconds))
    return Value::integer(nanoseconds);
  return Value::real(static_cast<double>(*end - *start) * static_cast<double>(kNanosecondsPerTick));
}

int64_t part_of(const DateTime& date_time, DatePart part) {
  switch (part) {
    case DatePart::year:
      return date_time.year;
    case DatePart::month:
      return date_time.month;
    case DatePart::day:
      return date_time.day;
    case DatePart::hour:
      return date_time.hour;
    case DatePart::minute:
      return date_time.minute;
    case DatePart::second:
      return date_time.second;
    case DatePart::millisecond:
      return date_time.fraction / kTicksPerMillisecond;
    case DatePart::microsecond:
      return date_time.fraction / kTicksPerMicrosecond;
    case DatePart::nanosecond:
      return date_time.fraction * kNanosecondsPerTick;
  }
  return 0;
}

Value date_time_part(CallContext&, Arguments arguments) {
  const std::optional<DatePart> part = find_date_part(arguments[0].as_string());
  const std::optional<Ticks> ticks = date_argument(arguments[1]);
  if (!part || !ticks) return Value::undefined();
  return Value::integer(part_of(to_date_time(*ticks), *part));
}

template <DatePart part>
Value one_part(CallContext&, Arguments arguments) {
  const std::optional<Ticks> ticks = date_argument(arguments[0]);
  return ticks ? Value::integer(part_of(to_date_time(*ticks), part)) : Value::undefined();
}

// The start of the bin of `size` months, counted from `origin`, that `ticks` lies in.
std::optional<Ticks> month_bin(Ticks ticks, Ticks origin, int64_t size) {
  int64_t months = parts_since_epoch(ticks, DatePart::month) - parts_since_epoch(origin, DatePart::month);
  // A month counted from the 15th has not begun on the 14th.
  if (const auto begun = add_parts(origin, DatePart::month, months); !begun || *begun > ticks) --months;
  return add_parts(origin, DatePart::month, divide_down(months, size) * size);
}

std::optional<Ticks> bin(Ticks ticks, DatePart part, int64_t size, Ticks origin) {
  constexpr int64_t most_months = int64_t{12} * 10'000;
  if (part == DatePart::month) return month_bin(ticks, origin, std::min(size, most_months));
  if (part == DatePart::year) return month_bin(ticks, origin, std::min(size, most_months / 12) * 12);
  if (part == DatePart::nanosecond) {
    // Bins that are no whole number of ticks: the start is rounded down to a tick.
    const __int128 elapsed = static_cast<__int128>(ticks - origin) * kNanosecondsPerTick;
    __int128 bins = elapsed / size;
    if (elapsed % size < 0) --bins;
    const __int128 start = bins * size;
    const __int128 start_ticks = start / kNanosecondsPerTick - (start % kNanosecondsPerTick < 0 ? 1 : 0);
    // The start lies at most one bin, below 2^63 ns, under the date: about 2^57 ticks.
    return origin + static_cast<Ticks>(start_ticks);
  }
  int64_t width = 0;
  // A bin that is longer than all time: from the origin on.
  if (__builtin_mul_overflow(size, ticks_of(part), &width))
    return ticks >= origin ? std::optional(origin) : std::nullopt;
  Ticks start = 0;
  if (__builtin_mul_overflow(divide_down(ticks - origin, width), width, &start)) return std::nullopt;
  return __builtin_add_overflow(origin, start, &start) ? std::nullopt : std::optional(start);
}

Value date_time_bin(CallContext& context, Arguments arguments) {
  const std::optional<Ticks> ticks = date_argument(arguments[0]);
  const std::optional<DatePart> part = find_date_part(arguments[1].as_string());
  const int64_t size = arguments.size() > 2 ? count_argument(arguments[2]) : 1;
  const std::optional<Ticks> origin =
      arguments.size() > 3 ? date_argument(arguments[3]) : std::optional<Ticks>(0);
  if (!ticks || !part || size <= 0 || !origin || *origin < kFirstOrigin) return Value::undefined();
  const std::optional<Ticks> start = bin(*ticks, *part, size, *origin);
  return start ? print_date_time(*start, context.arena) : Value::undefined();
}

constexpr Function kDateRows[] = {
    {"DATETIMEADD", "sns", date_time_add, "DATETIMEADD(part, count, date)",
     "The date moved by a count of years, months, days, ..., nanoseconds"},
    {"DATETIMEBIN", "ss?cs", date_time_bin, "DATETIMEBIN(date, part [, size [, origin]])",
     "The date rounded down to a whole number of bins since the origin, which is 1970 if not given"},
    {"DATETIMEDIFF", "sss", date_time_diff, "DATETIMEDIFF(part, start, end)",
     "How many starts of a year, a month, a day, ... lie between two dates"},
    {"DATETIMEPART", "ss", date_time_part, "DATETIMEPART(part, date)", "The year, month, day, ... of a date"},
    {"DAY", "s", one_part<DatePart::day>, "DAY(date)", "The day of the month, from 1"},
    {"MONTH", "s", one_part<DatePart::month>, "MONTH(date)", "The month, from 1"},
    {"YEAR", "s", one_part<DatePart::year>, "YEAR(date)", "The year"},
};

}  // namespace

std::span<const Function> date_functions() noexcept {
  return kDateRows;
}

}  // namespace quire::sql
