// Commands that tell of the shell and the database, .create, .check, .recover and .backup.
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cctype>

#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"
#include "shell/version.h"

namespace quire::shell {
namespace {

bool contains_any_case(std::string_view text, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return !std::ranges::search(text, part, same).empty() || part.empty();
}

}  // namespace

Outcome help_command(Session&, const Words& words) {
  if (!words.empty()) {
    const std::string name = words[0].starts_with('.') ? words[0] : "." + words[0];
    const Command* command = find_command(name);
    if (command == nullptr) return wrong_usage(".help", "there is no command " + name);
    return print_text(fmt::format("{} {}\n  {}\n{}", command->name, command->arguments, command->summary,
                                  command->details));
  }
  std::string text;
  for (const Command& command : all_commands())
    text +=
        fmt::format("{:<52} {}\n", fmt::format("{} {}", command.name, command.arguments), command.summary);
  return print_text(text +
                    "\nAnything else is SQL. A statement ends with ; or, before the next one, an empty line, "
                    "and at the prompt\n"
                    "with Enter unless it plainly goes on. `.help .import` tells the options of .import.\n");
}

Outcome version_command(Session&, const Words&) {
  return print_text(version_text() + "\n");
}

Outcome containers_command(Session& session, const Words&) {
  const auto list = session.database().containers();
  return list ? session.show_rows(*list) : failed(list.error());
}

Outcome create_command(Session& session, const Words& words) {
  if (const auto made = session.database().create_container(words[0]); !made) {
    print_error(made.error(), words[0]);
    return Outcome::failed;
  }
  return Outcome::done;
}

Outcome functions_command(Session& session, const Words& words) {
  std::string list = "[";
  quire_function function;
  for (size_t i = 0; quire_function_at(i, &function) != 0; ++i) {
    const std::string_view pattern = words.empty() ? "" : std::string_view(words[0]);
    if (!contains_any_case(function.name, pattern) && !contains_any_case(function.summary, pattern)) continue;
    list += fmt::format(R"({}{{"function":{},"result":{}}})", list.size() > 1 ? "," : "",
                        json_string(function.signature), json_string(function.summary));
  }
  if (list.size() > 1) return session.show_rows(list + "]");
  print_message(fmt::format("no function has '{}' in its name or summary", words[0]));
  return Outcome::failed;
}

Outcome status_command(Session& session, const Words&) {
  const auto list = session.database().containers();
  if (!list) return failed(list.error());
  auto statement = session.database().prepare(
      "SELECT COUNT(1) AS containers, SUM(c.itemCount) AS items, SUM(c.bytes) AS bytes FROM c IN (SELECT "
      "VALUE "
      "@list)");
  if (!statement) return failed(statement.error());
  if (auto bound = statement->bind("list", Json{*list}); !bound) return failed(bound.error());
  const auto has_row = statement->step();
  if (!has_row) return failed(has_row.error());
  const Value totals = statement->row();
  const Options& options = session.options();
  const std::string contents =
      fmt::format(R"("containers":{},"items":{},"documentBytes":{},"readOnly":{},"strict":{})",
                  totals["containers"].as_integer(), totals["items"].as_integer(),
                  totals["bytes"].as_integer(), options.read_only, options.strict);
  // The totals' own snapshot is none that somebody has open.
  statement->reset();
  const auto status = session.database().status();
  if (!status) return failed(status.error());
  return session.show_rows(
      fmt::format(R"([{{"file":{},{},{}])", json_string(session.path()), contents, status->substr(1)));
}

Outcome compact_command(Session& session, const Words&) {
  const auto done = session.compact();
  if (!done) return failed(done.error());
  tell("{} bytes before, {} now\n", done->bytes_before, done->bytes_after);
  return Outcome::done;
}

Outcome check_command(Session& session, const Words& words) {
  const Interruptible interruptible(session.database());
  const auto faults = session.database().check(words.empty() ? "" : std::string_view(words[0]));
  session.clear_progress();
  if (!faults) return failed(faults.error());
  if (*faults != "[]") {
    static_cast<void>(session.show_rows(*faults));
    return Outcome::failed;
  }
  return print_text("no fault found\n");
}

Outcome recover_command(Session& session, const Words& words) {
  const Interruptible interruptible;
  const auto containers = Database::recover(words[0], words[1], session.progress_of_call());
  session.clear_progress();
  return containers ? session.show_rows(*containers) : failed(containers.error());
}

Outcome backup_command(Session& session, const Words& words) {
  const Interruptible interruptible(session.database());
  const auto copied = session.database().backup(words[0]);
  session.clear_progress();
  return copied ? Outcome::done : failed(copied.error());
}

}  // namespace quire::shell
