#include "sql/functions/date_format.h"

#include <array>

#include <fmt/format.h>

namespace quire::sql {
namespace {

constexpr std::array<std::string_view, 7> kDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};
constexpr size_t kShortName = 3;
constexpr size_t kMostFractionDigits = 7;

std::string_view day_name(Ticks ticks) {
  constexpr int64_t thursday = 4;  // 1970-01-01
  const int64_t days = divide_down(ticks, kTicksPerDay) + thursday;
  return kDays[static_cast<size_t>(days - divide_down(days, 7) * 7)];
}

class DateFormatter {
 public:
  DateFormatter(Ticks ticks, std::string_view format, std::string& out)
      : ticks_(ticks), date_time_(to_date_time(ticks)), rest_(format), out_(out) {}

  bool write() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '\\') {
        // The next character stands for itself.
        if (rest_.size() == 1) return false;
        out_ += rest_[1];
        rest_.remove_prefix(2);
      } else if (c == '%') {
        // The next letter alone is a format, however often it comes.
        if (rest_.size() == 1 || rest_[1] == '%') return false;
        rest_.remove_prefix(1);
        if (is_special(rest_.front())) continue;
        if (!write_run(rest_.front(), 1)) return false;
        rest_.remove_prefix(1);
      } else if (c == '\'' || c == '"') {
        if (!write_quoted(c)) return false;
      } else {
        const size_t run = std::min(rest_.find_first_not_of(c), rest_.size());
        if (!write_run(c, run)) return false;
        rest_.remove_prefix(run);
      }
    }
    return true;
  }

 private:
  static bool is_special(char c) { return c == '\\' || c == '\'' || c == '"'; }

  bool write_quoted(char quote) {
    rest_.remove_prefix(1);
    for (; !rest_.empty() && rest_.front() != quote; rest_.remove_prefix(1)) {
      if (rest_.front() == '\\') {
        rest_.remove_prefix(1);
        if (rest_.empty()) return false;
      }
      out_ += rest_.front();
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A letter that is repeated `run` times.
  bool write_run(char letter, size_t run) {
    switch (letter) {
      case 'd':
        write_day(run);
        return true;
      case 'M':
        write_month(run);
        return true;
      case 'y':
        write_year(run);
        return true;
      case 'H':
        write_number(date_time_.hour, run);
        return true;
      case 'h':
        write_number((date_time_.hour + 11) % 12 + 1, run);
        return true;
      case 'm':
        write_number(date_time_.minute, run);
        return true;
      case 's':
        write_number(date_time_.second, run);
        return true;
      case 'f':
      case 'F':
        return write_fraction(run, letter == 'F');
      case 't':
        out_ += std::string_view(date_time_.hour < 12 ? "AM" : "PM").substr(0, run);
        return true;
      case 'z':
        out_ += run == 1 ? "+0" : run == 2 ? "+00" : "+00:00";
        return true;
      case 'K':
        out_.append(run, 'Z');
        return true;
      case 'g':
        out_ += "A.D.";
        return true;
      default:
        out_.append(run, letter);
        return true;
    }
  }

  // One digit at least, or two.
  void write_number(uint32_t number, size_t run) {
    fmt::format_to(std::back_inserter(out_), "{:0{}}", number, run == 1 ? 1 : 2);
  }

  void write_day(size_t run) {
    if (run <= 2) return write_number(date_time_.day, run);
    out_ += run == kShortName ? day_name(ticks_).substr(0, kShortName) : day_name(ticks_);
  }

  void write_month(size_t run) {
    if (run <= 2) return write_number(date_time_.month, run);
    const std::string_view name = kMonths[date_time_.month - 1];
    out_ += run == kShortName ? name.substr(0, kShortName) : name;
  }

  void write_year(size_t run) {
    if (run <= 2) return write_number(static_cast<uint32_t>(date_time_.year % 100), run);
    const std::string year = fmt::format("{:03}", date_time_.year);
    if (run > year.size()) out_.append(run - year.size(), '0');
    out_ += year;
  }

  // The first digits of the fraction; F leaves out zeros at its end, but the service keeps the dot before
  // them.
  bool write_fraction(size_t digits, bool drops_zeros) {
    if (digits > kMostFractionDigits) return false;
    const std::string all = fmt::format("{:07}", date_time_.fraction);
    std::string_view shown = std::string_view(all).substr(0, digits);
    if (drops_zeros) shown = shown.substr(0, shown.find_last_not_of('0') + 1);
    out_ += shown;
    return true;
  }

  Ticks ticks_;
  DateTime date_time_;
  std::string_view rest_;
  std::string& out_;
};

}  // namespace

bool format_date_time(Ticks ticks, std::string_view format, std::string& out) {
  return DateFormatter(ticks, format, out).write();
}

}  // namespace quire::sql
