// Questions about strings: does one hold, begin or end with another, and where. Positions count UTF-16 units.
#include <algorithm>

#include "sql/functions/families.h"
#include "sql/functions/integers.h"
#include "sql/functions/letter_case.h"
#include "sql/functions/operators.h"
#include "sql/functions/text_search.h"
#include "sql/functions/utf16_index.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

// The flag ignoreCase, an optional third argument.
bool ignores_case(Arguments arguments) {
  return arguments.size() > 2 && arguments[2].as_boolean();
}

// Calls `ask` with both strings without their case, which are forgotten afterwards.
template <typename Question>
bool ask_without_case(CallContext& context, std::string_view text, std::string_view part, Question ask) {
  const ArenaScope scope(context.arena);
  return ask(to_folded(text, context.arena), to_folded(part, context.arena));
}

bool contains_ignoring_case(CallContext& context, std::string_view text, std::string_view part) {
  return ask_without_case(context, text, part, [](auto a, auto b) { return contains(a, b); });
}

Value contains_part(CallContext& context, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const std::string_view part = arguments[1].as_string();
  return Value::boolean(ignores_case(arguments) ? contains_ignoring_case(context, text, part)
                                                : contains(text, part));
}

Value starts_with(CallContext&, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const std::string_view part = arguments[1].as_string();
  return Value::boolean(ignores_case(arguments) ? starts_with_but_for_case(text, part)
                                                : text.starts_with(part));
}

Value ends_with(CallContext& context, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const std::string_view part = arguments[1].as_string();
  if (!ignores_case(arguments)) return Value::boolean(text.ends_with(part));
  return Value::boolean(ask_without_case(context, text, part, [](auto a, auto b) { return a.ends_with(b); }));
}

Value string_equals(CallContext&, Arguments arguments) {
  const std::string_view a = arguments[0].as_string();
  const std::string_view b = arguments[1].as_string();
  return Value::boolean(ignores_case(arguments) ? equals_but_for_case(a, b) : a == b);
}

// CONTAINS of each part, joined by AND or OR with three values: a part that is no string is undefined.
template <bool of_all, bool ignore_case>
Value contains_several(CallContext& context, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  Value answer = Value::boolean(of_all);
  for (const Value& part : arguments.subspan(1)) {
    Value one = Value::undefined();
    if (part.is_string())
      one = Value::boolean(ignore_case ? contains_ignoring_case(context, text, part.as_string())
                                       : contains(text, part.as_string()));
    if (one.is_boolean() && one.as_boolean() != of_all) return one;
    answer = of_all ? logical_and(answer, one) : logical_or(answer, one);
  }
  return answer;
}

Value length(CallContext&, Arguments arguments) {
  return Value::integer(static_cast<int64_t>(utf16_length(arguments[0].as_string())));
}

// The answer of a search that found `needle` at a byte offset of `text`.
Value index_at(std::string_view text, size_t offset) {
  if (offset == kNotFound) return Value::integer(-1);
  return Value::integer(static_cast<int64_t>(utf16_length(text.substr(0, offset))));
}

Value index_of(CallContext&, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const int64_t start = arguments.size() > 2 ? std::max<int64_t>(0, count_argument(arguments[2])) : 0;
  const TextPosition from = position_after(text, static_cast<uint64_t>(start));
  if (from.units < static_cast<uint64_t>(start)) return Value::integer(-1);
  return index_at(text, find_first(text, arguments[1].as_string(), from.bytes));
}

// The start is the last unit that a match may cover, since the search goes backwards from there.
Value last_index_of(CallContext& context, Arguments arguments) {
  std::string_view text = arguments[0].as_string();
  if (arguments.size() > 2) {
    const int64_t start = count_argument(arguments[2]);
    if (start < 0) return Value::integer(-1);
    text = text.substr(0, position_before(text, static_cast<uint64_t>(start) + 1).bytes);
  }
  return index_at(text, find_last(text, arguments[1].as_string(), context.arena));
}

constexpr Function kStringSearchRows[] = {
    {"CONTAINS", "ss?b", contains_part, "CONTAINS(string, part [, ignore_case])",
     "Whether the string holds the part"},
    {"CONTAINS_ALL_CI", "sx*", contains_several<true, true>, "CONTAINS_ALL_CI(string, part, ...)",
     "Whether the string holds all parts, in whatever case"},
    {"CONTAINS_ALL_CS", "sx*", contains_several<true, false>, "CONTAINS_ALL_CS(string, part, ...)",
     "Whether the string holds all parts"},
    {"CONTAINS_ANY_CI", "sx*", contains_several<false, true>, "CONTAINS_ANY_CI(string, part, ...)",
     "Whether the string holds any of the parts, in whatever case"},
    {"CONTAINS_ANY_CS", "sx*", contains_several<false, false>, "CONTAINS_ANY_CS(string, part, ...)",
     "Whether the string holds any of the parts"},
    {"ENDSWITH", "ss?b", ends_with, "ENDSWITH(string, suffix [, ignore_case])",
     "Whether the string ends like this"},
    {"INDEX_OF", "ss?c", index_of, "INDEX_OF(string, part [, start])",
     "Where the part first occurs, from 0; -1 if nowhere"},
    {"LASTINDEXOF", "ss?c", last_index_of, "LASTINDEXOF(string, part [, start])",
     "Where the part last occurs, looking backwards from the start; -1 if nowhere"},
    {"LENGTH", "s", length, "LENGTH(string)", "How many UTF-16 units the string has"},
    {"STARTSWITH", "ss?b", starts_with, "STARTSWITH(string, prefix [, ignore_case])",
     "Whether the string begins like this"},
    {"STRINGEQUALS", "ss?b", string_equals, "STRINGEQUALS(a, b [, ignore_case])",
     "Whether two strings are the same"},
};

}  // namespace

std::span<const Function> string_search_functions() noexcept {
  return kStringSearchRows;
}

}  // namespace quire::sql
