#include "shell/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "shell/arguments.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

const Command* find_command(std::string_view name) {
  const auto commands = all_commands();
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

Outcome help_command(Session&, const Words& words) {
  std::string wanted = words.empty() ? "" : words[0];
  if (!wanted.empty() && !wanted.starts_with('.')) wanted.insert(0, ".");
  if (!wanted.empty() && find_command(wanted) == nullptr)
    return wrong_usage(".help", "there is no command " + wanted);
  for (const Command& command : all_commands()) {
    if (!wanted.empty() && command.name != wanted) continue;
    fmt::print("{:<44} {}\n", fmt::format("{} {}", command.name, command.arguments), command.summary);
  }
  if (wanted.empty())
    fmt::print(
        "Anything else is SQL. A statement ends with ; or a blank line, on a terminal with Enter too.\n");
  return Outcome::done;
}

Outcome open_command(Session& session, const Words& words) {
  return session.open(words[0]) ? Outcome::done : Outcome::failed;
}

// Runs a query on the database's scope whatever `.use` says.
Outcome show_json_list(Session& session, const std::string& json) {
  // The list is JSON text; a statement takes it apart and the mode of the session shows it.
  auto statement = session.database().prepare("SELECT VALUE @list");
  if (statement) {
    if (auto bound = statement->bind("list", Json{json}); !bound) {
      print_error(bound.error());
      return Outcome::failed;
    }
  }
  auto has_row = statement ? statement->step() : Result<bool>(Failure(statement.error()));
  if (!has_row) {
    print_error(has_row.error());
    return Outcome::failed;
  }
  RowWriter writer(session.mode, isatty(STDOUT_FILENO) == 1);
  if (*has_row)
    for (const Value row : statement->row().elements()) static_cast<void>(writer.add(row));
  return writer.finish() ? Outcome::done : Outcome::failed;
}

Outcome containers_command(Session& session, const Words&) {
  auto list = session.database().containers();
  if (!list) {
    print_error(list.error());
    return Outcome::failed;
  }
  return show_json_list(session, *list);
}

Outcome use_command(Session& session, const Words& words) {
  if (words.empty()) {
    session.container.clear();
    return Outcome::done;
  }
  if (auto container = session.database().container(words[0]); !container) {
    print_error(container.error());
    return Outcome::failed;
  }
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
      fmt::print("{}{:<8} {}\n", row.mode == session.mode ? "* " : "  ", row.name, row.summary);
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return words.empty() ? Outcome::done
                       : wrong_usage(".mode", "there is no mode '" + words[0] + "', only " + names);
}

// `.param set @name JSON`: the JSON may hold blanks, so the words are joined again.
Outcome set_parameter(Session& session, const Words& words) {
  if (words.size() < 3 || !words[1].starts_with('@') || words[1].size() < 2)
    return wrong_usage(".param", ".param set needs a @name and a JSON value");
  std::string json = words[2];
  for (size_t i = 3; i < words.size(); ++i) json += " " + words[i];
  auto statement = session.database().prepare("SELECT VALUE @json");
  auto bound = statement ? statement->bind("json", Json{json}) : Result<void>(Failure(statement.error()));
  if (!bound) {
    print_error(bound.error(), json);
    return Outcome::failed;
  }
  session.parameters[words[1].substr(1)] = json;
  return Outcome::done;
}

Outcome param_command(Session& session, const Words& words) {
  if (words.empty() || words[0] == "list") {
    if (words.size() > 1) return wrong_usage(".param", ".param list takes nothing more");
    for (const auto& [name, json] : session.parameters) fmt::print("@{} {}\n", name, json);
    return Outcome::done;
  }
  if (words[0] == "set") return set_parameter(session, words);
  if (words[0] == "clear" && words.size() <= 2) {
    if (words.size() == 1) {
      session.parameters.clear();
      return Outcome::done;
    }
    const std::string name = words[1].starts_with('@') ? words[1].substr(1) : words[1];
    if (session.parameters.erase(name) == 1) return Outcome::done;
    return wrong_usage(".param", "there is no parameter @" + name);
  }
  return wrong_usage(".param", "it takes set, list or clear");
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

constexpr size_t kAnyCount = SIZE_MAX;

constexpr Command kCommands[] = {
    {".containers", "", "list the containers with their partition keys and sizes", 0, 0, containers_command},
    {".export", "CONTAINER FILE", "write the items as JSON lines; - is standard output", 2, 2,
     export_command},
    {".help", "[COMMAND]", "list the commands", 0, 1, help_command},
    {".import", "FILE CONTAINER [OPTION]...",
     "load JSON lines or a JSON array; - is standard input. Options: --partition-key /path (up to three), "
     "--id /path, "
     "--generate-ids, --skip-errors, --upsert, --extended-json",
     2, kAnyCount, import_command},
    {".mode", "[auto|json|pretty|table]", "how rows are shown", 0, 1, mode_command},
    {".open", "FILE", "open another database; :memory: for one in memory", 1, 1, open_command},
    {".param", "set @NAME JSON | list | clear [@NAME]", "values of parameters", 0, kAnyCount, param_command},
    {".quit", "", "leave", 0, 0, quit_command},
    {".timer", "on|off", "show time, items read and rows after each query", 1, 1, timer_command},
    {".use", "[CONTAINER]", "run queries on a container, as in Cosmos; without a name on the database", 0, 1,
     use_command},
};

}  // namespace

std::span<const Command> all_commands() {
  return kCommands;
}

Outcome wrong_usage(std::string_view name, std::string_view what) {
  std::fflush(stdout);
  print_message(fmt::format("{}: {}", name, what));
  if (const Command* command = find_command(name); command != nullptr)
    fmt::print(stderr, "usage: {} {}\n", command->name, command->arguments);
  return Outcome::usage;
}

Outcome run_command(Session& session, std::string_view line) {
  line = trim_statement(line);
  const std::string name(line.substr(0, line.find_first_of(" \t")));
  const Command* command = find_command(name);
  if (command == nullptr) {
    print_message("there is no command " + name + "; .help lists them");
    return Outcome::usage;
  }
  // A JSON value keeps its quotes: only .param takes its line as it stands.
  Words words;
  if (command->run == param_command) {
    std::string_view rest = trim(line.substr(name.size()));
    for (int i = 0; i < 2 && !rest.empty(); ++i) {
      const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
      words.emplace_back(rest.substr(0, end));
      rest = trim(rest.substr(end));
    }
    if (!rest.empty()) words.emplace_back(rest);
  } else {
    auto split = split_words(line.substr(name.size()));
    if (!split) return wrong_usage(name, split.error());
    words = std::move(*split);
  }
  if (words.size() < command->least) return wrong_usage(name, "something is missing");
  if (words.size() > command->most) return wrong_usage(name, "too many words");
  return command->run(session, words);
}

}  // namespace quire::shell
