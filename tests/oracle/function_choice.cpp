#include "tests/oracle/function_choice.h"

#include <fmt/format.h>

namespace quire::sql::oracle {
namespace {

// What lies about at random is no shape, vector, pattern or text to search.
bool is_wanted(const Function& function) {
  for (const std::string_view prefix : {"ST_", "FULLTEXT", "VECTOR", "REGEX", "GETCURRENT", "_", "RRF"})
    if (function.name.starts_with(prefix)) return false;
  return function.volatility == Volatility::pure;
}

}  // namespace

const Function& any_function(Choices& choices) {
  for (;;) {
    const auto families = all_functions();
    const auto family = families[choices.pick(static_cast<uint32_t>(families.size()))];
    const Function& function = family[choices.pick(static_cast<uint32_t>(family.size()))];
    if (is_wanted(function)) return function;
    if (choices.one_in(16)) return *find_function("IS_DEFINED");
  }
}

bool is_of_dates(const Function& function) {
  for (const std::string_view prefix : {"DATETIME", "DAY", "MONTH", "YEAR", "IS_DATETIME"})
    if (function.name.starts_with(prefix)) return true;
  return false;
}

std::string date_or_part(Choices& choices) {
  constexpr std::string_view kDates[] = {"2024-01-31T00:00:00Z",
                                         "2024-02-29",
                                         "1969-12-31T23:59:59.9999999Z",
                                         "2023-12-31T23:59:59.1234567Z",
                                         "0001-01-01T00:00:00Z",
                                         "9999-12-31T23:59:59Z",
                                         "2024-13-01",
                                         "2000-01-01 12:30:00"};
  constexpr std::string_view kParts[] = {"yyyy", "mm",  "dd", "hh",   "mi",  "ss",
                                         "ms",   "mcs", "ns", "year", "week"};
  return fmt::format("'{}'", choices.one_in(2) ? choices.one_of(kParts) : choices.one_of(kDates));
}

}  // namespace quire::sql::oracle
