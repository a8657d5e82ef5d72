#include "tests/oracle/change_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "quire/quire.hpp"
#include "tests/oracle/answer.h"
#include "tests/oracle/change_model.h"

namespace quire::sql::oracle {
namespace {

// Gives those of the documents that the container takes.
Items make_container(Database& database, const std::string& name, const Items& documents) {
  (void)database.drop_container(name);
  const std::string_view key = name == "c" ? R"(,"partitionKey":{"paths":["/k"]})" : "";
  (void)database.create_container(fmt::format(R"({{"id":"{}"{}}})", name, key));
  auto container = database.container(name).value();
  Items taken;
  for (const std::string& document : documents)
    if (container.create(document)) taken.push_back(document);
  return taken;
}

// What the containers hold that differs; empty if nothing does.
std::string differences(Database& database, const ChangeModel& model) {
  std::string text;
  for (const auto& [name, items] : model.items()) {
    const Answer now = ask(database, "SELECT * FROM " + name);
    if (hold_the_same(items, now.rows)) continue;
    text += fmt::format("{} holds in the database\n{}\nin the oracle\n{}\n", name, fmt::join(now.rows, "\n"),
                        fmt::join(items, "\n"));
  }
  return text;
}

}  // namespace

struct ChangeChecker::State {
  Database database = std::move(Database::open(":memory:").value());
};

ChangeChecker::ChangeChecker() : state_(std::make_unique<State>()) {}
ChangeChecker::~ChangeChecker() = default;

std::optional<std::string> ChangeChecker::check(uint64_t seed) {
  Choices choices(seed);
  const ChangeCase made = make_changes(choices);
  Database& database = state_->database;
  Items first = make_container(database, "c", made.first);
  Items second = make_container(database, "d", made.second);
  ChangeModel model(std::move(first), std::move(second));
  for (const std::string& sql : made.statements) {
    const auto before = model.items();
    const std::optional<bool> is_accepted = model.run(sql, made.parameters);
    const Answer answer = ask(database, sql, made.parameters);
    if (!is_accepted && !answer.error.empty()) continue;
    ++run_;
    effective_ += model.items() != before ? 1 : 0;
    // An error that a row gives comes to light only where that row is read.
    if (is_accepted == false && answer.error.empty()) return std::nullopt;
    const std::string differing = differences(database, model);
    if (is_accepted == answer.error.empty() && differing.empty()) continue;
    std::string parameters;
    for (const Parameter& parameter : made.parameters)
      parameters += fmt::format("parameter @{} {}\n", parameter.name, parameter.json);
    return fmt::format("seed {}\nbefore: container c /k\n{}\ncontainer d\n{}\n{}{}\nerror: {}\n{}", seed,
                       fmt::join(before.at("c"), "\n"), fmt::join(before.at("d"), "\n"), parameters, sql,
                       answer.error, differing);
  }
  return std::nullopt;
}

}  // namespace quire::sql::oracle
