// Values to text and back. A string converts only if all of it is JSON of the kind that is asked for; white
// space around it is allowed.
#include <string>

#include "sql/functions/families.h"
#include "sql/value/json.h"
#include "sql/value/json_number.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

// Buffers past this size are given back, so that one large value does not stay for the life of the thread.
constexpr size_t kMostKeptBuffer = 1 << 20;

// JSON's, which is less than Unicode's.
std::string_view without_white_space(std::string_view text) {
  constexpr std::string_view white_space = " \t\r\n";
  const size_t first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

// The value of `text`; undefined if it is no JSON.
Value parse_json(std::string_view text, Arena& arena) {
  thread_local JsonReader reader;
  Result<Value> value = reader.to_value(text, arena);
  return value ? *value : Value::undefined();
}

Value to_string(CallContext& context, Arguments arguments) {
  if (arguments[0].is_string()) return arguments[0];
  thread_local std::string text;
  text.clear();
  if (arguments[0].is_number() && !has_only_finite_numbers(arguments[0]))
    text = arguments[0].as_double() != arguments[0].as_double() ? "NaN"
           : arguments[0].as_double() > 0                       ? "Infinity"
                                                                : "-Infinity";
  else
    write_json(arguments[0], text);
  const Value result = Value::string(context.arena.copy_string(text));
  if (text.capacity() > kMostKeptBuffer) std::string().swap(text);
  return result;
}

// The first character tells the kinds apart; asking it first saves the making of an error for most other
// text.
Value string_to_array(CallContext& context, Arguments arguments) {
  const std::string_view text = without_white_space(arguments[0].as_string());
  return text.starts_with('[') ? parse_json(text, context.arena) : Value::undefined();
}

Value string_to_object(CallContext& context, Arguments arguments) {
  const std::string_view text = without_white_space(arguments[0].as_string());
  return text.starts_with('{') ? parse_json(text, context.arena) : Value::undefined();
}

Value string_to_number(CallContext&, Arguments arguments) {
  const std::string_view text = without_white_space(arguments[0].as_string());
  const char* const end = text.data() + text.size();
  const ParsedNumber number = parse_json_number(text.data(), end);
  if (number.end != end || number.is_too_large) return Value::undefined();
  return number.value.kind() == Kind::real ? Value::number(number.value.as_real()) : number.value;
}

Value string_to_boolean(CallContext&, Arguments arguments) {
  const std::string_view text = without_white_space(arguments[0].as_string());
  if (text == "true") return Value::boolean(true);
  return text == "false" ? Value::boolean(false) : Value::undefined();
}

Value string_to_null(CallContext&, Arguments arguments) {
  return without_white_space(arguments[0].as_string()) == "null" ? Value::null() : Value::undefined();
}

constexpr Function kStringConvertRows[] = {
    {"STRINGTOARRAY", "s", string_to_array, "STRINGTOARRAY(string)", "The array that the string is as JSON"},
    {"STRINGTOBOOLEAN", "s", string_to_boolean, "STRINGTOBOOLEAN(string)",
     "The boolean that the string is as JSON"},
    {"STRINGTONULL", "s", string_to_null, "STRINGTONULL(string)", "null, if this is the string's text"},
    {"STRINGTONUMBER", "s", string_to_number, "STRINGTONUMBER(string)",
     "The number that the string is as JSON"},
    {"STRINGTOOBJECT", "s", string_to_object, "STRINGTOOBJECT(string)",
     "The object that the string is as JSON"},
    {"TOSTRING", "d", to_string, "TOSTRING(value)", "The value as a string: itself, or its JSON"},
};

}  // namespace

std::span<const Function> string_convert_functions() noexcept {
  return kStringConvertRows;
}

}  // namespace quire::sql
