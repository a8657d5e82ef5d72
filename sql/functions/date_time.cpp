#include "sql/functions/date_time.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace quire::sql {
namespace {

constexpr std::string_view kTemplate = "0000-00-00T00:00:00.0000000Z";

// Reads the forms of date_time.h from left to right.
class DateTimeParser {
 public:
  explicit DateTimeParser(std::string_view text) : text_(text) {}

  std::optional<Ticks> parse() noexcept {
    DateTime parsed;
    uint32_t year = 0;
    if (!(number(4, year) && take('-') && number(2, parsed.month) && take('-') && number(2, parsed.day)))
      return std::nullopt;
    parsed.year = static_cast<int32_t>(year);
    if (take('T') || take(' ')) {
      if (!(number(2, parsed.hour) && take(':') && number(2, parsed.minute) && take(':') &&
            number(2, parsed.second)))
        return std::nullopt;
      if (take('.') && !fraction(parsed.fraction)) return std::nullopt;
    }
    take('Z');
    return at_ == text_.size() ? to_ticks(parsed) : std::nullopt;
  }

 private:
  bool take(char c) noexcept {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool number(size_t digits, uint32_t& value) noexcept {
    if (text_.size() - at_ < digits) return false;
    value = 0;
    for (size_t i = 0; i < digits; ++i) {
      const char c = text_[at_++];
      if (c < '0' || c > '9') return false;
      value = value * 10 + static_cast<uint32_t>(c - '0');
    }
    return true;
  }

  // One to seven digits, filled up to seven.
  bool fraction(uint32_t& value) noexcept {
    value = 0;
    size_t digits = 0;
    for (; digits < 7 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++digits)
      value = value * 10 + static_cast<uint32_t>(text_[at_++] - '0');
    if (digits == 0) return false;
    for (; digits < 7; ++digits) value *= 10;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

void put_digits(char* out, uint32_t value, size_t digits) noexcept {
  for (size_t i = digits; i > 0; --i, value /= 10) out[i - 1] = static_cast<char>('0' + value % 10);
}

struct DatePartName {
  std::string_view name;
  DatePart part;
};
constexpr std::array<DatePartName, 23> kPartNames{{
    {"year", DatePart::year},       {"yyyy", DatePart::year},
    {"yy", DatePart::year},         {"month", DatePart::month},
    {"mm", DatePart::month},        {"m", DatePart::month},
    {"day", DatePart::day},         {"dd", DatePart::day},
    {"d", DatePart::day},           {"hour", DatePart::hour},
    {"hh", DatePart::hour},         {"minute", DatePart::minute},
    {"mi", DatePart::minute},       {"n", DatePart::minute},
    {"second", DatePart::second},   {"ss", DatePart::second},
    {"s", DatePart::second},        {"millisecond", DatePart::millisecond},
    {"ms", DatePart::millisecond},  {"microsecond", DatePart::microsecond},
    {"mcs", DatePart::microsecond}, {"nanosecond", DatePart::nanosecond},
    {"ns", DatePart::nanosecond},
}};

std::optional<Ticks> add_months(Ticks ticks, int64_t count) noexcept {
  using namespace std::chrono;
  constexpr int64_t most_months = int64_t{12} * 10'000;
  if (count < -most_months || count > most_months) return std::nullopt;
  DateTime date_time = to_date_time(ticks);
  const int64_t months = int64_t{date_time.year} * 12 + (date_time.month - 1) + count;
  const int64_t new_year = divide_down(months, 12);
  if (new_year < 1 || new_year > 9999) return std::nullopt;
  date_time.year = static_cast<int32_t>(new_year);
  date_time.month = static_cast<uint32_t>(months - new_year * 12) + 1;
  const year_month_day_last last{year(date_time.year), month_day_last(month(date_time.month))};
  date_time.day = std::min(date_time.day, static_cast<uint32_t>(last.day()));
  return to_ticks(date_time);
}

}  // namespace

std::optional<Ticks> to_ticks(const DateTime& date_time) noexcept {
  using namespace std::chrono;
  const year_month_day date{year(date_time.year), month(date_time.month), day(date_time.day)};
  if (date_time.year < 1 || date_time.year > 9999 || date_time.month > 12 || date_time.day > 31 || !date.ok())
    return std::nullopt;
  if (date_time.hour > 23 || date_time.minute > 59 || date_time.second > 59 ||
      date_time.fraction >= kTicksPerSecond)
    return std::nullopt;
  const int64_t seconds = (int64_t{date_time.hour} * 60 + date_time.minute) * 60 + date_time.second;
  const int64_t days = sys_days(date).time_since_epoch().count();
  return days * kTicksPerDay + seconds * kTicksPerSecond + date_time.fraction;
}

DateTime to_date_time(Ticks ticks) noexcept {
  using namespace std::chrono;
  const int64_t days_since_epoch = divide_down(ticks, kTicksPerDay);
  const Ticks in_day = ticks - days_since_epoch * kTicksPerDay;
  const year_month_day date{sys_days(days(days_since_epoch))};
  DateTime date_time;
  date_time.year = static_cast<int>(date.year());
  date_time.month = static_cast<unsigned>(date.month());
  date_time.day = static_cast<unsigned>(date.day());
  date_time.hour = static_cast<uint32_t>(in_day / kTicksPerHour);
  date_time.minute = static_cast<uint32_t>(in_day / kTicksPerMinute % 60);
  date_time.second = static_cast<uint32_t>(in_day / kTicksPerSecond % 60);
  date_time.fraction = static_cast<uint32_t>(in_day % kTicksPerSecond);
  return date_time;
}

std::optional<Ticks> parse_date_time(std::string_view text) noexcept {
  return DateTimeParser(text).parse();
}

Value print_date_time(Ticks ticks, Arena& arena) {
  if (!is_in_range(ticks)) return Value::undefined();
  const DateTime date_time = to_date_time(ticks);
  char* out = arena.copy_array(std::span<const char>(kTemplate)).data();
  put_digits(out, static_cast<uint32_t>(date_time.year), 4);
  put_digits(out + 5, date_time.month, 2);
  put_digits(out + 8, date_time.day, 2);
  put_digits(out + 11, date_time.hour, 2);
  put_digits(out + 14, date_time.minute, 2);
  put_digits(out + 17, date_time.second, 2);
  put_digits(out + 20, date_time.fraction, 7);
  return Value::string({out, kTemplate.size()});
}

Ticks now() noexcept {
  using namespace std::chrono;
  return duration_cast<duration<Ticks, std::ratio<1, kTicksPerSecond>>>(
             system_clock::now().time_since_epoch())
      .count();
}

std::optional<DatePart> find_date_part(std::string_view name) noexcept {
  const auto is_same = [](char wanted, char given) {
    return wanted == given || (given >= 'A' && given <= 'Z' && wanted == given + ('a' - 'A'));
  };
  for (const DatePartName& row : kPartNames)
    if (std::equal(row.name.begin(), row.name.end(), name.begin(), name.end(), is_same)) return row.part;
  return std::nullopt;
}

std::optional<Ticks> add_parts(Ticks ticks, DatePart part, int64_t count) noexcept {
  if (part == DatePart::month) return add_months(ticks, count);
  if (part == DatePart::year) {
    constexpr int64_t most_years = 10'000;
    return count >= -most_years && count <= most_years ? add_months(ticks, count * 12) : std::nullopt;
  }
  Ticks moved = 0;
  if (part == DatePart::nanosecond)
    moved = count / kNanosecondsPerTick;
  else if (__builtin_mul_overflow(count, ticks_of(part), &moved))
    return std::nullopt;
  if (__builtin_add_overflow(ticks, moved, &moved) || !is_in_range(moved)) return std::nullopt;
  return moved;
}

}  // namespace quire::sql
