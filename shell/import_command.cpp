// .import and .export: files of JSON in and out.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "shell/arguments.h"
#include "shell/commands.h"

namespace quire::shell {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept {
    if (file != stdin && file != stdout) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File open_file(const std::string& path, const char* mode) {
  if (path == "-") return File(mode[0] == 'r' ? stdin : stdout);
  return File(std::fopen(path.c_str(), mode));
}

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      json += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      json += c;
  }
  return json + "\"";
}

std::string definition_of(const std::string& name, const std::vector<std::string>& paths) {
  std::string json = "{\"id\":" + quoted(name);
  if (!paths.empty()) {
    std::string list;
    for (const std::string& path : paths) list += (list.empty() ? "" : ",") + quoted(path);
    json += fmt::format(",\"partitionKey\":{{\"paths\":[{}],\"kind\":\"{}\",\"version\":2}}", list,
                        paths.size() > 1 ? "MultiHash" : "Hash");
  }
  return json + "}";
}

// The paths of a container's partition key, or an error that it is missing.
Result<std::vector<std::string>> partition_key_of(Database& database, const std::string& name, bool& exists) {
  exists = false;
  std::vector<std::string> paths;
  auto list = database.containers();
  if (!list) return Failure(std::move(list.error()));
  auto statement = database.prepare("SELECT VALUE @list");
  if (!statement) return Failure(std::move(statement.error()));
  if (auto bound = statement->bind("list", Json{*list}); !bound) return Failure(std::move(bound.error()));
  auto has_row = statement->step();
  if (!has_row) return Failure(std::move(has_row.error()));
  for (const Value container : statement->row().elements()) {
    if (container["id"].as_string() != name) continue;
    exists = true;
    for (const Value path : container["partitionKey"]["paths"].elements())
      paths.emplace_back(path.as_string());
  }
  return paths;
}

// Opens the container, making it if need be. A partition key that differs from the container's is an error.
Result<Container> container_for_import(Database& database, const std::string& name,
                                       const std::vector<std::string>& paths, bool& is_new) {
  bool exists = false;
  auto present = partition_key_of(database, name, exists);
  if (!present) return Failure(std::move(present.error()));
  is_new = !exists;
  if (!exists) {
    if (auto made = database.create_container(definition_of(name, paths)); !made)
      return Failure(std::move(made.error()));
  } else if (!paths.empty() && paths != *present) {
    std::string key;
    for (const std::string& path : *present) key += (key.empty() ? "" : ", ") + path;
    return Failure(Error{QUIRE_CONTAINER_EXISTS, 409,
                         "the container '" + name + "' exists and its partition key is " +
                             (key.empty() ? "none" : key) + ", which --partition-key cannot change"});
  }
  return database.container(name);
}

// One line on a terminal's standard error, written over itself.
class Progress {
 public:
  Progress() : is_shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (has_written_) fmt::print(stderr, "\r\033[K");
  }
  void show(uint64_t bytes, uint64_t items) {
    if (!is_shown_) return;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    fmt::print(stderr, "\r\033[K{:.1f} MB, {} items, {:.0f} items/s", static_cast<double>(bytes) / 1e6, items,
               static_cast<double>(items) / std::max(taken.count(), 1e-3));
    has_written_ = true;
  }

 private:
  bool is_shown_;
  bool has_written_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// An item without the properties that the database sets.
Result<std::string> item_json(Value item) {
  constexpr std::array<std::string_view, 5> kSystem = {"_rid", "_self", "_etag", "_attachments", "_ts"};
  if (!item.is_object()) return item.to_json();
  std::string json = "{";
  for (const Member member : item.members()) {
    if (std::find(kSystem.begin(), kSystem.end(), member.name) != kSystem.end()) continue;
    auto text = member.value.to_json();
    if (!text) return text;
    json += (json.size() > 1 ? "," : "") + quoted(member.name) + ":" + *text;
  }
  return json + "}";
}

bool is_empty(Container& container) {
  auto statement = container.prepare("SELECT TOP 1 VALUE 1 FROM c");
  if (!statement) return false;
  const auto has_row = statement->step();
  return has_row && !*has_row;
}

Outcome failed(const Error& error) {
  print_error(error);
  return Outcome::failed;
}

Outcome cannot(std::string_view what, const std::string& path) {
  print_message(fmt::format("cannot {} '{}': {}", what, path, std::strerror(errno)));
  return Outcome::failed;
}

}  // namespace

Outcome import_command(Session& session, const Words& words) {
  auto arguments = parse_arguments(words, {"partition-key", "id"},
                                   {"skip-errors", "upsert", "extended-json", "generate-ids"});
  if (!arguments) return wrong_usage(".import", arguments.error());
  if (arguments->positional.size() != 2) return wrong_usage(".import", "it takes a file and a container");
  const auto ids = arguments->values("id");
  if (ids.size() > 1) return wrong_usage(".import", "--id may be given once");
  const std::string& path = arguments->positional[0];
  const File file = open_file(path, "rb");
  if (file == nullptr) return cannot("read", path);

  const std::string& name = arguments->positional[1];
  bool is_new = false;
  auto container = container_for_import(session.database(), name, arguments->values("partition-key"), is_new);
  if (!container) return failed(container.error());
  Progress progress;
  ImportOptions options;
  options.skip_errors = arguments->has("skip-errors");
  options.upsert = arguments->has("upsert");
  options.extended_json = arguments->has("extended-json");
  options.generate_ids = arguments->has("generate-ids");
  if (!ids.empty()) options.id_path = ids[0];
  options.progress = [&](uint64_t bytes, uint64_t items) {
    progress.show(bytes, items);
    return true;
  };
  options.skipped = [](uint64_t line, std::string_view message) {
    fmt::print(stderr, "skipped line {}: {}\n", line, message);
  };
  const auto read = [&](char* buffer, size_t capacity) -> int64_t {
    const size_t count = std::fread(buffer, 1, capacity, file.get());
    return count == 0 && std::ferror(file.get()) ? -1 : static_cast<int64_t>(count);
  };
  auto result = container->import(read, options);
  if (!result) {
    // A failed import leaves no container behind that was made for it, unless some items were written.
    if (is_new && is_empty(*container)) static_cast<void>(session.database().drop_container(name));
    return failed(result.error());
  }
  progress.show(result->bytes_read, result->items);
  if (result->skipped > 0)
    fmt::print(stderr, "{} items imported, {} lines skipped\n", result->items, result->skipped);
  else
    fmt::print(stderr, "{} items imported\n", result->items);
  return Outcome::done;
}

Outcome export_command(Session& session, const Words& words) {
  auto container = session.database().container(words[0]);
  if (!container) return failed(container.error());
  auto statement = container->prepare("SELECT VALUE c FROM c");
  if (!statement) return failed(statement.error());
  // Written beside the file and moved over it at the end, so that a failure leaves what was there.
  const std::string partial = words[1] == "-" ? words[1] : words[1] + ".part";
  File file = open_file(partial, "wb");
  if (file == nullptr) return cannot("write", partial);
  uint64_t items = 0;
  for (const Value item : statement->rows()) {
    auto json = item_json(item);
    if (!json) return failed(json.error());
    json->push_back('\n');
    if (std::fwrite(json->data(), 1, json->size(), file.get()) != json->size())
      return cannot("write", partial);
    ++items;
  }
  if (statement->error()) return failed(*statement->error());
  if (std::fflush(file.get()) != 0) return cannot("write", partial);
  file.reset();
  if (words[1] != "-" && std::rename(partial.c_str(), words[1].c_str()) != 0)
    return cannot("write", words[1]);
  if (words[1] != "-") fmt::print(stderr, "{} items exported\n", items);
  return Outcome::done;
}

}  // namespace quire::shell
