// .NET's custom formats of dates, for the invariant culture and UTC: yyyy-MM-dd, HH:mm:ss.fff, dddd, and so
// on.
#pragma once

#include <string>
#include <string_view>

#include "sql/functions/date_time.h"

namespace quire::sql {

// Appends the date to `out`. False if the format is wrong: a quote not closed, a backslash or % that ends it,
// more than seven f or F.
bool format_date_time(Ticks ticks, std::string_view format, std::string& out);

}  // namespace quire::sql
