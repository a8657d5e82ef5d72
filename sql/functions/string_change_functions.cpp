// Strings from strings. What is a piece of an argument is a view of it, not a copy.
#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstring>
#include <limits>

#include "sql/functions/families.h"
#include "sql/functions/integers.h"
#include "sql/functions/letter_case.h"
#include "sql/functions/text_search.h"
#include "sql/functions/utf16_index.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr uint64_t kLongestString = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kLongestReplicate = 10'000;  // UTF-16 units, as in the service

// Copies pieces one after another into memory that has room for them.
class Appender {
 public:
  Appender(Arena& arena, uint64_t size)
      : first_(static_cast<char*>(arena.allocate(size, 1))), next_(first_) {}
  void append(std::string_view piece) {
    if (!piece.empty()) std::memcpy(next_, piece.data(), piece.size());
    next_ += piece.size();
  }
  Value string() const { return Value::string({first_, static_cast<size_t>(next_ - first_)}); }

 private:
  char* first_;
  char* next_;
};

Value concat(CallContext& context, Arguments arguments) {
  uint64_t size = 0;
  for (const Value& piece : arguments) size += piece.as_string().size();
  if (size > kLongestString) return Value::undefined();
  Appender text(context.arena, size);
  for (const Value& piece : arguments) text.append(piece.as_string());
  return text.string();
}

Value left(CallContext&, Arguments arguments) {
  const int64_t count = count_argument(arguments[1]);
  if (count <= 0) return Value::string("");
  return Value::string(utf16_slice(arguments[0].as_string(), 0, static_cast<uint64_t>(count)));
}

Value right(CallContext&, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const int64_t count = count_argument(arguments[1]);
  if (count <= 0) return Value::string("");
  const uint64_t length = utf16_length(text);
  const auto wanted = static_cast<uint64_t>(count);
  if (wanted >= length) return arguments[0];
  return Value::string(text.substr(position_after(text, length - wanted).bytes));
}

Value substring(CallContext&, Arguments arguments) {
  const int64_t start = count_argument(arguments[1]);
  const int64_t length = count_argument(arguments[2]);
  if (start < 0 || length <= 0) return Value::string("");
  return Value::string(
      utf16_slice(arguments[0].as_string(), static_cast<uint64_t>(start), static_cast<uint64_t>(length)));
}

Value lower(CallContext& context, Arguments arguments) {
  return Value::string(to_lower(arguments[0].as_string(), context.arena));
}

Value upper(CallContext& context, Arguments arguments) {
  return Value::string(to_upper(arguments[0].as_string(), context.arena));
}

// The characters that a TRIM takes away.
class TrimmedCharacters {
 public:
  TrimmedCharacters(std::string_view characters, Arena& arena) {
    size_t count = 0;  // of those that are not ASCII
    for (size_t i = 0; i < characters.size(); i += code_point_size(characters.substr(i)))
      count += code_point_size(characters.substr(i)) > 1;
    const std::span<uint32_t> others = arena.make_array<uint32_t>(count);
    size_t next = 0;
    for (size_t i = 0; i < characters.size();) {
      const std::string_view character = characters.substr(i, code_point_size(characters.substr(i)));
      if (character.size() == 1)
        single_bytes_.set(static_cast<unsigned char>(character.front()));
      else
        others[next++] = packed(character);
      i += character.size();
    }
    std::sort(others.begin(), others.end());
    others_ = others;
  }

  // As Unicode has it.
  static const TrimmedCharacters& white_space() {
    static Arena arena;
    static const TrimmedCharacters characters(
        " \t\n\v\f\r\u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A"
        "\u2028\u2029\u202F\u205F\u3000",
        arena);
    return characters;
  }

  bool holds(std::string_view character) const {
    if (character.size() == 1) return single_bytes_.test(static_cast<unsigned char>(character.front()));
    return character.size() <= 4 && std::binary_search(others_.begin(), others_.end(), packed(character));
  }

 private:
  static uint32_t packed(std::string_view character) {
    uint32_t bytes = 0;
    for (const char c : character) bytes = bytes << 8 | static_cast<unsigned char>(c);
    return bytes;
  }

  std::bitset<256> single_bytes_;
  std::span<const uint32_t> others_;
};

std::string_view last_character(std::string_view text) {
  size_t first = text.size() - 1;
  while (first > 0 && (static_cast<unsigned char>(text[first]) & 0xC0) == 0x80) --first;
  return text.substr(first);
}

template <bool at_start, bool at_end>
Value trim(CallContext& context, Arguments arguments) {
  std::string_view text = arguments[0].as_string();
  const TrimmedCharacters trimmed = arguments.size() > 1
                                        ? TrimmedCharacters(arguments[1].as_string(), context.arena)
                                        : TrimmedCharacters::white_space();
  if constexpr (at_start)
    while (!text.empty() && trimmed.holds(text.substr(0, code_point_size(text))))
      text.remove_prefix(code_point_size(text));
  if constexpr (at_end)
    while (!text.empty() && trimmed.holds(last_character(text)))
      text.remove_suffix(last_character(text).size());
  return Value::string(text);
}

// An empty part to find occurs nowhere here: the string stays as it is.
Value replace(CallContext& context, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const std::string_view found = arguments[1].as_string();
  const std::string_view replacement = arguments[2].as_string();
  if (found.empty()) return arguments[0];
  uint64_t count = 0;
  for (size_t at = find_first(text, found); at != kNotFound; at = find_first(text, found, at + found.size()))
    ++count;
  if (count == 0) return arguments[0];
  // Both factors are below 2^32.
  const uint64_t size = text.size() - count * found.size() + count * replacement.size();
  if (size > kLongestString) return Value::undefined();
  Appender out(context.arena, size);
  size_t copied = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = find_first(text, found, copied);
    out.append(text.substr(copied, at - copied));
    out.append(replacement);
    copied = at + found.size();
  }
  out.append(text.substr(copied));
  return out.string();
}

Value replicate(CallContext& context, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const double number = arguments[1].as_double();
  if (!std::isfinite(number) || number < 0) return Value::undefined();
  const auto times = static_cast<uint64_t>(count_argument(arguments[1]));
  if (text.empty() || times == 0) return Value::string("");
  const uint64_t length = utf16_length(text);
  if (length > kLongestReplicate || times > kLongestReplicate / std::max<uint64_t>(length, 1))
    return Value::undefined();
  Appender out(context.arena, times * text.size());
  for (uint64_t i = 0; i < times; ++i) out.append(text);
  return out.string();
}

// Turns code points around, so that each stays whole.
Value reverse(CallContext& context, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  Appender out(context.arena, text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view last = last_character(rest);
    out.append(last);
    rest.remove_suffix(last.size());
  }
  return out.string();
}

Value string_join(CallContext& context, Arguments arguments) {
  const Value& strings = arguments[0];
  const std::string_view separator = arguments[1].as_string();
  const uint32_t count = strings.size();
  uint64_t size = count > 0 ? uint64_t{separator.size()} * (count - 1) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Value piece = strings.element(i);
    if (!piece.is_string()) return Value::undefined();
    size += piece.as_string().size();
  }
  if (size > kLongestString) return Value::undefined();
  Appender out(context.arena, size);
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) out.append(separator);
    out.append(strings.element(i).as_string());
  }
  return out.string();
}

Value string_split(CallContext& context, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const std::string_view separator = arguments[1].as_string();
  size_t count = 1;
  if (!separator.empty())
    for (size_t at = find_first(text, separator); at != kNotFound;
         at = find_first(text, separator, at + separator.size()))
      ++count;
  const std::span<Value> pieces = context.arena.make_array<Value>(count);
  size_t start = 0;
  for (Value& piece : pieces.first(count - 1)) {
    const size_t end = find_first(text, separator, start);
    piece = Value::string(text.substr(start, end - start));
    start = end + separator.size();
  }
  pieces.back() = Value::string(text.substr(start));
  return Value::array(pieces);
}

constexpr Function kStringChangeRows[] = {
    {"CONCAT", "ss*", concat, "CONCAT(string, string, ...)", "The strings one after another"},
    {"LEFT", "sc", left, "LEFT(string, count)", "The first UTF-16 units of a string"},
    {"LOWER", "s", lower, "LOWER(string)", "The string in lower case"},
    {"LTRIM", "s?s", trim<true, false>, "LTRIM(string [, characters])",
     "The string without white space, or any of the characters, at its start"},
    {"REPLACE", "sss", replace, "REPLACE(string, part, replacement)", "The string with every part replaced"},
    {"REPLICATE", "sn", replicate, "REPLICATE(string, times)",
     "The string many times, up to 10,000 UTF-16 units"},
    {"REVERSE", "s", reverse, "REVERSE(string)", "The string from its end to its start"},
    {"RIGHT", "sc", right, "RIGHT(string, count)", "The last UTF-16 units of a string"},
    {"RTRIM", "s?s", trim<false, true>, "RTRIM(string [, characters])",
     "The string without white space, or any of the characters, at its end"},
    {"STRINGJOIN", "as", string_join, "STRINGJOIN(strings, separator)",
     "The strings of an array with a separator between"},
    {"STRINGSPLIT", "ss", string_split, "STRINGSPLIT(string, separator)",
     "An array of what stands between separators"},
    {"SUBSTRING", "scc", substring, "SUBSTRING(string, start, length)",
     "The UTF-16 units from a start, which counts from 0"},
    {"TRIM", "s?s", trim<true, true>, "TRIM(string [, characters])",
     "The string without white space, or any of the characters, at both ends"},
    {"UPPER", "s", upper, "UPPER(string)", "The string in upper case"},
};

}  // namespace

std::span<const Function> string_change_functions() noexcept {
  return kStringChangeRows;
}

}  // namespace quire::sql
