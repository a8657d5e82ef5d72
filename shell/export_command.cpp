// .export: a container's items, without what the database sets, or the rows of a query on it.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <unordered_set>

#include "shell/arguments.h"
#include "shell/background_file.h"
#include "shell/commands.h"
#include "shell/container_definition.h"
#include "shell/file_format.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

Outcome cannot_write(const Session& session, const BackgroundFile& file, const std::string& path) {
  if (file.is_standard_output()) return cannot_write_output(session.output);
  print_message(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  return Outcome::failed;
}

Outcome refused(std::string_view why) {
  print_message(why);
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

// What a look at all rows finds before CSV is written.
struct CellFacts {
  std::vector<std::string> columns;  // for the header
  uint64_t json_strings = 0;         // that CSV cannot tell from arrays and objects
};

Result<CellFacts> look_at_cells(Statement& statement, const IsJson& is_json) {
  CellFacts facts;
  std::unordered_set<std::string> seen;
  const auto look = [&](const std::string& column, Value value) -> Result<void> {
    if (seen.insert(column).second) facts.columns.push_back(column);
    const std::string_view text = value.is_string() ? value.as_string() : "";
    const bool may_be_json = (text.starts_with('[') || text.starts_with('{')) && column != "id";
    if (may_be_json && is_json(text)) ++facts.json_strings;
    return {};
  };
  for (const Value row : statement.rows())
    if (auto looked = visit_cells(row, look); !looked) return Failure(std::move(looked.error()));
  if (statement.error()) return Failure(*statement.error());
  return facts;
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
  if (session.is_own_file(path))
    return refused(fmt::format("'{}' is of the open database: name another file", path));
  if (is_packed_otherwise(path))
    return refused(fmt::format("'{}' would not be packed: names in .gz and .zst alone are", path));
  if (!queries.empty() && !is_query(queries[0]))
    return refused("--query takes a SELECT: other statements run by themselves, and are not exported");
  auto container = session.database().container(name);
  if (!container) return failed(container.error());
  auto statement =
      queries.empty() ? prepare_own(*container, "SELECT VALUE c FROM c") : container->prepare(queries[0]);
  if (!statement) {
    print_error(statement.error(), queries.empty() ? "" : queries[0]);
    return Outcome::failed;
  }
  if (auto bound = session.bind_parameters(*statement); !bound) return failed(bound.error());
  const Interruptible interruptible(session.database());
  if (format == Format::json_lines) {
    Lines lines(*statement);
    return export_rows(session, *statement, lines, path);
  }
  uint64_t json_strings = 0;
  FormatOptions options{.mode = mode_of(format), .insert_into = {}, .columns = {}};
  if (format == Format::csv || format == Format::tsv) {
    auto facts = look_at_cells(*statement, json_check(session.database()));
    if (!facts) return failed(facts.error());
    options.columns = std::move(facts->columns);
    json_strings = facts->json_strings;
  }
  const auto rows = make_format(options);
  const Outcome outcome = export_rows(session, *statement, *rows, path);
  if (outcome == Outcome::done && json_strings > 0)
    tell(
        "warning: {} of the strings are JSON arrays or objects by themselves, which .import takes for such: "
        "JSON "
        "lines keep them strings\n",
        json_strings);
  return outcome;
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
