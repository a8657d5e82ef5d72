#include "sql/bind/foreign_functions.h"

#include <algorithm>

namespace quire::sql {
namespace {

struct ForeignFunction {
  std::string_view name;
  std::string_view instead;
};
constexpr ForeignFunction kForeignFunctions[] = {
    {"ARRAY_AGG", "MAKELIST(x)"},
    {"ARRAY_SIZE", "ARRAY_LENGTH(array)"},
    {"CARDINALITY", "ARRAY_LENGTH(array)"},
    {"CEIL", "CEILING(number)"},
    {"CHARINDEX", "INDEX_OF(text, part)"},
    {"CHAR_LENGTH", "LENGTH(text)"},
    {"COALESCE", "a ?? b, or IIF(IS_NULL(a), b, a) where a may be null"},
    {"CURRENT_TIMESTAMP", "GETCURRENTDATETIME()"},
    {"DATEADD", "DATETIMEADD(part, count, date)"},
    {"DATEDIFF", "DATETIMEDIFF(part, start, end)"},
    {"DATEPART", "DATETIMEPART(part, date)"},
    {"DATE_FORMAT", "DATETIMEFORMAT(date, format)"},
    {"DATE_TRUNC", "DATETIMEBIN(date, part)"},
    {"GETDATE", "GETCURRENTDATETIME()"},
    {"GETUTCDATE", "GETCURRENTDATETIME()"},
    {"GREATEST", "ARRAY_MAX([a, b])"},
    {"GROUP_CONCAT", "STRINGJOIN(MAKELIST(x), ', ')"},
    {"IF", "IIF(condition, a, b), or condition ? a : b"},
    {"IFNULL", "a ?? b, or IIF(IS_NULL(a), b, a) where a may be null"},
    {"INSTR", "INDEX_OF(text, part)"},
    {"ISNULL", "IS_NULL(x); for another value in its place a ?? b"},
    {"ISNUMERIC", "IS_NUMBER(x)"},
    {"JSON_ARRAY_LENGTH", "ARRAY_LENGTH(array)"},
    {"JSON_EXTRACT", "the path itself: c.a.b"},
    {"JSON_VALUE", "the path itself: c.a.b"},
    {"LCASE", "LOWER(text)"},
    {"LEAST", "ARRAY_MIN([a, b])"},
    {"LEN", "LENGTH(text)"},
    {"LN", "LOG(number)"},
    {"MOD", "a % b"},
    {"NULLIF", "IIF(a = b, null, a)"},
    {"NVL", "a ?? b, or IIF(IS_NULL(a), b, a) where a may be null"},
    {"POSITION", "INDEX_OF(text, part)"},
    {"POW", "POWER(base, exponent)"},
    {"RANDOM", "RAND()"},
    {"REGEXP_LIKE", "REGEXMATCH(text, pattern)"},
    {"REPEAT", "REPLICATE(text, times)"},
    {"SIZE", "ARRAY_LENGTH(array)"},
    {"SPLIT", "STRINGSPLIT(text, separator)"},
    {"STR", "TOSTRING(x)"},
    {"STRING_AGG", "STRINGJOIN(MAKELIST(x), ', ')"},
    {"STRPOS", "INDEX_OF(text, part)"},
    {"SUBSTR", "SUBSTRING(text, start, length), where start counts from 0"},
    {"TOLOWER", "LOWER(text)"},
    {"TONUMBER", "STRINGTONUMBER(text)"},
    {"TOUPPER", "UPPER(text)"},
    {"TRUNCATE", "TRUNC(number)"},
    {"TYPEOF", "IS_STRING(x), IS_NUMBER(x) and the like"},
    {"UCASE", "UPPER(text)"},
    {"UNNEST", "JOIN x IN c.array"},
};

constexpr char to_capital(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

std::string_view instead_of_foreign_function(std::string_view name) noexcept {
  for (const ForeignFunction& row : kForeignFunctions)
    if (std::ranges::equal(name, row.name, {}, to_capital)) return row.instead;
  return {};
}

}  // namespace quire::sql
