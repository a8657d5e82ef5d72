#include "engine/advisor/finding.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "sql/value/json.h"

namespace quire::engine {

std::string_view severity_name(Severity severity) noexcept {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::advice:
      return "advice";
    case Severity::warning:
      return "warning";
  }
  return "";
}

void JsonMembers::begin(std::string_view name) {
  if (!members_.empty()) members_ += ',';
  sql::write_json_string(name, members_);
  members_ += ':';
}

JsonMembers& JsonMembers::count(std::string_view name, uint64_t value) {
  begin(name);
  fmt::format_to(std::back_inserter(members_), "{}", value);
  return *this;
}

JsonMembers& JsonMembers::figure(std::string_view name, double value) {
  begin(name);
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(members_), "{:.4g}", value);
  else
    members_ += "null";
  return *this;
}

JsonMembers& JsonMembers::text(std::string_view name, std::string_view value) {
  begin(name);
  sql::write_json_string(value, members_);
  return *this;
}

JsonMembers& JsonMembers::json(std::string_view name, std::string_view value) {
  begin(name);
  members_ += value;
  return *this;
}

std::string Finding::to_json() const {
  std::string list = "[";
  for (const std::string& example : examples) list += (list.size() > 1 ? "," : "") + example;
  JsonMembers members;
  members.text("finding", kind).text("severity", severity_name(severity)).text("path", path);
  members.text("what", what).json("numbers", numbers.object()).json("examples", list + "]");
  return members.text("advice", advice).object();
}

JsonMembers ItemName::members() const {
  JsonMembers members;
  members.text("id", id);
  if (!partition_key.empty()) members.json("partitionKey", partition_key);
  return members;
}

std::string bytes_text(double bytes) {
  constexpr double kStep = 1000;
  static constexpr std::string_view kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= kStep && unit + 1 < std::size(kUnits)) {
    bytes /= kStep;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string percent_text(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::string days_text(double days) {
  constexpr double kDaysPerMonth = 30.4;
  constexpr double kDaysPerYear = 365.25;
  if (days < 1) return "less than a day";
  if (days < 2 * kDaysPerMonth) return fmt::format("{:.0f} days", days);
  if (days < 2 * kDaysPerYear) return fmt::format("{:.0f} months", days / kDaysPerMonth);
  return days > 1000 * kDaysPerYear ? "more than 1000 years"
                                    : fmt::format("{:.0f} years", days / kDaysPerYear);
}

}  // namespace quire::engine
