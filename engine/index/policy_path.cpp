#include "engine/index/policy_path.h"

#include <fmt/format.h>

#include <algorithm>

namespace quire::engine {
namespace {

constexpr size_t kMostSteps = 128;

std::unexpected<Error> invalid(std::string_view what, std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_definition, fmt::format("the path '{}' of {} {}", text, what, why));
}

// A piece between slashes.
struct Segment {
  std::string text;
  bool is_quoted = false;
};

// Behind the } that ends the tuple at `at`; `at` itself if there is none.
size_t end_of_tuple(std::string_view text, size_t at) {
  for (size_t end = text.find('}', at); end != text.npos; end = text.find('}', end + 1))
    if (end + 1 == text.size() || text[end + 1] == '/') return end + 1;
  return at;
}

enum class Tuples : uint8_t { none, whole };  // whether the slashes within {} belong to a tuple

// Nothing but `why` if the text is no path.
Result<std::vector<Segment>> split(std::string_view text, std::string_view what, Tuples tuples) {
  std::vector<Segment> segments;
  if (text.empty() || text[0] != '/') return invalid(what, text, "does not begin with /");
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '/') return invalid(what, text, "has text behind a quoted name");
    ++at;
    Segment& segment = segments.emplace_back();
    if (at < text.size() && text[at] == '"') {
      segment.is_quoted = true;
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        segment.text += text[at];
      }
      if (at == text.size()) return invalid(what, text, "has a quote that does not end");
      ++at;
    } else {
      if (tuples == Tuples::whole && at < text.size() && text[at] == '{') {
        const size_t end = end_of_tuple(text, at);
        segment.text = text.substr(at, end - at);
        at = end;
      }
      while (at < text.size() && text[at] != '/') segment.text += text[at++];
    }
    if (segment.text.empty()) return invalid(what, text, "has an empty name");
    if (segments.size() > kMostSteps) return invalid(what, text, "has more than 128 names");
  }
  return segments;
}

sql::IndexStep step_of(const Segment& segment) {
  if (!segment.is_quoted && segment.text == "[]") return {{}, true};
  return {segment.text, false};
}

bool is_word(const Segment& segment, std::string_view word) {
  return !segment.is_quoted && segment.text == word;
}

bool is_tuple(const Segment& segment) {
  return !segment.is_quoted && segment.text.starts_with('{') && segment.text.ends_with('}');
}

// What stands between the commas of a tuple, without the blanks around it.
std::vector<std::string_view> names_of_tuple(const Segment& tuple) {
  std::vector<std::string_view> names;
  std::string_view rest = std::string_view(tuple.text).substr(1, tuple.text.size() - 2);
  for (size_t end = 0; end != std::string_view::npos; rest.remove_prefix(std::min(rest.size(), end + 1))) {
    end = rest.find(',');
    std::string_view name = rest.substr(0, end);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    names.push_back(name);
    if (end == std::string_view::npos) break;
  }
  return names;
}

// Of a name that is no path, as a file may have it from before they were checked, the name itself.
std::vector<sql::IndexStep> steps_of_name(std::string_view name) {
  const auto segments = split(fmt::format("/{}", name), "indexingPolicy", Tuples::none);
  if (!segments) return {{std::string(name), false}};
  std::vector<sql::IndexStep> steps;
  for (const Segment& segment : *segments) steps.push_back(step_of(segment));
  return steps;
}

}  // namespace

Result<std::vector<PathPattern>> parse_pattern(std::string_view text) {
  constexpr std::string_view kWhat = "indexingPolicy";
  QUIRE_ASSIGN(std::vector<Segment> segments, split(text, kWhat, Tuples::whole));
  const bool is_subtree = is_word(segments.back(), "*");
  if (!is_subtree && !is_word(segments.back(), "?")) return invalid(kWhat, text, "must end in /? or /*");
  segments.pop_back();
  if (segments.empty() && !is_subtree) return invalid(kWhat, text, "must name a property before /?");
  std::vector<PathPattern> patterns(1);
  patterns[0].is_subtree = is_subtree;
  for (const Segment& segment : segments) {
    if (is_word(segment, "*") || is_word(segment, "?"))
      return invalid(kWhat, text, "has /? or /* before its end");
    if (!is_tuple(segment)) {
      for (PathPattern& pattern : patterns) pattern.steps.push_back(step_of(segment));
      continue;
    }
    std::vector<PathPattern> expanded;
    for (const std::string_view name : names_of_tuple(segment)) {
      if (name.empty()) return invalid(kWhat, text, "has an empty name in {}");
      const std::vector<sql::IndexStep> steps = steps_of_name(name);
      for (const PathPattern& pattern : patterns) {
        std::vector<sql::IndexStep>& whole = expanded.emplace_back(pattern).steps;
        whole.insert(whole.end(), steps.begin(), steps.end());
      }
      if (expanded.size() > kMostPolicyPatterns) return invalid(kWhat, text, "stands for too many paths");
    }
    patterns = std::move(expanded);
  }
  return patterns;
}

Result<void> check_tuples(std::string_view text) {
  constexpr std::string_view kWhat = "indexingPolicy";
  QUIRE_ASSIGN(const std::vector<Segment> segments, split(text, kWhat, Tuples::whole));
  for (const Segment& segment : segments) {
    if (!is_tuple(segment)) continue;
    for (const std::string_view name : names_of_tuple(segment)) {
      if (name.contains('{') || name.contains('}')) return invalid(kWhat, text, "has {} within {}");
      if (name.starts_with('/') || name.ends_with("/?") || name.ends_with("/*"))
        return invalid(kWhat, text,
                       "has a name within {} that begins with / or ends in /? or /*: {a/b, c}/? is right");
    }
  }
  return {};
}

bool has_tuple_of_paths(std::string_view text) {
  const auto segments = split(text, "indexingPolicy", Tuples::whole);
  return segments && std::ranges::any_of(*segments, [](const Segment& segment) {
           return is_tuple(segment) && segment.text.find_first_of(" /") != std::string::npos;
         });
}

Result<std::vector<sql::IndexStep>> parse_plain_path(std::string_view text, std::string_view what) {
  QUIRE_ASSIGN(const std::vector<Segment> segments, split(text, what, Tuples::none));
  std::vector<sql::IndexStep> path;
  for (const Segment& segment : segments) {
    if (is_word(segment, "*") || is_word(segment, "?"))
      return invalid(what, text, "names a property: it takes no /? and no /*");
    path.push_back(step_of(segment));
  }
  return path;
}

std::string index_path_text(std::span<const sql::IndexStep> path) {
  std::string text;
  for (const sql::IndexStep& step : path) {
    text += '/';
    const bool is_plain = step.name.find_first_of("/\"*?[]{},\\ ") == std::string::npos;
    if (step.is_element) {
      text += "[]";
    } else if (is_plain) {
      text += step.name;
    } else {
      text += '"';
      for (const char c : step.name) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
      }
      text += '"';
    }
  }
  return text;
}

std::string pattern_text(const PathPattern& pattern) {
  return index_path_text(pattern.steps) + (pattern.is_subtree ? "/*" : "/?");
}

}  // namespace quire::engine
