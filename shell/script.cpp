#include "shell/script.h"

#include <fmt/format.h>

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
  explicit Script(Session& session) : session_(session) {}

  void add_line(const std::string& line) {
    if (is_command(line)) {
      run_gathered();
      reader_.skip_line();
      if (!has_ended()) run({line, reader_.line()});
      return;
    }
    const bool is_blank_line = trim(line).empty() && !reader_.is_open();
    for (const StatementText& statement : reader_.add_line(line))
      if (!has_ended()) run(statement);
    if (is_blank_line || reader_.text().size() > kLongestStatement) run_gathered();
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
    outcome_ = session_.run(statement.text, statement.line);
    if (outcome_ != Outcome::done) tell("in the statement at line {} of the script\n", statement.line);
  }

  Session& session_;
  StatementReader reader_;
  Outcome outcome_ = Outcome::done;
};

}  // namespace

Outcome run_argument(Session& session, std::string_view text) {
  if (trim(text).starts_with('.')) return session.run(text);
  StatementReader reader;
  const auto run_all = [&](const std::vector<StatementText>& statements) {
    for (const StatementText& statement : statements)
      if (const Outcome outcome = session.run(statement.text, statement.line); outcome != Outcome::done)
        return outcome;
    return Outcome::done;
  };
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (const Outcome outcome = run_all(reader.add_line(text.substr(0, end))); outcome != Outcome::done)
      return outcome;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return reader.is_blank() ? Outcome::done : run_all({reader.take()});
}

Outcome run_script(Session& session) {
  Script script(session);
  while (!script.has_ended()) {
    const auto line = session.input().read_line();
    if (!line) break;
    script.add_line(*line);
  }
  script.run_gathered();
  return script.outcome();
}

}  // namespace quire::shell
