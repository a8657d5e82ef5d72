// .export: a container's items, without what the database sets, or the rows of a query on it.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "shell/arguments.h"
#include "shell/background_file.h"
#include "shell/commands.h"
#include "shell/container_definition.h"
#include "shell/file_format.h"
#include "shell/interrupt.h"
#include "shell/messages.h"

namespace quire::shell {
namespace {

Outcome cannot_write(const Session& session, const BackgroundFile& file, const std::string& path) {
  if (file.is_standard_output()) return cannot_write_output(session.output);
  print_message(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  return Outcome::failed;
}

Mode mode_of(Format format) {
  switch (format) {
    case Format::json_lines:
      return Mode::json_lines;
    case Format::json_array:
      return Mode::array;
    case Format::csv:
      return Mode::csv;
    case Format::tsv:
      return Mode::tsv;
  }
  return Mode::json_lines;
}

// The columns of all rows, for the header of CSV.
Result<std::vector<std::string>> columns_of(Statement& statement) {
  std::vector<std::string> columns;
  for (const Value row : statement.rows())
    if (auto added = append_columns(row, columns); !added) return Failure(std::move(added.error()));
  if (statement.error()) return Failure(*statement.error());
  return columns;
}

// A line is the row's JSON as it is.
class Lines : public RowFormat {
 public:
  explicit Lines(Statement& statement) : statement_(statement) {}

  Result<void> add(Value, std::string& out) override {
    const auto json = statement_.row_json();
    if (!json) return Failure(json.error());
    out.append(*json) += '\n';
    return {};
  }
  Result<void> finish(std::string&) override { return {}; }

 private:
  Statement& statement_;
};

Outcome export_rows(Session& session, Statement& statement, RowFormat& format, const std::string& path) {
  constexpr size_t kHandedOver = size_t{256} << 10;
  BackgroundFile file(path);
  if (!file.is_open()) return cannot_write(session, file, path);
  uint64_t rows = 0;
  std::string text;
  for (const Value row : statement.rows()) {
    if (auto added = format.add(row, text); !added) return failed(added.error());
    ++rows;
    if (text.size() < kHandedOver) continue;
    if (!file.write(text)) return cannot_write(session, file, path);
  }
  if (statement.error()) return failed(*statement.error());
  if (auto finished = format.finish(text); !finished) return failed(finished.error());
  if (!file.write(text)) return cannot_write(session, file, path);
  const bool is_standard_output = file.is_standard_output();
  if (!file.finish()) return cannot_write(session, file, path);
  if (!is_standard_output) tell("{} items exported\n", rows);
  return Outcome::done;
}

Outcome export_container(Session& session, const std::string& name, const std::string& path, Format format,
                         const std::vector<std::string>& queries) {
  auto container = session.database().container(name);
  if (!container) return failed(container.error());
  auto statement =
      queries.empty() ? prepare_own(*container, "SELECT VALUE c FROM c") : container->prepare(queries[0]);
  if (!statement) {
    print_error(statement.error(), queries.empty() ? "" : queries[0]);
    return Outcome::failed;
  }
  const Interruptible interruptible(session.database());
  if (format == Format::json_lines) {
    Lines lines(*statement);
    return export_rows(session, *statement, lines, path);
  }
  FormatOptions options{.mode = mode_of(format), .insert_into = {}, .columns = {}};
  if (format == Format::csv || format == Format::tsv) {
    auto columns = columns_of(*statement);
    if (!columns) return failed(columns.error());
    options.columns = std::move(*columns);
  }
  const auto rows = make_format(options);
  return export_rows(session, *statement, *rows, path);
}

}  // namespace

Outcome export_command(Session& session, const Words& words) {
  const auto arguments = parse_arguments(words, {"query", "format"}, {});
  if (!arguments) return wrong_usage(".export", arguments.error());
  const auto& names = arguments->positional;
  if (names.size() < 2) return wrong_usage(".export", "a container and a file are needed");
  if (names.size() > 2) return wrong_usage(".export", "'" + names[2] + "' is too much");
  for (const std::string_view once : {"query", "format"})
    if (arguments->values(once).size() > 1)
      return wrong_usage(".export", "--" + std::string(once) + " may be given once");
  const auto formats = arguments->values("format");
  const auto format = formats.empty() ? format_of_file(names[1]) : find_format(formats[0]);
  if (!format)
    return wrong_usage(".export", "there is no format '" + formats[0] + "', only jsonl, json, csv, tsv");
  return export_container(session, names[0], names[1], *format, arguments->values("query"));
}

}  // namespace quire::shell
