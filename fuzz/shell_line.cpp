// Any text as lines typed into the shell: statements and dot-commands of a session over a database in memory.
// It ends, and leaves the session fit for another statement. Commands that reach out of the process (files,
// editor, pager) are left to the shell's own tests, their words excepted.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "shell/arguments.h"
#include "shell/session.h"
#include "shell/statement_text.h"

namespace {

using namespace quire;
using namespace quire::shell;

constexpr std::string_view kReachingOut[] = {".backup",   ".compact", ".edit",    ".export", ".feed",
                                             ".generate", ".import",  ".once",    ".open",   ".output",
                                             ".pager",    ".read",    ".recover", ".script"};

bool reaches_out(std::string_view line) {
  // More than the shell itself takes for the end of a name.
  constexpr std::string_view kEnds = " \t\n\v\f\r;";
  const size_t start = std::min(line.find_first_not_of(kEnds), line.size());
  const std::string_view name = line.substr(start, line.substr(start).find_first_of(kEnds));
  return std::ranges::find(kReachingOut, name) != std::end(kReachingOut);
}

// What the session says goes nowhere.
void be_quiet() {
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int descriptor : {0, 1}) dup2(nowhere, descriptor);
  if (freopen("/dev/null", "w", stdout) == nullptr) std::abort();
}

void run(Session& session, std::string_view text) {
  StatementReader reader;
  for (size_t at = 0; at <= text.size() && !session.has_quit;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (reader.is_blank() && line.starts_with('.')) {
      if (!reaches_out(line)) session.run(line);
      reader.skip_line();
      continue;
    }
    for (const StatementText& statement : reader.add_line(line))
      if (!reaches_out(statement.text)) session.run(statement.text, statement.line);
  }
  const StatementText rest = reader.take();
  if (!reaches_out(rest.text)) session.run(rest.text, rest.line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool is_quiet = (be_quiet(), true);
  static_cast<void>(is_quiet);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(split_words(text));
  if (const auto words = split_words(text)) parse_arguments(*words, {"name", "id"}, {"upsert"});
  Options options;
  options.statement_memory = 1 << 24;
  Session session(options, Mode::json_lines);
  if (!session.open(":memory:")) std::abort();
  run(session, text);
  session.has_quit = false;
  session.container.clear();
  if (session.run("SELECT 1") != Outcome::done) std::abort();
  return 0;
}
