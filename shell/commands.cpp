#include "shell/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments.h"
#include "shell/messages.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

Outcome failed(const Error& error) {
  print_error(error);
  return Outcome::failed;
}

Outcome help_command(Session&, const Words& words) {
  if (!words.empty()) {
    const std::string name = words[0].starts_with('.') ? words[0] : "." + words[0];
    const Command* command = find_command(name);
    if (command == nullptr) return wrong_usage(".help", "there is no command " + name);
    fmt::print("{} {}\n  {}\n{}", command->name, command->arguments, command->summary, command->details);
    return Outcome::done;
  }
  for (const Command& command : all_commands())
    fmt::print("{:<42} {}\n", fmt::format("{} {}", command.name, command.arguments), command.summary);
  fmt::print(
      "\nAnything else is SQL. A statement ends with ; or an empty line, and "
      "at the prompt with Enter unless it\n"
      "plainly goes on. `.help .import` tells the options of .import.\n");
  return Outcome::done;
}

Outcome open_command(Session& session, const Words& words) {
  return session.open(words[0]) ? Outcome::done : Outcome::failed;
}

// The list is JSON text; a statement takes it apart and the mode of the session shows it.
Outcome containers_command(Session& session, const Words&) {
  const auto list = session.database().containers();
  if (!list) return failed(list.error());
  auto statement = session.database().prepare("SELECT VALUE c FROM c IN (SELECT VALUE @list)");
  if (!statement) return failed(statement.error());
  if (const auto bound = statement->bind("list", Json{*list}); !bound) return failed(bound.error());
  RowWriter writer(session.mode);
  for (const Value row : statement->rows())
    if (const auto added = writer.add(row); !added) return failed(added.error());
  if (statement->error()) return failed(*statement->error());
  return writer.finish() ? Outcome::done : cannot_write_output();
}

Outcome use_command(Session& session, const Words& words) {
  if (words.empty()) {
    session.container.clear();
    return Outcome::done;
  }
  if (const auto container = session.database().container(words[0]); !container)
    return failed(container.error());
  session.container = words[0];
  return Outcome::done;
}

Outcome mode_command(Session& session, const Words& words) {
  std::string names;
  for (const ModeRow& row : modes()) {
    if (!words.empty() && row.name == words[0]) {
      session.mode = row.mode;
      return Outcome::done;
    }
    if (words.empty())
      fmt::print("{} {:<7} {}\n", row.mode == session.mode ? '*' : ' ', row.name, row.summary);
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  if (words.empty()) return Outcome::done;
  return wrong_usage(".mode", fmt::format("there is no mode '{}', only {}", words[0], names));
}

Outcome timer_command(Session& session, const Words& words) {
  if (words[0] != "on" && words[0] != "off") return wrong_usage(".timer", "it takes on or off");
  session.shows_time = words[0] == "on";
  return Outcome::done;
}

Outcome quit_command(Session& session, const Words&) {
  session.has_quit = true;
  return Outcome::done;
}

constexpr size_t kAnyNumber = SIZE_MAX;

constexpr Command kCommands[] = {
    {".containers", "", "list the containers: partition keys, items, bytes", "", 0, 0, containers_command},
    {".export", "CONTAINER FILE", "write the items as JSON lines", "  FILE - is standard output.\n", 2, 2,
     export_command},
    {".help", "[COMMAND]", "list the commands, or tell more of one", "", 0, 1, help_command},
    {".import", "FILE CONTAINER [OPTION]...", "load JSON lines or a JSON array",
     "  FILE - is standard input. The container is made if it is missing. A "
     "bad item is reported with its line,\n"
     "  and nothing is loaded.\n"
     "  --partition-key /path  of a new container; up to three times for a "
     "hierarchical key\n"
     "  --id /path             take each item's id from there\n"
     "  --generate-ids         give items without an id one\n"
     "  --skip-errors          leave bad items out, and count them\n"
     "  --upsert               replace items that exist\n"
     "  --extended-json        files of mongoexport: _id, {\"$oid\"}, "
     "{\"$date\"}, ...\n",
     0, kAnyNumber, import_command},
    {".mode", "[auto|json|pretty|table]", "how rows are shown", "", 0, 1, mode_command},
    {".open", "FILE", "open another database", "  FILE :memory: is a new one in memory.\n", 1, 1,
     open_command},
    {".param", "set @NAME JSON | list | clear [@NAME]", "values of parameters", "", 0, kAnyNumber,
     param_command},
    {".quit", "", "leave", "", 0, 0, quit_command},
    {".timer", "on|off", "show time, items read and rows after each query", "", 1, 1, timer_command},
    {".use", "[CONTAINER]", "run queries on a container, or on the database",
     "  With a container, the first name in FROM stands for it whatever it "
     "says, as in Cosmos DB.\n",
     0, 1, use_command},
};

// A JSON value is taken as it stands, with its quotes and blanks: only two words come before it.
Words split_param(std::string_view line) {
  Words words;
  line = trim(line);
  while (words.size() < 2 && !line.empty()) {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.emplace_back(line.substr(0, end));
    line = trim(line.substr(end));
  }
  if (!line.empty()) words.emplace_back(line);
  return words;
}

}  // namespace

std::span<const Command> all_commands() {
  return kCommands;
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == std::end(kCommands) ? nullptr : found;
}

Outcome wrong_usage(std::string_view name, std::string_view what) {
  print_message(fmt::format("{}: {}", name, what));
  if (const Command* command = find_command(name); command != nullptr)
    fmt::print(stderr, "usage: {} {}\n", command->name, command->arguments);
  return Outcome::usage;
}

Outcome run_command(Session& session, std::string_view line) {
  line = trim(line);
  while (line.ends_with(';')) line = trim(line.substr(0, line.size() - 1));
  const std::string_view name = line.substr(0, line.find_first_of(" \t"));
  const Command* command = find_command(name);
  if (command == nullptr) {
    print_message(fmt::format("there is no command {}; .help lists them", name));
    return Outcome::usage;
  }
  const std::string_view rest = line.substr(name.size());
  Words words;
  if (command->run == param_command) {
    words = split_param(rest);
  } else {
    auto split = split_words(rest);
    if (!split) return wrong_usage(name, split.error());
    words = std::move(*split);
  }
  if (words.size() < command->least) return wrong_usage(name, "something is missing");
  if (words.size() > command->most)
    return wrong_usage(name, fmt::format("'{}' is too much", words[command->most]));
  const Outcome outcome = command->run(session, words);
  std::fflush(stdout);
  return outcome;
}

}  // namespace quire::shell
