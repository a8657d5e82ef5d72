// Commands that change how the session goes on: which database, which mode, where rows go, what runs next.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "shell/commands.h"
#include "shell/json_text.h"
#include "shell/messages.h"
#include "shell/script.h"

namespace quire::shell {
namespace {

Outcome failed(std::string_view message) {
  print_message(message);
  return Outcome::failed;
}

Outcome set_switch(std::string_view command, const Words& words, bool& setting) {
  if (words[0] != "on" && words[0] != "off") return wrong_usage(command, "it takes on or off");
  setting = words[0] == "on";
  return Outcome::done;
}

Outcome redirect(Session& session, const std::string& path, bool only_once) {
  if (session.is_own_file(path))
    return failed(fmt::format("'{}' is of the open database: name another file", path));
  if (session.output.redirect(path, only_once)) return Outcome::done;
  return failed(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

// A file that goes with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) {
    const char* folder = std::getenv("TMPDIR");
    constexpr std::string_view kEnding = ".sql";
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/quire-XXXXXX" + std::string(kEnding);
    const int descriptor = mkstemps(path_.data(), static_cast<int>(kEnding.size()));
    if (descriptor < 0) return;
    is_there_ = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(descriptor);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_there() const { return is_there_; }
  const std::string& path() const { return path_; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
  bool is_there_ = false;
};

// Whether a container's name stands in statements as it is, and not in quotes.
bool is_plain_name(Session& session, const std::string& name) {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (name.empty() || !std::ranges::all_of(name, is_of_name)) return false;
  const auto insert = session.database().prepare("INSERT INTO " + name + " VALUES {id: ''}");
  return insert || insert.error().code != QUIRE_SYNTAX;
}

const char* editor() {
  for (const char* name : {"VISUAL", "EDITOR"})
    if (const char* command = std::getenv(name); command != nullptr && *command != '\0') return command;
  return "vi";
}

}  // namespace

Outcome open_command(Session& session, const Words& words) {
  return session.open(words[0]) ? Outcome::done : Outcome::failed;
}

Outcome use_command(Session& session, const Words& words) {
  if (words.empty()) {
    session.container.clear();
    return Outcome::done;
  }
  if (const auto container = session.database().container(words[0]); !container) {
    print_error(container.error());
    return Outcome::failed;
  }
  session.container = words[0];
  return Outcome::done;
}

Outcome mode_command(Session& session, const Words& words) {
  if (words.empty()) {
    std::string text;
    for (const ModeRow& row : modes())
      text += fmt::format("{} {:<9} {}\n", row.mode == session.mode ? '*' : ' ', row.name, row.summary);
    return print_text(text);
  }
  const ModeRow* row = find_mode(words[0]);
  if (row == nullptr)
    return wrong_usage(".mode", fmt::format("there is no mode '{}', only {}", words[0], mode_names()));
  if (words.size() > 1 && row->mode != Mode::insert)
    return wrong_usage(".mode", "only the mode insert takes a container");
  session.mode = row->mode;
  if (words.size() > 1)
    session.insert_into = is_plain_name(session, words[1]) ? words[1] : shell::json_string(words[1]);
  return Outcome::done;
}

Outcome width_command(Session& session, const Words& words) {
  constexpr size_t kWidest = 100'000;
  size_t width = 0;
  const char* end = words[0].data() + words[0].size();
  const auto [stopped, error] = std::from_chars(words[0].data(), end, width);
  if (error != std::errc() || stopped != end || width > kWidest)
    return wrong_usage(".width", fmt::format("'{}' is no number of columns from 0 to {}", words[0], kWidest));
  session.width = width;
  return Outcome::done;
}

Outcome output_command(Session& session, const Words& words) {
  return redirect(session, words.empty() ? "" : words[0], false);
}

Outcome once_command(Session& session, const Words& words) {
  return redirect(session, words[0], true);
}

Outcome pager_command(Session& session, const Words& words) {
  return set_switch(".pager", words, session.output.uses_pager);
}

Outcome timer_command(Session& session, const Words& words) {
  return set_switch(".timer", words, session.shows_time);
}

Outcome stats_command(Session& session, const Words& words) {
  return set_switch(".stats", words, session.shows_statistics);
}

Outcome explain_command(Session& session, const Words& words) {
  return set_switch(".explain", words, session.shows_plan);
}

Outcome read_command(Session& session, const Words& words) {
  constexpr int kDeepest = 16;  // a script that reads itself
  static int depth = 0;
  if (depth == kDeepest) return failed(fmt::format("scripts read scripts more than {} deep", kDeepest));
  const int descriptor = ::open(words[0].c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed(fmt::format("cannot read '{}': {}", words[0], std::strerror(errno)));
  StandardInput file(descriptor);
  StandardInput* const before = session.read_from(&file);
  ++depth;
  const Outcome outcome = run_script(session);
  --depth;
  session.read_from(before);
  ::close(descriptor);
  return outcome;
}

Outcome edit_command(Session& session, const Words&) {
  const TemporaryFile file(session.last_statement);
  if (!file.is_there())
    return failed(fmt::format("cannot write '{}': {}", file.path(), std::strerror(errno)));
  const std::string command = fmt::format("{} '{}'", editor(), file.path());
  std::fflush(stdout);
  if (std::system(command.c_str()) != 0)
    return failed(fmt::format("the editor failed: {}; $EDITOR names another", editor()));
  const std::string text = file.text();
  if (const Outcome shown = print_text(text.ends_with('\n') ? text : text + '\n'); shown != Outcome::done)
    return shown;
  return run_argument(session, text);
}

Outcome quit_command(Session& session, const Words&) {
  session.has_quit = true;
  return Outcome::done;
}

}  // namespace quire::shell
