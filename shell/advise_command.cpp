// .advise: the findings of ADVISE as a report to read. In a mode of its own choice the user gets them as
// rows.
#include <fmt/format.h>

#include <algorithm>

#include "shell/bars.h"
#include "shell/commands.h"
#include "shell/display_width.h"
#include "shell/interrupt.h"
#include "shell/messages.h"

namespace quire::shell {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kWidestText = 100;

// The words of a text in lines that fit, each with `indent` blanks before it.
std::string wrapped(std::string_view text, size_t indent) {
  const size_t width = std::max<size_t>(20, std::min(kWidestText, terminal_width())) - indent;
  std::string lines(indent, ' ');
  size_t used = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const size_t word_width = display_width(word);
    if (used > 0 && used + 1 + word_width > width) {
      lines += "\n" + std::string(indent, ' ');
      used = 0;
    }
    if (used > 0) lines += ' ';
    lines += word;
    used += (used > 0 ? 1 : 0) + word_width;
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines + "\n";
}

// Numbers that are pictures rather than words.
constexpr std::string_view kHistograms[] = {"lengths", "sizes"};

std::vector<HistogramRow> histogram_rows(Value list) {
  std::vector<HistogramRow> rows;
  for (const Value row : list.elements())
    rows.push_back(
        {static_cast<uint64_t>(row["upTo"].as_integer()), static_cast<uint64_t>(row["count"].as_integer())});
  return rows;
}

Result<std::string> details(Value finding) {
  std::string text = wrapped(printable(finding["what"].as_string()), kIndent);
  for (const std::string_view name : kHistograms)
    if (const auto rows = histogram_rows(finding["numbers"][name]); rows.size() > 1)
      text +=
          fmt::format("{:{}}{} and how many have them:\n{}", "", kIndent, name, histogram(rows, 2 * kIndent));
  for (const Value example : finding["examples"].elements()) {
    auto json = example.to_json();
    if (!json) return Failure(std::move(json.error()));
    text += fmt::format("{:{}}see {}\n", "", kIndent, printable(*json));
  }
  if (const std::string_view advice = finding["advice"].as_string(); !advice.empty())
    text += wrapped("to do: " + printable(advice), kIndent);
  return text;
}

Result<void> write_report(Session& session, const std::string& findings) {
  auto statement = session.database().prepare("SELECT VALUE f FROM f IN (SELECT VALUE @findings)");
  if (!statement) return Failure(std::move(statement.error()));
  if (auto bound = statement->bind("findings", Json{findings}); !bound) return bound;
  for (const Value finding : statement->rows()) {
    const std::string_view kind = finding["finding"].as_string();
    if (kind == "summary") {
      session.output.write(fmt::format("{}: {}\n{}\n", printable(finding["numbers"]["container"].as_string()),
                                       finding["what"].as_string(), finding["advice"].as_string()));
      continue;
    }
    auto text = details(finding);
    if (!text) return Failure(std::move(text.error()));
    session.output.write(fmt::format("\n{}  {}  {}\n{}", finding["severity"].as_string(), kind,
                                     printable(finding["path"].as_string()), *text));
  }
  if (statement->error()) return Failure(*statement->error());
  return {};
}

}  // namespace

Outcome advise_command(Session& session, const Words& words) {
  const Interruptible interruptible(session.database());
  const auto findings = session.database().advise(words[0]);
  session.clear_progress();
  if (!findings) {
    print_error(findings.error());
    return Outcome::failed;
  }
  if (session.mode != Mode::automatic) return session.show_rows(*findings);
  session.output.begin();
  const auto written = write_report(session, *findings);
  const bool is_finished = session.output.finish();
  if (!written) {
    print_error(written.error());
    return Outcome::failed;
  }
  return is_finished ? Outcome::done : cannot_write_output(session.output);
}

}  // namespace quire::shell
