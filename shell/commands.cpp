#include "shell/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments.h"
#include "shell/messages.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

constexpr size_t kAnyNumber = SIZE_MAX;

constexpr std::string_view kImportDetails =
    "  FILE - is standard input; gzip and zstd are unpacked. The container is made if it is missing. A bad "
    "item\n"
    "  is reported with its line, and nothing is loaded.\n"
    "  --format jsonl|json|csv|tsv  told from the file's name where it is not given\n"
    "  --partition-key /path  of a new container; up to three times for a hierarchical key\n"
    "  --id /path             take each item's id from there\n"
    "  --generate-ids         give items without an id one\n"
    "  --skip-errors          leave bad items out, and count them\n"
    "  --upsert               replace items that exist\n"
    "  --dry-run              read everything, check each item by itself, change nothing\n"
    "  --extended-json        files of mongoexport: _id, {\"$oid\"}, {\"$date\"}, ...\n"
    "  --batch N              commit every N lines: what was read before an error stays\n"
    "  --lines N              only so many lines, as .dump writes it\n"
    "  The system properties of a Cosmos DB export are left out.\n";

constexpr std::string_view kExportDetails =
    "  FILE - is standard output; a name in .gz or .zst is packed.\n"
    "  --query SQL            the rows of a query on the container rather than its items\n"
    "  --format jsonl|json|csv|tsv  told from the file's name where it is not given; json is one array\n";

constexpr std::string_view kScriptDetails =
    "  CONTAINER is that of .use where it is not given. A script of the name is replaced.\n"
    "  --kind procedure|function|pre-trigger|post-trigger  procedure where it is not given\n"
    "  --name NAME            the file's name without its ending where it is not given\n"
    "  --on all|create|replace|update|delete  of a trigger\n"
    "  --always               a trigger: at every such write, not only where the request names it\n";

constexpr std::string_view kAdviseDetails =
    "  Reads the items (of a large container a sample) and tells what will not hold as it grows: arrays "
    "without "
    "bound,\n"
    "  stale copies, dangling references, a poor partition key, queries without an index. As rows: ADVISE "
    "CONTAINER.\n";

constexpr std::string_view kFeedDetails =
    "  One line of JSON a change: each item as it is now, the one that changed last at the end.\n"
    "  --follow               stay and show changes as they come, from any process, until Ctrl-C\n"
    "  --all-versions         every change and deletion that the container's changeFeedPolicy keeps\n"
    "  --now                  only changes from now on\n"
    "  --token TOKEN          go on where an earlier .feed ended, which told the token\n";

constexpr Command kCommands[] = {
    {".advise", "CONTAINER", "whether the model of a container will hold, and what to change", kAdviseDetails,
     1, 1, advise_command},
    {".backup", "FILE", "copy the database to a new file while it is in use", "", 1, 1, backup_command},
    {".check", "[CONTAINER]", "look for damage: records, keys, indexes, counters",
     "  A row for each fault: where it is, what is wrong, what to do. Exit code 1 if there is any.\n", 0, 1,
     check_command},
    {".compact", "", "rewrite the file without its free pages; nobody else may have it open", "", 0, 0,
     compact_command},
    {".containers", "", "list the containers: partition keys, items, bytes", "", 0, 0, containers_command},
    {".create", "DEFINITION", "make a container from its definition in JSON, as in Cosmos DB",
     "  .create {\"id\": \"readings\", \"partitionKey\": {\"paths\": [\"/deviceId\"]}}\n", 1, 1,
     create_command},
    {".describe", "CONTAINER", "a container's definition, size, partitions, and the schema of its items",
     "  The schema comes from a sample of the first 10,000 items.\n", 1, 1, describe_command},
    {".dump", "[CONTAINER]...", "write a script that makes the containers and their items anew",
     "  quire old.quire .dump | quire new.quire\n", 0, kAnyNumber, dump_command},
    {".edit", "", "edit the last statement in $EDITOR, then run it", "", 0, 0, edit_command},
    {".explain", "on|off", "show the plan before the rows of each query", "", 1, 1, explain_command},
    {".export", "CONTAINER FILE [OPTION]...", "write the items as JSON lines, JSON, CSV or TSV",
     kExportDetails, 0, kAnyNumber, export_command},
    {".feed", "CONTAINER [OPTION]...", "show what has changed, in the order of the changes", kFeedDetails, 0,
     kAnyNumber, feed_command},
    {".functions", "[PATTERN]", "list the functions whose name or summary has the pattern", "", 0, 1,
     functions_command},
    {".generate", "readings|people|orders CONTAINER [COUNT]", "fill a container with sample data",
     "  COUNT is 1000 where it is not given. The same items come out each time.\n", 2, 3, generate_command},
    {".help", "[COMMAND]", "list the commands, or tell more of one", "", 0, 1, help_command},
    {".import", "FILE CONTAINER [OPTION]...", "load JSON lines, a JSON array, CSV or TSV", kImportDetails, 0,
     kAnyNumber, import_command},
    {".indexes", "[CONTAINER]", "list the indexes: their paths and what made them", "", 0, 1,
     indexes_command},
    {".mode", "[MODE [CONTAINER]]", "how rows are shown; alone, list the modes",
     "  CONTAINER is the name that the statements of the mode insert have.\n", 0, 2, mode_command},
    {".once", "FILE", "write the rows of the next statement to a file", "", 1, 1, once_command},
    {".open", "FILE", "open another database", "  FILE :memory: is a new one in memory.\n", 1, 1,
     open_command},
    {".output", "[FILE]", "write rows to a file, or to standard output again", "", 0, 1, output_command},
    {".pager", "on|off", "show long results with $PAGER", "", 1, 1, pager_command},
    {".param", "[set @NAME JSON | list | clear [@NAME]]", "values of parameters", "", 0, kAnyNumber,
     param_command},
    {".partitions", "CONTAINER", "sizes of the partitions, the largest, and their skew", "", 1, 1,
     partitions_command},
    {".quit", "", "leave", "", 0, 0, quit_command},
    {".read", "FILE", "run a script", "", 1, 1, read_command},
    {".recover", "FILE NEW", "save what a damaged file still holds into a new one",
     "  FILE is only read. A row for each container: items saved and lost.\n", 2, 2, recover_command},
    {".script", "load FILE [CONTAINER] [OPTION]...",
     "store a JavaScript file as a procedure, a function or a trigger", kScriptDetails, 0, kAnyNumber,
     script_command},
    {".scripts", "[CONTAINER]", "list the procedures, functions and triggers of a container", "", 0, 1,
     scripts_command},
    {".stats", "on|off", "show items read and changed, and request units, after each statement", "", 1, 1,
     stats_command},
    {".status", "", "the file, its size, and what it holds", "", 0, 0, status_command},
    {".timer", "on|off", "show the time that each statement takes", "", 1, 1, timer_command},
    {".use", "[CONTAINER]", "run queries on a container, or on the database",
     "  With a container, the first name in FROM stands for it whatever it says, as in Cosmos DB.\n", 0, 1,
     use_command},
    {".version", "", "versions of Quire and of the libraries in it", "", 0, 0, version_command},
    {".width", "COLUMNS", "how wide tables are; 0: as the terminal", "", 1, 1, width_command},
};

// What other shells call a command.
struct OtherName {
  std::string_view other;
  std::string_view name;
};
constexpr OtherName kOtherNames[] = {
    {".exit", ".quit"},
    {".q", ".quit"},
    {".tables", ".containers"},
    {".databases", ".status"},
    {".schema", ".describe"},
    {".dbinfo", ".status"},
    {".save", ".backup"},
    {".stat", ".status"},
    {".parameter", ".param"},
    {".index", ".indexes"},
    {".container", ".containers"},
    {".integrity", ".check"},
    {".eqp", ".explain"},
    {".show", ".status"},
    {".parameters", ".param"},
};

std::string hint_for(std::string_view name) {
  const auto found = std::ranges::find(kOtherNames, name, &OtherName::other);
  if (found == std::end(kOtherNames)) return "; .help lists them";
  return fmt::format("; did you mean {}? .help lists all", found->name);
}

// JSON is taken as it stands, with its quotes and blanks: only so many words come before it.
Words split_before_json(std::string_view line, size_t words_before) {
  Words words;
  line = trim(line);
  while (words.size() < words_before && !line.empty()) {
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
    tell("usage: {} {}\n", command->name, command->arguments);
  return Outcome::usage;
}

Outcome failed(const Error& error) {
  print_error(error);
  return Outcome::failed;
}

Outcome run_command(Session& session, std::string_view line) {
  line = trim(line);
  while (line.ends_with(';')) line = trim(line.substr(0, line.size() - 1));
  const std::string_view name = line.substr(0, line.find_first_of(" \t"));
  const Command* command = find_command(name);
  if (command == nullptr) {
    print_message(fmt::format("there is no command {}{}", name, hint_for(name)));
    return Outcome::usage;
  }
  const std::string_view rest = line.substr(name.size());
  Words words;
  if (command->run == param_command || command->run == create_command) {
    words = split_before_json(rest, command->run == param_command ? 2 : 0);
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
