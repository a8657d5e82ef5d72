// .param: values for the parameters of later statements, kept as JSON text until the session ends.
#include <fmt/format.h>

#include "shell/commands.h"
#include "shell/messages.h"

namespace quire::shell {
namespace {

std::string_view without_at(std::string_view name) {
  return name.starts_with('@') ? name.substr(1) : name;
}

Outcome set_parameter(Session& session, const Words& words) {
  if (words.size() < 3 || !words[1].starts_with('@') || words[1].size() < 2)
    return wrong_usage(".param", "set needs a @NAME and a JSON value");
  // Binding it checks the value.
  auto statement = session.database().prepare("SELECT VALUE @value");
  auto bound =
      statement ? statement->bind("value", Json{words[2]}) : Result<void>(Failure(statement.error()));
  if (!bound) {
    print_error(bound.error(), words[2]);
    return Outcome::failed;
  }
  session.parameters[std::string(without_at(words[1]))] = words[2];
  return Outcome::done;
}

Outcome clear_parameters(Session& session, const Words& words) {
  if (words.size() > 2) return wrong_usage(".param", "clear takes one @NAME at most");
  if (words.size() == 1) {
    session.parameters.clear();
    return Outcome::done;
  }
  if (session.parameters.erase(std::string(without_at(words[1]))) == 1) return Outcome::done;
  print_message(fmt::format("the parameter {} is not set", words[1]));
  return Outcome::failed;
}

}  // namespace

Outcome param_command(Session& session, const Words& words) {
  if (words.empty() || words[0] == "list") {
    if (words.size() > 1) return wrong_usage(".param", "list takes nothing more");
    std::string text;
    for (const auto& [name, json] : session.parameters) text += fmt::format("@{} {}\n", name, json);
    return print_text(text);
  }
  if (words[0] == "set") return set_parameter(session, words);
  if (words[0] == "clear") return clear_parameters(session, words);
  return wrong_usage(".param", "it takes set, list or clear");
}

}  // namespace quire::shell
