#include "shell/script.h"

#include <fmt/format.h>

#include <cstring>

#include "shell/commands.h"
#include "shell/messages.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

// Longer text is no statement (the engine takes half of it): a data file on standard input, say. It is run as
// it is, which ends in the error that it deserves, before it fills the memory.
constexpr size_t kLongestStatement = size_t{1} << 20;

// A script as it is run: the statement being gathered and the first outcome that was not `done`.
class Script {
 public:
  // `is_told`: what fails is named by its line as of a script.
  Script(Session& session, bool is_told) : session_(session), is_told_(is_told) {}

  void add_line(std::string_view line) {
    // Some editors put it before the first statement; before a command it would hide its dot.
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (reader_.line() == 0 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (is_command(line)) {
      run_gathered();
      reader_.skip_line();
      if (!has_ended()) run({.text = std::string(line), .line = reader_.line()});
      return;
    }
    if (reader_.is_past_blank_line() && session_.ends_before(reader_.text(), line)) run_gathered();
    for (const StatementText& statement : reader_.add_line(line))
      if (!has_ended()) run(statement);
    if (reader_.text().size() > kLongestStatement) run_gathered();
  }

  void run_gathered() {
    if (!has_ended() && !reader_.is_blank()) run(reader_.take());
  }

  bool has_ended() const { return outcome_ != Outcome::done || session_.has_quit; }
  Outcome outcome() const { return outcome_; }

 private:
  // A line within a statement may begin with the name of a property: `c\n.name`.
  bool is_command(std::string_view line) const {
    if (reader_.is_blank()) return !reader_.is_open() && trim(line).starts_with('.');
    return !reader_.is_open() && find_command(line.substr(0, line.find_first_of(" \t\r"))) != nullptr;
  }

  void run(const StatementText& statement) {
    outcome_ = session_.run(statement.text, statement.line, statement.columns_before);
    if (outcome_ != Outcome::done && is_told_)
      tell("in the statement at line {} of the script\n", statement.line);
  }

  Session& session_;
  bool is_told_;
  StatementReader reader_;
  Outcome outcome_ = Outcome::done;
};

}  // namespace

Outcome run_argument(Session& session, std::string_view text) {
  if (trim(text).starts_with('.')) return session.run(text);
  Script script(session, false);
  while (!text.empty() && !script.has_ended()) {
    const size_t end = text.find('\n');
    script.add_line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  script.run_gathered();
  return script.outcome();
}

Outcome run_script(Session& session) {
  Script script(session, true);
  while (!script.has_ended()) {
    const auto line = session.input().read_line();
    if (!line) break;
    script.add_line(*line);
  }
  // What has come of a statement may be another statement than the whole.
  if (const int failure = session.input().failure(); failure != 0 && !script.has_ended()) {
    print_message(fmt::format("cannot read the script to its end: {}", std::strerror(failure)));
    return Outcome::failed;
  }
  script.run_gathered();
  return script.outcome();
}

}  // namespace quire::shell
