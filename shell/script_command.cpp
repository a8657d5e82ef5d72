// .script load and .scripts: the server-side code of a container.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "shell/arguments.h"
#include "shell/commands.h"
#include "shell/import_source.h"
#include "shell/messages.h"

namespace quire::shell {
namespace {

struct ScriptKindRow {
  std::string_view word;
  ScriptKind kind;
  TriggerTime time;
};
constexpr ScriptKindRow kScriptKinds[] = {{"procedure", ScriptKind::procedure, TriggerTime::pre},
                                          {"function", ScriptKind::function, TriggerTime::pre},
                                          {"pre-trigger", ScriptKind::trigger, TriggerTime::pre},
                                          {"post-trigger", ScriptKind::trigger, TriggerTime::post}};

struct OperationRow {
  std::string_view word;
  TriggerOperation operation;
};
constexpr OperationRow kOperations[] = {{"all", TriggerOperation::all},
                                        {"create", TriggerOperation::create},
                                        {"replace", TriggerOperation::replace},
                                        {"update", TriggerOperation::update},
                                        {"delete", TriggerOperation::remove}};

template <typename Row, size_t count>
const Row* row_of(const Row (&rows)[count], const std::vector<std::string>& words) {
  if (words.empty()) return &rows[0];
  const auto* const found = std::ranges::find(rows, std::string_view(words.back()), &Row::word);
  return found == std::end(rows) ? nullptr : found;
}

// The file's text, and why it cannot be read. Of what is longer than any script the beginning will do: the
// engine refuses it.
std::string read_script(const std::string& path, std::string& text) {
  constexpr size_t kLongestScript = size_t{1} << 22;
  constexpr size_t kBlockBytes = size_t{1} << 16;
  FileSource file(path);
  if (!file.is_open()) return std::strerror(errno);
  while (text.size() <= kLongestScript) {
    const size_t had = text.size();
    text.resize(had + kBlockBytes);
    const int64_t count = file.read(text.data() + had, kBlockBytes);
    if (count < 0) return file.failure();
    text.resize(had + static_cast<size_t>(count));
    if (count == 0) break;
  }
  return {};
}

Outcome load(Session& session, const ParsedArguments& arguments) {
  const bool names_container = arguments.positional.size() == 3;
  const std::string name = names_container ? arguments.positional[2] : session.container;
  if (name.empty()) return wrong_usage(".script", "name a container, or choose one with .use");
  const auto* const kind = row_of(kScriptKinds, arguments.values("kind"));
  const auto* const operation = row_of(kOperations, arguments.values("on"));
  if (kind == nullptr)
    return wrong_usage(".script", "--kind is procedure, function, pre-trigger or post-trigger");
  if (operation == nullptr) return wrong_usage(".script", "--on is all, create, replace, update or delete");
  if (kind->kind != ScriptKind::trigger && (!arguments.values("on").empty() || arguments.has("always")))
    return wrong_usage(".script",
                       "--on and --always are of a trigger: --kind is pre-trigger or post-trigger");
  const std::filesystem::path path = arguments.positional[1];
  std::string text;
  if (const std::string failure = read_script(path.string(), text); !failure.empty()) {
    print_message(fmt::format("cannot read '{}': {}", path.string(), failure));
    return Outcome::failed;
  }
  auto container = session.database().container(name);
  if (!container) return failed(container.error());
  const auto names = arguments.values("name");
  const auto stored =
      container->create_script(kind->kind, names.empty() ? path.stem().string() : names.back(), text,
                               {.replace = true,
                                .time = kind->time,
                                .operation = operation->operation,
                                .always = arguments.has("always")});
  return stored ? Outcome::done : failed(stored.error());
}

}  // namespace

Outcome script_command(Session& session, const Words& words) {
  const auto arguments = parse_arguments(words, {"kind", "name", "on"}, {"always"});
  if (!arguments) return wrong_usage(".script", arguments.error());
  const size_t count = arguments->positional.size();
  if (count < 2 || count > 3 || arguments->positional[0] != "load")
    return wrong_usage(".script", "say .script load and a file");
  return load(session, *arguments);
}

Outcome scripts_command(Session& session, const Words& words) {
  const std::string name = words.empty() ? session.container : words[0];
  if (name.empty()) return wrong_usage(".scripts", "name a container, or choose one with .use");
  auto container = session.database().container(name);
  if (!container) return failed(container.error());
  const auto scripts = container->scripts();
  return scripts ? session.show_rows(*scripts) : failed(scripts.error());
}

}  // namespace quire::shell
