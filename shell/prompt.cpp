#include "shell/prompt.h"

#include <fmt/format.h>

#include "shell/commands.h"
#include "shell/completions.h"
#include "shell/interrupt.h"
#include "shell/line_editor.h"
#include "shell/messages.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

class Prompt {
 public:
  explicit Prompt(Session& session)
      : session_(session),
        editor_(session.input(),
                [this](const std::string& line, const std::string& word) {
                  return completions_.of(reader_.text() + line, word);
                }),
        completions_(session) {}

  void run() {
    while (!session_.has_quit) {
      forget_interrupt();
      const auto line = editor_.read(text());
      if (!line && is_interrupted()) {
        print_text("\n");
        reader_ = {};
      } else if (!line) {
        print_text("\n");
        return;
      } else {
        add_line(*line);
      }
    }
  }

 private:
  std::string text() const {
    const std::string name = session_.container.empty() ? "quire" : session_.container;
    return has_begun() ? std::string(name.size(), ' ') + "> " : name + "> ";
  }

  // The words that leave other shells, which begin no statement.
  static bool is_farewell(std::string_view line) {
    return line == "exit" || line == "quit" || line == "exit;" || line == "quit;" || line == "\\q";
  }

  void add_line(const std::string& line) {
    const std::string_view words = trim(line);
    const bool is_empty = words.empty();
    if (!is_empty) editor_.remember(line);
    if (!has_begun() && (words.starts_with('.') || is_farewell(words))) {
      session_.run(is_farewell(words) ? ".quit" : words);
      return;
    }
    // As in a script it ends what was not ended.
    if (!reader_.is_open() && find_command(line.substr(0, line.find_first_of(" \t"))) != nullptr) {
      session_.run(reader_.take().text);
      session_.run(words);
      return;
    }
    if (reader_.is_past_blank_line() && session_.ends_before(reader_.text(), line))
      session_.run(reader_.take().text);
    for (const StatementText& statement : reader_.add_line(line))
      session_.run(statement.text, 1, statement.columns_before);
    const bool is_ended = is_empty && !session_.input().has_more();
    if (is_ended || (!reader_.is_blank() && !goes_on())) session_.run(reader_.take().text);
  }

  bool has_begun() const { return !reader_.is_blank() || reader_.is_open(); }

  bool goes_on() const {
    return reader_.is_open() || session_.input().has_more() || session_.is_cut_off(reader_.text());
  }

  Session& session_;
  LineEditor editor_;
  StatementReader reader_;
  Completions completions_;
};

}  // namespace

void run_prompt(Session& session) {
  print_text(
      fmt::format("Quire {} - {} - .help for help, Ctrl-D to leave\n", quire_version(), session.path()));
  Prompt(session).run();
}

}  // namespace quire::shell
