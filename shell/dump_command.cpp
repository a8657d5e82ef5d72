// .dump: a script that makes containers and their items anew. Items stand in it as the lines of an .import,
// which loads them as fast as a file and sets no bound to their length.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "shell/commands.h"
#include "shell/container_definition.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"

namespace quire::shell {
namespace {

// A line for each container that makes it anew.
struct Definition {
  std::string name;
  std::string json;         // without what the database sets
  std::string default_ttl;  // empty where there is none
  std::string without_ttl;  // the same JSON without it
};

Result<Definition> definition_of(Value container) {
  Definition definition;
  definition.name = container["id"].as_string();
  const auto add = [](std::string& object, const std::string& member) {
    object += (object.empty() ? "{" : ",") + member;
  };
  for (const Member member : container.members()) {
    if (member.name == "itemCount" || member.name == "bytes" || is_system_property(member.name)) continue;
    auto json = member.value.to_json();
    if (!json) return Failure(std::move(json.error()));
    const std::string text = json_string(member.name) + ":" + *json;
    add(definition.json, text);
    if (member.name == "defaultTtl")
      definition.default_ttl = *json;
    else
      add(definition.without_ttl, text);
  }
  definition.json += '}';
  definition.without_ttl += '}';
  return definition;
}

Result<std::vector<Definition>> definitions(const Database& database) {
  const auto list = database.containers();
  if (!list) return Failure(list.error());
  auto statement = database.prepare("SELECT VALUE c FROM c IN (SELECT VALUE @list)");
  if (!statement) return Failure(std::move(statement.error()));
  if (auto bound = statement->bind("list", Json{*list}); !bound) return Failure(std::move(bound.error()));
  std::vector<Definition> found;
  for (const Value container : statement->rows()) {
    auto definition = definition_of(container);
    if (!definition) return Failure(std::move(definition.error()));
    found.push_back(std::move(*definition));
  }
  if (statement->error()) return Failure(*statement->error());
  return found;
}

// A name may hold either kind of quotation mark; words are held together by the other.
std::string quoted_word(std::string_view name) {
  std::string word;
  for (const char c : name) word += c == '\'' ? "\"'\"" : fmt::format("'{}'", c);
  const bool is_plain = name.find_first_of(" \t\r;'\"") == std::string_view::npos;
  return is_plain ? std::string(name) : word;
}

Result<uint64_t> count_items(Container& container) {
  auto statement = prepare_own(container, "SELECT VALUE COUNT(1) FROM c");
  if (!statement) return Failure(std::move(statement.error()));
  auto has_row = statement->step();
  if (!has_row) return Failure(std::move(has_row.error()));
  return static_cast<uint64_t>(statement->row().as_integer());
}

// Whether an item has a "ttl" that a container with a time to live refuses: it was there before that.
Result<bool> has_strange_ttl(Container& container) {
  auto statement =
      prepare_own(container,
                  "SELECT TOP 1 VALUE 1 FROM c WHERE IS_DEFINED(c.ttl) AND NOT IS_NULL(c.ttl) AND NOT "
                  "(IS_INTEGER(c.ttl) AND (c.ttl = -1 OR c.ttl BETWEEN 1 AND 2147483647))");
  if (!statement) return Failure(std::move(statement.error()));
  return statement->step();
}

Result<void> dump_items(Session& session, const Definition& definition, Container& container) {
  const auto items = count_items(container);
  if (!items) return Failure(items.error());
  if (*items == 0) return {};
  auto statement = prepare_own(container, "SELECT VALUE c FROM c");
  if (!statement) return Failure(std::move(statement.error()));
  if (definition.name.find('\n') != std::string::npos)
    return Failure(
        Error{QUIRE_INVALID_ARGUMENT, 400,
              fmt::format("the name of the container {} holds a line end, which a script cannot give "
                          "to .import: write its items by .export",
                          json_string(definition.name))});
  // Behind `--` a name that looks like an option is none.
  const bool is_like_option = definition.name.starts_with("--");
  const std::string name = quoted_word(definition.name);
  session.output.write(is_like_option ? fmt::format(".import --lines {} -- - {}\n", *items, name)
                                      : fmt::format(".import - {} --lines {}\n", name, *items));
  uint64_t written = 0;
  for ([[maybe_unused]] const Value item : statement->rows()) {
    const auto json = statement->row_json();
    if (!json) return Failure(json.error());
    session.output.write(*json);
    session.output.write("\n");
    ++written;
    if (session.output.has_failed()) return {};
  }
  if (statement->error()) return Failure(*statement->error());
  if (written != *items)
    return Failure(
        Error{QUIRE_BUSY, 449,
              fmt::format("items of '{}' came or went while they were written: run .dump again, or "
                          "dump a copy made by .backup",
                          definition.name)});
  return {};
}

// A container that would refuse some of its items has its time to live after them.
Result<void> dump_container(Session& session, const Definition& definition) {
  auto container = session.database().container(definition.name);
  if (!container) return Failure(std::move(container.error()));
  bool is_afterwards = false;
  if (!definition.default_ttl.empty()) {
    const auto found = has_strange_ttl(*container);
    if (!found) return Failure(found.error());
    is_afterwards = *found;
  }
  session.output.write(".create " + (is_afterwards ? definition.without_ttl : definition.json) + "\n");
  if (auto dumped = dump_items(session, definition, *container); !dumped) return dumped;
  if (is_afterwards)
    session.output.write(fmt::format("ALTER CONTAINER {} WITH {{\"defaultTtl\":{}}};\n",
                                     json_string(definition.name), definition.default_ttl));
  return {};
}

std::string capitals(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// What can stand around the body: $$, or what is not in it, either, nor with the body's last characters.
std::string mark_around(std::string_view body) {
  std::string mark = "$$";
  for (int number = 1; (std::string(body) + mark).find(mark) != body.size(); ++number)
    mark = fmt::format("$script{}$", number);
  return mark;
}

// As statements.
Result<void> dump_scripts(Session& session, const Definition& definition) {
  auto container = session.database().container(definition.name);
  if (!container) return Failure(std::move(container.error()));
  const auto list = container->scripts();
  if (!list) return Failure(list.error());
  auto statement = session.database().prepare("SELECT VALUE s FROM s IN (SELECT VALUE @list)");
  if (!statement) return Failure(std::move(statement.error()));
  if (auto bound = statement->bind("list", Json{*list}); !bound) return Failure(std::move(bound.error()));
  for (const Value script : statement->rows()) {
    const std::string_view name = script["id"].as_string();
    const std::string_view body = script["body"].as_string();
    std::string head = fmt::format("CREATE {} {}", capitals(script["kind"].as_string()), json_string(name));
    if (script["triggerType"].type() == Type::string)
      head += fmt::format(" {} {}", capitals(script["triggerType"].as_string()),
                          capitals(script["triggerOperation"].as_string()));
    session.output.write(fmt::format("{0} ON {1}{2} AS {3}{4}{3};\n", head, json_string(definition.name),
                                     script["always"].as_boolean() ? " ALWAYS" : "", mark_around(body),
                                     body));
  }
  if (statement->error()) return Failure(*statement->error());
  return {};
}

}  // namespace

Outcome dump_command(Session& session, const Words& words) {
  const auto failed = [&](const Error& error) {
    static_cast<void>(session.output.finish());
    return shell::failed(error);
  };
  for (const std::string& name : words)
    if (const auto container = session.database().container(name); !container)
      return failed(container.error());
  const auto all = definitions(session.database());
  if (!all) return failed(all.error());
  const Interruptible interruptible(session.database());
  session.output.begin();
  for (const Definition& definition : *all) {
    if (!words.empty() && std::ranges::find(words, definition.name) == words.end()) continue;
    if (auto dumped = dump_container(session, definition); !dumped) return failed(dumped.error());
    if (auto dumped = dump_scripts(session, definition); !dumped) return failed(dumped.error());
  }
  if (!session.output.finish()) return cannot_write_output(session.output);
  return Outcome::done;
}

}  // namespace quire::shell
