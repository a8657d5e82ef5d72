// What the advisor reports: a row of ADVISE.
//
//   {"finding": "growing_array", "severity": "warning", "path": "/comments", "what": "a sentence",
//    "numbers": {"longest": 1200, ...}, "examples": [{"id": "p17", "length": 1200}, ...], "advice": "what to
//    do"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quire::engine {

enum class Severity : uint8_t {
  note,     // how things are; nothing to change
  advice,   // would be better otherwise
  warning,  // gives wrong answers, fails or slows down, now or as the data grows
};
std::string_view severity_name(Severity severity) noexcept;

// The members of a JSON object, written one behind the other.
class JsonMembers {
 public:
  JsonMembers& count(std::string_view name, uint64_t value);
  // Rounded to four digits.
  JsonMembers& figure(std::string_view name, double value);
  JsonMembers& text(std::string_view name, std::string_view value);
  JsonMembers& json(std::string_view name, std::string_view value);
  bool is_empty() const noexcept { return members_.empty(); }
  std::string object() const { return "{" + members_ + "}"; }

 private:
  void begin(std::string_view name);
  std::string members_;
};

struct Finding {
  std::string_view kind;
  Severity severity = Severity::note;
  std::string path;  // "/comments", "/lines/[]/product", or empty
  std::string what;
  JsonMembers numbers;
  std::vector<std::string> examples;  // JSON objects
  std::string advice;

  Finding() = default;
  Finding(std::string_view kind, Severity severity, std::string path = {})
      : kind(kind), severity(severity), path(std::move(path)) {}

  std::string to_json() const;
};
using Findings = std::vector<Finding>;

// As many examples as a finding shows.
inline constexpr size_t kMostExamples = 5;

// An item as examples name it.
struct ItemName {
  std::string id;
  std::string partition_key;  // JSON: the value, or an array of those of a hierarchical key; empty: none

  JsonMembers members() const;
};

// "1,234,567 B", "3.4 MB"
std::string bytes_text(double bytes);
// "12.5 %"
std::string percent_text(double share);
// "3 days", "14 months"
std::string days_text(double days);

}  // namespace quire::engine
