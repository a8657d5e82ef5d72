#include "sql/value/extended_json.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include "sql/value/document.h"
#include "sql/value/json.h"
#include "sql/value/json_number.h"

namespace quire::sql {
namespace {

// Years 0000 to 9999, in milliseconds: what an ISO 8601 date of four digits can say.
constexpr int64_t kFirstMillisecond = -62'167'219'200'000;
constexpr int64_t kLastMillisecond = 253'402'300'799'999;
constexpr int kShortestDecimalDigits = 15;  // decimals of so many digits survive a double

std::optional<Value> whole_number(std::string_view text) {
  const ParsedNumber number = parse_json_number(text.data(), text.data() + text.size());
  if (number.value.is_undefined() || number.end != text.data() + text.size()) return std::nullopt;
  return number.value.kind() == Kind::real ? Value::number(number.value.as_real()) : number.value;
}

// The number in a {"$numberLong"} and its like, or a plain number.
std::optional<Value> number_of(const Value& value) {
  if (value.is_number()) return value;
  if (value.is_string()) return whole_number(value.as_string());
  if (value.is_object() && value.size() == 1) {
    const Member only = value.member_at(0);
    if (only.name == "$numberLong" || only.name == "$numberInt" || only.name == "$numberDouble")
      return only.value.is_object() ? std::nullopt : number_of(only.value);
  }
  return std::nullopt;
}

std::optional<Value> number(const Value& inner, Arena&) {
  if (inner.is_string() && !whole_number(inner.as_string())) {
    const std::string_view text = inner.as_string();
    if (text == "NaN" || text == "Infinity" || text == "-Infinity") return inner;
    return std::nullopt;
  }
  return inner.is_object() ? std::nullopt : number_of(inner);
}

std::optional<Value> decimal(const Value& inner, Arena&) {
  if (!inner.is_string()) return std::nullopt;
  const std::optional<Value> number = whole_number(inner.as_string());
  if (!number) return inner;
  int digits = 0;
  for (const char c : inner.as_string()) {
    if (c == 'e' || c == 'E') break;
    if (c >= '1' || digits != 0) digits += c >= '0' && c <= '9';
  }
  return digits <= kShortestDecimalDigits || number->kind() == Kind::integer ? *number : inner;
}

Value iso_date(int64_t milliseconds, Arena& arena) {
  using namespace std::chrono;
  const sys_time<std::chrono::milliseconds> instant{std::chrono::milliseconds(milliseconds)};
  const auto day = floor<days>(instant);
  const year_month_day date(day);
  const hh_mm_ss time(instant - day);
  char text[32];
  const auto end = fmt::format_to_n(
      text, sizeof text, "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
      time.minutes().count(), time.seconds().count(), time.subseconds().count());
  return Value::string(arena.copy_string({text, end.size}));
}

// Digits at a fixed place of an ISO date.
std::optional<int> digits_at(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

// "Z", "+hh:mm", "+hhmm" or "+hh" as minutes east of Greenwich.
std::optional<int> zone_minutes(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto hours = digits_at(text, 1, 2);
  text = text.substr(3);
  const char sign = text.data()[-3];
  if (!text.empty() && text[0] == ':') text.remove_prefix(1);
  const auto minutes = text.empty() ? std::optional<int>(0) : digits_at(text, 0, 2);
  if (!hours || !minutes || text.size() > 2) return std::nullopt;
  const int east = *hours * 60 + *minutes;
  return sign == '-' ? -east : east;
}

// "2024-02-29T12:34:56[.fff…](Z|+hh:mm)"; the fraction is cut to milliseconds.
std::optional<int64_t> milliseconds_of(std::string_view text) {
  using namespace std::chrono;
  const auto year_number = digits_at(text, 0, 4), month_number = digits_at(text, 5, 2),
             day_number = digits_at(text, 8, 2), hour = digits_at(text, 11, 2),
             minute = digits_at(text, 14, 2), second = digits_at(text, 17, 2);
  if (!year_number || !month_number || !day_number || !hour || !minute || !second) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const year_month_day date(year(*year_number), month(static_cast<unsigned>(*month_number)),
                            day(static_cast<unsigned>(*day_number)));
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  text = text.substr(19);
  int64_t thousandths = 0;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    int64_t weight = 100;
    if (!digits_at(text, 0, 1)) return std::nullopt;
    for (; digits_at(text, 0, 1); text.remove_prefix(1), weight /= 10)
      thousandths += weight * (text[0] - '0');
  }
  const auto zone = zone_minutes(text);
  if (!zone) return std::nullopt;
  const int64_t days_since_epoch = sys_days(date).time_since_epoch().count();
  return ((days_since_epoch * 24 + *hour) * 60 + *minute - *zone) * 60'000 + int64_t{*second} * 1000 +
         thousandths;
}

std::optional<Value> date(const Value& inner, Arena& arena) {
  std::optional<int64_t> instant;
  if (inner.is_string()) {
    instant = milliseconds_of(inner.as_string());
  } else if (const auto number = number_of(inner)) {
    if (std::fabs(number->as_double()) < 1e15) instant = static_cast<int64_t>(number->as_double());
  }
  if (!instant || *instant < kFirstMillisecond || *instant > kLastMillisecond) return std::nullopt;
  return iso_date(*instant, arena);
}

std::optional<Value> text(const Value& inner, Arena&) {
  return inner.is_string() ? std::optional(inner) : std::nullopt;
}

std::optional<Value> binary(const Value& inner, Arena&) {
  if (inner.is_string()) return inner;  // the older form: {"$binary": s, "$type": t}
  const Value base64 = inner.member(std::string_view("base64"));
  return base64.is_string() ? std::optional(base64) : std::nullopt;
}

std::optional<Value> object(const Value& inner, Arena&) {
  return inner.is_object() ? std::optional(inner) : std::nullopt;
}

std::optional<Value> nothing(const Value&, Arena&) {
  return Value::null();
}

struct Wrapper {
  std::string_view name;
  std::optional<Value> (*unwrap)(const Value& inner, Arena& arena);
};
constexpr Wrapper kWrappers[] = {
    {"$oid", text},
    {"$date", date},
    {"$numberLong", number},
    {"$numberInt", number},
    {"$numberDouble", number},
    {"$numberDecimal", decimal},
    {"$binary", binary},
    {"$uuid", text},
    {"$timestamp", object},
    {"$regularExpression", object},
    {"$minKey", nothing},
    {"$maxKey", nothing},
    {"$undefined", nothing},
    {"$symbol", text},
    {"$code", text},
};

std::optional<Value> unwrapped(const Value& object, Arena& arena) {
  const Member first = object.member_at(0);
  if (!first.name.starts_with('$')) return std::nullopt;
  const bool is_old_binary = object.size() == 2 && first.name == "$binary" && first.value.is_string();
  if (object.size() != 1 && !is_old_binary) return std::nullopt;
  for (const Wrapper& wrapper : kWrappers)
    if (wrapper.name == first.name) return wrapper.unwrap(first.value, arena);
  return std::nullopt;
}

Value mapped(const Value& value, size_t level, Arena& arena) {
  if (level == kMostNesting || value.size() == 0) return value;
  const uint32_t count = value.size();
  if (value.is_array()) {
    const std::span<Value> elements = arena.make_array<Value>(count);
    for (uint32_t i = 0; i < count; ++i) elements[i] = mapped(value.element(i), level + 1, arena);
    return Value::array(elements);
  }
  if (const auto plain = unwrapped(value, arena))
    return plain->is_object() ? mapped(*plain, level + 1, arena) : *plain;
  const std::span<Member> members = arena.make_array<Member>(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Member member = value.member_at(i);
    members[i] = {member.name, mapped(member.value, level + 1, arena)};
  }
  return Value::object(members);
}

Value as_string(const Value& value, Arena& arena) {
  if (value.is_string()) return value;
  std::string json;
  write_json(value, json);
  return Value::string(arena.copy_string(json));
}

}  // namespace

Value map_extended_json(const Value& value, Arena& arena) {
  const Value plain = mapped(value, 0, arena);
  if (!plain.is_object() || plain.member(std::string_view("id")).is_defined()) return plain;
  if (plain.member(std::string_view("_id")).is_undefined()) return plain;
  const std::span<Member> members = arena.make_array<Member>(plain.size());
  for (uint32_t i = 0; i < plain.size(); ++i) {
    members[i] = plain.member_at(i);
    if (members[i].name == "_id") members[i] = {"id", as_string(members[i].value, arena)};
  }
  return Value::object(members);
}

}  // namespace quire::sql
