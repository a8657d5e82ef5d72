// Points in time and their text. A point is a count of ticks of 100 ns since 1970-01-01T00:00:00Z, in the
// proleptic Gregorian calendar without leap seconds. Text is ISO 8601 in UTC, of the years 0001 to 9999:
//
//   in    YYYY-MM-DD[Z]  or  YYYY-MM-DD(T| )hh:mm:ss[.f{1,7}][Z]
//   out   YYYY-MM-DDThh:mm:ss.fffffffZ
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

using Ticks = int64_t;

constexpr Ticks kTicksPerMicrosecond = 10;
constexpr Ticks kTicksPerMillisecond = 1000 * kTicksPerMicrosecond;
constexpr Ticks kTicksPerSecond = 1000 * kTicksPerMillisecond;
constexpr Ticks kTicksPerMinute = 60 * kTicksPerSecond;
constexpr Ticks kTicksPerHour = 60 * kTicksPerMinute;
constexpr Ticks kTicksPerDay = 24 * kTicksPerHour;
constexpr int64_t kNanosecondsPerTick = 100;

// 0001-01-01 and 10000-01-01; every Ticks that these functions give lies between.
constexpr Ticks kFirstTicks = -719162 * kTicksPerDay;
constexpr Ticks kEndTicks = 2932897 * kTicksPerDay;
constexpr bool is_in_range(Ticks ticks) {
  return ticks >= kFirstTicks && ticks < kEndTicks;
}

// A point in time by calendar and clock.
struct DateTime {
  int32_t year = 1970;  // 1..9999
  uint32_t month = 1;   // 1..12
  uint32_t day = 1;     // 1..31
  uint32_t hour = 0;
  uint32_t minute = 0;
  uint32_t second = 0;
  uint32_t fraction = 0;  // ticks within the second
};

// Nothing if there is no such day or hour.
std::optional<Ticks> to_ticks(const DateTime& date_time) noexcept;
// `ticks` is in range.
DateTime to_date_time(Ticks ticks) noexcept;

std::optional<Ticks> parse_date_time(std::string_view text) noexcept;
// The text of a point in time; undefined if it is out of range.
Value print_date_time(Ticks ticks, Arena& arena);

Ticks now() noexcept;

// Units of time. The longer ones than a day are of varying length and belong to the calendar.
enum class DatePart : uint8_t {
  year,
  month,
  day,
  hour,
  minute,
  second,
  millisecond,
  microsecond,
  nanosecond
};

// By its names: "year", "yyyy", "yy", in any case; nothing if there is no such part.
std::optional<DatePart> find_date_part(std::string_view name) noexcept;

// The ticks of a part from day to microsecond; a nanosecond is less than one.
constexpr Ticks ticks_of(DatePart part) noexcept {
  switch (part) {
    case DatePart::day:
      return kTicksPerDay;
    case DatePart::hour:
      return kTicksPerHour;
    case DatePart::minute:
      return kTicksPerMinute;
    case DatePart::second:
      return kTicksPerSecond;
    case DatePart::millisecond:
      return kTicksPerMillisecond;
    case DatePart::microsecond:
      return kTicksPerMicrosecond;
    case DatePart::year:
    case DatePart::month:
    case DatePart::nanosecond:
      return 0;
  }
  return 0;
}

// `ticks` moved by `count` parts; nothing if that is out of range. A day that the month lacks becomes its
// last.
std::optional<Ticks> add_parts(Ticks ticks, DatePart part, int64_t count) noexcept;

// The quotient rounded down, also of a negative dividend. `divisor` is positive.
constexpr int64_t divide_down(int64_t dividend, int64_t divisor) noexcept {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

}  // namespace quire::sql
