// .import: a file of JSON lines, a JSON array, CSV or TSV into a container, which is made if it is missing.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "shell/arguments.h"
#include "shell/commands.h"
#include "shell/container_definition.h"
#include "shell/file_format.h"
#include "shell/import_source.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/line_batches.h"
#include "shell/messages.h"
#include "shell/progress.h"

namespace quire::shell {
namespace {

bool is_delimited(Format format) {
  return format == Format::csv || format == Format::tsv;
}

// Where the bytes of an import come from, and the stages that they pass.
class Input {
 public:
  Input(const std::string& path, StandardInput& standard_input, uint64_t lines)
      : is_packed_by_name_(path.ends_with(".gz") || path.ends_with(".zst")) {
    if (path == "-") {
      first_ = read_input(standard_input, lines);
      return;
    }
    auto file = std::make_unique<FileSource>(path);
    if (!file->is_open()) return;
    file_ = file.get();
    first_ = std::move(file);
  }

  bool is_open() const { return first_ != nullptr; }
  // 0 where they are not known.
  uint64_t size() const { return file_ == nullptr ? 0 : file_->size(); }
  uint64_t position() const { return file_ == nullptr ? 0 : file_->position(); }
  void decode(Format format, Failing failing, const IsJson& is_json, LeftOut left_out) {
    unpacked_ = unpacked(*first_, is_packed_by_name_);
    last_ = unpacked_.get();
    if (!is_delimited(format)) return;
    records_ =
        read_delimited(*unpacked_, format == Format::csv ? ',' : '\t', failing, is_json, std::move(left_out));
    last_ = records_.get();
  }
  ByteSource& decoded() { return *last_; }
  const std::string& failure() const { return last_->failure(); }

 private:
  std::unique_ptr<ByteSource> first_;
  FileSource* file_ = nullptr;
  bool is_packed_by_name_;
  std::unique_ptr<ByteSource> unpacked_;
  std::unique_ptr<ByteSource> records_;
  ByteSource* last_ = nullptr;
};

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string definition_of(const std::string& name, const std::vector<std::string>& paths) {
  if (paths.empty()) return fmt::format(R"({{"id":{}}})", json_string(name));
  std::vector<std::string> list;
  for (const std::string& path : paths) list.push_back(json_string(path));
  return fmt::format(R"({{"id":{},"partitionKey":{{"paths":[{}],"kind":"{}","version":2}}}})",
                     json_string(name), joined(list, ","), paths.size() > 1 ? "MultiHash" : "Hash");
}

struct ImportTarget {
  Container container;
  bool is_new;
};

// A partition key that differs from that of the container that is there is an error.
Result<void> check_partition_key(const std::string& name, const std::vector<std::string>& paths,
                                 const std::vector<std::string>& present) {
  if (paths.empty() || paths == present) return {};
  const std::string key = present.empty() ? "no partition key" : "the partition key " + joined(present, ", ");
  return Failure(Error{QUIRE_CONTAINER_EXISTS, 409,
                       fmt::format("the container '{}' exists with {}; --partition-key {} is another", name,
                                   key, joined(paths, ", "))});
}

// Makes the container if need be.
Result<ImportTarget> target_of(Database& database, const std::string& name,
                               const std::vector<std::string>& paths) {
  auto present = partition_key_of(database, name);
  if (!present) return Failure(std::move(present.error()));
  bool is_new = !present->has_value();
  if (is_new) {
    auto made = database.create_container(definition_of(name, paths));
    if (!made && made.error().code != QUIRE_CONTAINER_EXISTS) return Failure(std::move(made.error()));
    // Another import that began at the same time may have made it.
    is_new = made.has_value();
    if (!is_new) present = partition_key_of(database, name);
    if (!present) return Failure(std::move(present.error()));
  }
  if (!is_new && present->has_value())
    if (auto checked = check_partition_key(name, paths, **present); !checked)
      return Failure(std::move(checked.error()));
  auto container = database.container(name);
  if (!container) return Failure(std::move(container.error()));
  return ImportTarget{std::move(*container), is_new};
}

bool is_empty(Container& container) {
  auto statement = prepare_own(container, "SELECT TOP 1 VALUE 1 FROM c");
  if (!statement) return false;
  const auto has_row = statement->step();
  return has_row && !*has_row;
}

struct Request {
  std::string path;
  std::string name;
  Format format = Format::json_lines;
  uint64_t lines = kAllLines;
  std::vector<std::string> partition_key;
  bool is_dry_run = false;
  uint64_t batch = 0;  // lines that are a transaction of their own; 0: all of them are one
  ImportOptions options;
};

Outcome import_failed(const Error& error, const Request& request, const Input& input) {
  // What comes of a read that Ctrl-C ended is no failure of the input.
  if (is_interrupted())
    print_message(error.code == QUIRE_INTERRUPTED ? error.message : "the import was interrupted");
  else if (!input.failure().empty())
    print_message(fmt::format("cannot read '{}': {}", request.path, input.failure()));
  else if (error.line > 0 && is_delimited(request.format))  // the column is one of the JSON made from it
    print_message(fmt::format("{}, line {}: {}", request.path, error.line, error.message));
  else if (error.line > 0)
    print_message(
        fmt::format("{}, line {}, column {}: {}", request.path, error.line, error.column, error.message));
  else
    print_message(error.message);
  return Outcome::failed;
}

// The input in one transaction, or batch by batch; `items_before`: of the batches that are done.
Result<quire_import_result> import_batches(Container& container, Request& request, ByteSource& input,
                                           uint64_t& items_before) {
  if (request.batch == 0)
    return container.import([&](char* buffer, size_t capacity) { return input.read(buffer, capacity); },
                            request.options);
  quire_import_result total{};
  LineBatches batches(input, request.batch);
  while (batches.begin_batch()) {
    if (batches.first() == '[')
      return Failure(
          Error{QUIRE_INVALID_ARGUMENT, 400, "--batch counts lines; a JSON array is loaded in one go"});
    auto result = container.import(
        [&](char* buffer, size_t capacity) { return batches.read(buffer, capacity); }, request.options);
    if (!result) return Failure(std::move(result.error()));
    total.items += result->items;
    total.skipped += result->skipped;
    total.bytes_read += result->bytes_read;
    items_before = total.items;
    request.options.first_line = static_cast<uint32_t>(batches.lines_read() + 1);
  }
  if (!batches.failure().empty()) return Failure(Error{QUIRE_IO, 500, batches.failure()});
  return total;
}

// Runs the import into `database`: the session's, or for a dry run one in memory.
Outcome import_into(Session& session, Database& database, Request& request, Input& input) {
  auto target = target_of(database, request.name, request.partition_key);
  if (!target) {
    print_error(target.error());
    return Outcome::failed;
  }
  if (request.path == "-" && session.input().is_terminal())
    tell("type the items, then Ctrl-D on a line of its own\n");
  Progress progress(input.size());
  uint64_t items_before = 0;
  uint64_t left_out = 0;
  request.options.skipped = [&](uint64_t line, std::string_view message) {
    progress.clear();
    tell("skipped line {}: {}\n", line, message);
  };
  LeftOut on_left_out;
  if (request.options.skip_errors)
    on_left_out = [&](uint64_t line, std::string_view why) {
      ++left_out;
      request.options.skipped(line, why);
    };
  const Interruptible interruptible(database);
  input.decode(request.format, request.batch > 0 ? Failing::behind_good_records : Failing::at_once,
               json_check(database), std::move(on_left_out));
  request.options.progress = [&](uint64_t bytes, uint64_t items) {
    progress.show(input.size() == 0 ? bytes : input.position(), items_before + items);
    return !is_interrupted();
  };
  const auto result = import_batches(target->container, request, input.decoded(), items_before);
  progress.clear();
  if (!result) {
    if (items_before > 0)
      tell("{} items of the batches before were imported; --upsert goes on from there\n", items_before);
    // A failed import leaves no container behind that was made for it, unless some items were written.
    if (target->is_new && is_empty(target->container))
      static_cast<void>(database.drop_container(request.name));
    return import_failed(result.error(), request, input);
  }
  tell("{} items {}", result->items, request.is_dry_run ? "would be imported" : "imported");
  if (const uint64_t skipped = result->skipped + left_out; skipped > 0)
    tell(", {} {} skipped", skipped, is_delimited(request.format) ? "records" : "lines");
  tell("\n");
  return Outcome::done;
}

Outcome import_file(Session& session, Request& request) {
  Input input(request.path, session.input(), request.lines);
  if (!input.is_open()) {
    print_message(fmt::format("cannot read '{}': {}", request.path, std::strerror(errno)));
    return Outcome::failed;
  }
  if (!request.is_dry_run) return import_into(session, session.database(), request, input);
  // Each item is checked as one of a container that is empty and has the same partition key.
  auto present = partition_key_of(session.database(), request.name);
  auto scratch = Database::open(":memory:");
  if (!present || !scratch) {
    print_error(present ? scratch.error() : present.error());
    return Outcome::failed;
  }
  if (present->has_value()) {
    if (const auto checked = check_partition_key(request.name, request.partition_key, **present); !checked)
      return failed(checked.error());
    request.partition_key = **present;
  }
  return import_into(session, *scratch, request, input);
}

// What is wrong with the options, or nothing.
std::string read_request(const ParsedArguments& arguments, Request& request) {
  if (arguments.positional.size() < 2) return "a file and a container are needed";
  if (arguments.positional.size() > 2) return "'" + arguments.positional[2] + "' is too much";
  request.path = arguments.positional[0];
  request.name = arguments.positional[1];
  for (const std::string_view once : {"id", "format", "lines", "batch"})
    if (arguments.values(once).size() > 1) return "--" + std::string(once) + " may be given once";
  const auto formats = arguments.values("format");
  const auto format = formats.empty() ? format_of_file(request.path) : find_format(formats[0]);
  if (!format) return "there is no format '" + formats[0] + "', only jsonl, json, csv, tsv";
  request.format = *format;
  if (const auto lines = arguments.values("lines"); !lines.empty()) {
    const char* end = lines[0].data() + lines[0].size();
    const auto [stopped, error] = std::from_chars(lines[0].data(), end, request.lines);
    if (error != std::errc() || stopped != end) return "--lines needs a number, not '" + lines[0] + "'";
    if (request.path != "-") return "--lines is for what follows in a script: FILE must be -";
  }
  if (const auto batch = arguments.values("batch"); !batch.empty()) {
    const char* end = batch[0].data() + batch[0].size();
    const auto [stopped, error] = std::from_chars(batch[0].data(), end, request.batch);
    if (error != std::errc() || stopped != end || request.batch == 0)
      return "--batch needs a number of lines, not '" + batch[0] + "'";
  }
  request.partition_key = arguments.values("partition-key");
  request.is_dry_run = arguments.has("dry-run");
  request.options.skip_errors = arguments.has("skip-errors");
  request.options.upsert = arguments.has("upsert");
  request.options.extended_json = arguments.has("extended-json");
  request.options.generate_ids = arguments.has("generate-ids");
  if (const auto ids = arguments.values("id"); !ids.empty()) request.options.id_path = ids[0];
  return {};
}

}  // namespace

Outcome import_command(Session& session, const Words& words) {
  const auto arguments =
      parse_arguments(words, {"partition-key", "id", "format", "lines", "batch"},
                      {"skip-errors", "upsert", "extended-json", "generate-ids", "dry-run"});
  if (!arguments) return wrong_usage(".import", arguments.error());
  Request request;
  if (const std::string wrong = read_request(*arguments, request); !wrong.empty())
    return wrong_usage(".import", wrong);
  return import_file(session, request);
}

}  // namespace quire::shell
