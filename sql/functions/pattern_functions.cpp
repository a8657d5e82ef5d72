// REGEXMATCH, by RE2: its time grows with the text and never explodes, which is why it has no back-references
// and no look-around. A constant pattern is compiled once a call site; others are compiled when they change.
#include <re2/re2.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sql/functions/families.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr std::string_view kEndOfText = "(?:\\n?\\z)";

// How many bytes at the start of `pattern`, which is '[', make up the class; all if it does not end. A
// bracket that closes ends no class where it stands first, after a backslash, or in a name such as [:alpha:].
size_t size_of_class(std::string_view pattern) {
  const size_t last_name_end = pattern.rfind(":]");
  const bool has_names = last_name_end != std::string_view::npos;
  size_t at = pattern.starts_with("[^") ? 2 : 1;
  if (pattern.substr(at).starts_with(']')) ++at;
  while (at < pattern.size() && pattern[at] != ']') {
    if (has_names && at + 2 <= last_name_end && pattern.substr(at).starts_with("[:"))
      at = pattern.find(":]", at + 2) + 2;
    else
      at += pattern[at] == '\\' ? 2 : 1;
  }
  return std::min(at + 1, pattern.size());
}

// The modifier x: white space and comments from # to the end of the line do not count, save in brackets and
// after a backslash.
std::string without_layout(std::string_view pattern) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  std::string kept;
  while (!pattern.empty()) {
    const char c = pattern.front();
    size_t taken = 1;
    if (c == '#')
      taken = std::min(pattern.find('\n'), pattern.size());
    else if (c == '\\')
      taken = std::min<size_t>(2, pattern.size());
    else if (c == '[')
      taken = size_of_class(pattern);
    if (c != '#' && kSpaces.find(c) == std::string_view::npos) kept += pattern.substr(0, taken);
    pattern.remove_prefix(taken);
  }
  return kept;
}

// The letters of classes that PCRE has and RE2 has not, or has with other characters in them: white space
// with the vertical tab, white space within a line, and ends of lines. Empty for another letter. The last of
// each is a range: where a hyphen follows it is itself then.
std::string_view class_of_pcre(char letter) {
  switch (letter) {
    case 's':
      return " \\t-\\r";
    case 'h':
      return "\\t \\x{a0}\\x{1680}\\x{180e}\\x{202f}\\x{205f}\\x{3000}\\x{2000}-\\x{200a}";
    case 'v':
      return "\\n-\\r\\x{85}\\x{2028}\\x{2029}";
    default:
      return {};
  }
}

// A backslash and a letter, which does not stand in brackets.
std::string escape_of_re2(std::string_view escape) {
  const char letter = escape.back();
  switch (letter) {
    case 'Z':
      return std::string(kEndOfText);
    case 'R':
      return fmt::format("(?:\\r\\n|[{}])", class_of_pcre('v'));
    case 'N':
      return "[^\\n]";
    case 'e':
      return "\\x1b";
    default:
      break;
  }
  if (const std::string_view same = class_of_pcre(letter); !same.empty()) return fmt::format("[{}]", same);
  if (letter != 'S' && letter != 'H' && letter != 'V') return std::string(escape);
  return fmt::format("[^{}]", class_of_pcre(static_cast<char>(letter - 'A' + 'a')));
}

// All of the brackets. Letters that stand for all but some characters stay as they are to RE2.
std::string class_of_re2(std::string_view brackets) {
  std::string text;
  while (!brackets.empty()) {
    const std::string_view part = brackets.substr(0, brackets.starts_with('\\') ? 2 : 1);
    const std::string_view known = part.size() == 2 ? class_of_pcre(part[1]) : std::string_view();
    if (part == "\\e")
      text += "\\x1b";
    else
      text += known.empty() ? part : known;
    brackets.remove_prefix(part.size());
  }
  return text;
}

// The front of a group, as RE2 writes it, and how long it is in the pattern: 0 where it is none that differs.
// A comment goes.
std::pair<std::string_view, size_t> group_of_re2(std::string_view pattern) {
  if (pattern.starts_with("(?#") && pattern.contains(')')) return {"", pattern.find(')') + 1};
  if (pattern.starts_with("(?<=") || pattern.starts_with("(?<!")) return {};
  if (pattern.starts_with("(?<")) return {"(?P<", 3};
  return {};
}

// What PCRE, which the service has, writes or means otherwise than RE2: `$` without the modifier m and `\Z`
// stand before a last line feed, too, `(?<name>` is `(?P<name>` to RE2, and some letters stand for more.
std::string in_words_of_re2(std::string_view pattern, bool has_lines) {
  std::string text;
  while (!pattern.empty()) {
    const char c = pattern.front();
    size_t taken = 1;
    if (pattern.starts_with("\\Q")) {
      taken = std::min(pattern.find("\\E"), pattern.size());
      text += pattern.substr(0, taken);
    } else if (c == '\\' && pattern.size() > 1) {
      taken = 2;
      text += escape_of_re2(pattern.substr(0, taken));
    } else if (c == '[') {
      taken = size_of_class(pattern);
      text += class_of_re2(pattern.substr(0, taken));
    } else if (const auto [front, length] = group_of_re2(pattern); length > 0) {
      taken = length;
      text += front;
    } else if (c == '$' && !has_lines) {
      text += kEndOfText;
    } else {
      text += c;
    }
    pattern.remove_prefix(taken);
  }
  return text;
}

// Whether a group such as (?m) or (?im:...) turns lines on within the pattern.
bool has_lines_within(std::string_view pattern) {
  for (size_t at = pattern.find("(?"); at != std::string_view::npos; at = pattern.find("(?", at + 2)) {
    const std::string_view flags = pattern.substr(at + 2);
    if (flags.substr(0, flags.find_first_not_of("imsU")).contains('m')) return true;
  }
  return false;
}

// Null if the modifiers are not among m, s, i and x.
std::unique_ptr<re2::RE2> compile(std::string_view pattern, std::string_view modifiers) {
  std::string flags;
  bool ignores_layout = false;
  for (const char modifier : modifiers) {
    if (modifier == 'x')
      ignores_layout = true;
    else if (modifier == 'm' || modifier == 's' || modifier == 'i')
      flags += modifier;
    else
      return nullptr;
  }
  std::string expression = flags.empty() ? std::string() : fmt::format("(?{})", flags);
  const std::string kept = ignores_layout ? without_layout(pattern) : std::string(pattern);
  expression += in_words_of_re2(kept, flags.contains('m') || has_lines_within(kept));
  re2::RE2::Options options;
  options.set_log_errors(false);
  return std::make_unique<re2::RE2>(expression, options);
}

// The pattern that the call site met last.
struct RegexState final : CallState {
  std::string pattern;
  std::string modifiers;
  std::unique_ptr<re2::RE2> regex;

  void set(std::string_view new_pattern, std::string_view new_modifiers) {
    regex = compile(new_pattern, new_modifiers);
    pattern = new_pattern;
    modifiers = new_modifiers;
  }
};

Value match(const re2::RE2* regex, std::string_view text) {
  if (regex == nullptr || !regex->ok()) return Value::undefined();
  return Value::boolean(re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex));
}

Value regex_match(CallContext& context, Arguments arguments) {
  const std::string_view text = arguments[0].as_string();
  const std::string_view pattern = arguments[1].as_string();
  const std::string_view modifiers = arguments.size() > 2 ? arguments[2].as_string() : "";
  auto* state = static_cast<RegexState*>(context.state);
  if (state == nullptr) return match(compile(pattern, modifiers).get(), text);
  if (!state->regex || state->pattern != pattern || state->modifiers != modifiers)
    state->set(pattern, modifiers);
  return match(state->regex.get(), text);
}

Result<std::unique_ptr<CallState>> prepare_regex(std::span<const std::optional<Value>> constants) {
  auto state = std::make_unique<RegexState>();
  const bool has_modifiers = constants.size() > 2;
  const bool is_constant = constants[1] && constants[1]->is_string() &&
                           (!has_modifiers || (constants[2] && constants[2]->is_string()));
  if (is_constant) {
    state->set(constants[1]->as_string(), has_modifiers ? constants[2]->as_string() : "");
    if (!state->regex)
      return fail(ErrorCode::semantic,
                  fmt::format("REGEXMATCH does not know the modifiers '{}'; it takes m, s, i and x",
                              shortened(state->modifiers)));
    if (!state->regex->ok())
      return fail(ErrorCode::semantic,
                  fmt::format("'{}' is no regular expression that REGEXMATCH takes: {}",
                              shortened(state->pattern), shortened(state->regex->error(), 100)));
  }
  return state;
}

constexpr Function kPatternRows[] = {
    {"REGEXMATCH", "ss?s", regex_match, "REGEXMATCH(string, pattern [, modifiers])",
     "Whether the regular expression matches somewhere; modifiers: m lines, s dot takes newlines, i any "
     "case, x layout",
     Volatility::pure, prepare_regex},
};

}  // namespace

std::span<const Function> pattern_functions() noexcept {
  return kPatternRows;
}

}  // namespace quire::sql
