// .import: a file of JSON lines or a JSON array into a container, which is made if it is missing.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "shell/arguments.h"
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"
#include "shell/progress.h"

namespace quire::shell {
namespace {

// The file, or standard input.
class Input {
 public:
  Input(const std::string& path, StandardInput& standard_input)
      : standard_input_(path == "-" ? &standard_input : nullptr),
        file_(path == "-" ? nullptr : std::fopen(path.c_str(), "rb")) {}

  bool is_open() const { return standard_input_ != nullptr || file_ != nullptr; }
  // 0 where it is not known.
  uint64_t size() const {
    struct stat status{};
    const bool is_known = file_ != nullptr && fstat(fileno(file_.get()), &status) == 0;
    return is_known && S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
  }
  int64_t read(char* buffer, size_t capacity) {
    int64_t count = 0;
    if (standard_input_ != nullptr) {
      count = standard_input_->read(buffer, capacity);
    } else {
      count = static_cast<int64_t>(std::fread(buffer, 1, capacity, file_.get()));
      if (count == 0 && std::ferror(file_.get()) != 0) count = -1;
    }
    if (count < 0) failure_ = errno;
    return count;
  }
  // errno of the read that failed, or 0.
  int failure() const { return failure_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  StandardInput* standard_input_;
  std::unique_ptr<std::FILE, Close> file_;
  int failure_ = 0;
};

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string definition_of(const std::string& name, const std::vector<std::string>& paths) {
  if (paths.empty()) return fmt::format(R"({{"id":{}}})", quoted(name));
  std::vector<std::string> list;
  for (const std::string& path : paths) list.push_back(quoted(path));
  return fmt::format(R"({{"id":{},"partitionKey":{{"paths":[{}],"kind":"{}","version":2}}}})", quoted(name),
                     joined(list, ","), paths.size() > 1 ? "MultiHash" : "Hash");
}

// The paths of the container's partition key; nothing if there is no such container.
Result<std::optional<std::vector<std::string>>> partition_key_of(const Database& database,
                                                                 const std::string& name) {
  auto list = database.containers();
  if (!list) return Failure(std::move(list.error()));
  auto statement = database.prepare("SELECT VALUE c FROM c IN (SELECT VALUE @list) WHERE c.id = @name");
  if (!statement) return Failure(std::move(statement.error()));
  if (auto bound = statement->bind("list", Json{*list}); !bound) return Failure(std::move(bound.error()));
  if (auto bound = statement->bind("name", name); !bound) return Failure(std::move(bound.error()));
  auto has_row = statement->step();
  if (!has_row) return Failure(std::move(has_row.error()));
  if (!*has_row) return std::nullopt;
  std::vector<std::string> paths;
  for (const Value path : statement->row()["partitionKey"]["paths"].elements())
    paths.emplace_back(path.as_string());
  return paths;
}

struct ImportTarget {
  Container container;
  bool is_new;
};

// Makes the container if need be. A partition key that differs from the container's is an error.
Result<ImportTarget> target_of(Database& database, const std::string& name,
                               const std::vector<std::string>& paths) {
  auto present = partition_key_of(database, name);
  if (!present) return Failure(std::move(present.error()));
  const bool is_new = !present->has_value();
  if (is_new) {
    if (auto made = database.create_container(definition_of(name, paths)); !made)
      return Failure(std::move(made.error()));
  } else if (!paths.empty() && paths != **present) {
    const std::string key =
        (*present)->empty() ? "no partition key" : "the partition key " + joined(**present, ", ");
    return Failure(Error{QUIRE_CONTAINER_EXISTS, 409,
                         fmt::format("the container '{}' exists with {}; --partition-key {} is another", name,
                                     key, joined(paths, ", "))});
  }
  auto container = database.container(name);
  if (!container) return Failure(std::move(container.error()));
  return ImportTarget{std::move(*container), is_new};
}

bool is_empty(Container& container) {
  auto statement = container.prepare("SELECT TOP 1 VALUE 1 FROM c");
  if (!statement) return false;
  const auto has_row = statement->step();
  return has_row && !*has_row;
}

Outcome import_failed(const Error& error, const std::string& path, const Input& input) {
  if (error.line > 0)
    print_message(fmt::format("{}, line {}, column {}: {}", path, error.line, error.column, error.message));
  else if (is_interrupted())
    print_message("interrupted");
  else if (input.failure() != 0)
    print_message(fmt::format("cannot read '{}': {}", path, std::strerror(input.failure())));
  else
    print_message(error.message);
  return Outcome::failed;
}

Outcome import_file(Session& session, const ParsedArguments& arguments) {
  const std::string& path = arguments.positional[0];
  const std::string& name = arguments.positional[1];
  Input input(path, session.input());
  if (!input.is_open()) {
    print_message(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    return Outcome::failed;
  }
  auto target = target_of(session.database(), name, arguments.values("partition-key"));
  if (!target) {
    print_error(target.error());
    return Outcome::failed;
  }
  Progress progress(input.size());
  ImportOptions options;
  options.skip_errors = arguments.has("skip-errors");
  options.upsert = arguments.has("upsert");
  options.extended_json = arguments.has("extended-json");
  options.generate_ids = arguments.has("generate-ids");
  if (const auto ids = arguments.values("id"); !ids.empty()) options.id_path = ids[0];
  options.progress = [&](uint64_t bytes, uint64_t items) {
    progress.show(bytes, items);
    return true;
  };
  options.skipped = [&](uint64_t line, std::string_view message) {
    progress.clear();
    fmt::print(stderr, "skipped line {}: {}\n", line, message);
  };
  const Interruptible interruptible(session.database());
  const auto result = target->container.import(
      [&](char* buffer, size_t capacity) { return input.read(buffer, capacity); }, options);
  progress.clear();
  if (!result) {
    // A failed import leaves no container behind that was made for it, unless some items were written.
    if (target->is_new && is_empty(target->container))
      static_cast<void>(session.database().drop_container(name));
    return import_failed(result.error(), path, input);
  }
  fmt::print(stderr, "{} items imported", result->items);
  if (result->skipped > 0) fmt::print(stderr, ", {} lines skipped", result->skipped);
  fmt::print(stderr, "\n");
  return Outcome::done;
}

}  // namespace

Outcome import_command(Session& session, const Words& words) {
  const auto arguments = parse_arguments(words, {"partition-key", "id"},
                                         {"skip-errors", "upsert", "extended-json", "generate-ids"});
  if (!arguments) return wrong_usage(".import", arguments.error());
  if (arguments->positional.size() < 2) return wrong_usage(".import", "a file and a container are needed");
  if (arguments->positional.size() > 2)
    return wrong_usage(".import", "'" + arguments->positional[2] + "' is too much");
  if (arguments->values("id").size() > 1) return wrong_usage(".import", "--id may be given once");
  return import_file(session, *arguments);
}

}  // namespace quire::shell
