#include "engine/index/policy_path.h"

#include <fmt/format.h>

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

// Nothing but `why` if the text is no path.
Result<std::vector<Segment>> split(std::string_view text, std::string_view what) {
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

}  // namespace

Result<std::vector<PathPattern>> parse_pattern(std::string_view text) {
  constexpr std::string_view kWhat = "indexingPolicy";
  QUIRE_ASSIGN(std::vector<Segment> segments, split(text, kWhat));
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
    std::string_view names = std::string_view(segment.text).substr(1, segment.text.size() - 2);
    for (size_t end = 0; end != std::string_view::npos;
         names.remove_prefix(end == names.npos ? names.size() : end + 1)) {
      end = names.find(',');
      const std::string_view name = names.substr(0, end);
      if (name.empty()) return invalid(kWhat, text, "has an empty name in {}");
      for (const PathPattern& pattern : patterns)
        expanded.emplace_back(pattern).steps.push_back({std::string(name), false});
      if (expanded.size() > kMostPolicyPatterns) return invalid(kWhat, text, "stands for too many paths");
    }
    patterns = std::move(expanded);
  }
  return patterns;
}

Result<std::vector<sql::IndexStep>> parse_plain_path(std::string_view text, std::string_view what) {
  QUIRE_ASSIGN(const std::vector<Segment> segments, split(text, what));
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
