#include "shell/row_format.h"

#include <algorithm>

#include "shell/colours.h"

namespace quire::shell {
namespace {

constexpr ModeRow kModes[] = {
    {"auto", Mode::automatic, "tables on a terminal, JSON lines in a pipe"},
    {"json", Mode::json, "indented JSON, one value after the other"},
    {"array", Mode::array, "one JSON array of all rows"},
    {"jsonl", Mode::json_lines, "one JSON value a line"},
    {"table", Mode::table, "a table that fits the terminal"},
    {"csv", Mode::csv, "comma-separated values with a header; nested properties as a.b"},
    {"tsv", Mode::tsv, "the same, separated by tabs"},
    {"markdown", Mode::markdown, "a Markdown table"},
    {"vertical", Mode::vertical, "a list of names and values for each row"},
    {"insert", Mode::insert, "INSERT statements"},
};

class JsonFormat : public RowFormat {
 public:
  JsonFormat(bool is_pretty, bool has_colour) : is_pretty_(is_pretty), has_colour_(has_colour) {}

  Result<void> add(Value row, std::string& out) override {
    auto json = is_pretty_ ? row.to_pretty_json() : row.to_json();
    if (!json) return Failure(std::move(json.error()));
    out += has_colour_ ? coloured_json(*json) : *json;
    out += '\n';
    return {};
  }
  Result<void> finish(std::string&) override { return {}; }

 private:
  bool is_pretty_;
  bool has_colour_;
};

class ArrayFormat : public RowFormat {
 public:
  Result<void> add(Value row, std::string& out) override {
    auto json = row.to_json();
    if (!json) return Failure(std::move(json.error()));
    out += is_first_ ? "[\n" : ",\n";
    out += *json;
    is_first_ = false;
    return {};
  }
  Result<void> finish(std::string& out) override {
    out += is_first_ ? "[]\n" : "\n]\n";
    return {};
  }

 private:
  bool is_first_ = true;
};

class InsertFormat : public RowFormat {
 public:
  explicit InsertFormat(std::string container) : container_(std::move(container)) {}

  Result<void> add(Value row, std::string& out) override {
    auto json = row.to_json();
    if (!json) return Failure(std::move(json.error()));
    out += "INSERT INTO " + container_ + " VALUES " + *json + ";\n";
    return {};
  }
  Result<void> finish(std::string&) override { return {}; }

 private:
  std::string container_;
};

// On a terminal: objects as tables, anything else as JSON.
class AutomaticFormat : public RowFormat {
 public:
  explicit AutomaticFormat(const FormatOptions& options)
      : options_(options), json_(true, options.has_colour), table_(make_table_format(options)) {}

  Result<void> add(Value row, std::string& out) override {
    if (row.is_object()) return table_->add(row, out);
    if (auto finished = table_->finish(out); !finished) return finished;
    return json_.add(row, out);
  }
  Result<void> finish(std::string& out) override { return table_->finish(out); }

 private:
  FormatOptions options_;
  JsonFormat json_;
  std::unique_ptr<RowFormat> table_;
};

}  // namespace

std::span<const ModeRow> modes() {
  return kModes;
}

const ModeRow* find_mode(std::string_view name) {
  const auto found = std::ranges::find(kModes, name, &ModeRow::name);
  return found == std::end(kModes) ? nullptr : found;
}

std::string mode_names() {
  std::string names;
  for (const ModeRow& row : kModes) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

std::unique_ptr<RowFormat> make_format(const FormatOptions& options) {
  switch (options.mode) {
    case Mode::automatic:
      if (options.is_terminal) return std::make_unique<AutomaticFormat>(options);
      return std::make_unique<JsonFormat>(false, false);
    case Mode::json:
      return std::make_unique<JsonFormat>(true, options.has_colour);
    case Mode::array:
      return std::make_unique<ArrayFormat>();
    case Mode::json_lines:
      return std::make_unique<JsonFormat>(false, options.has_colour);
    case Mode::table:
      return make_table_format(options);
    case Mode::csv:
      return make_delimited_format(options, ',');
    case Mode::tsv:
      return make_delimited_format(options, '\t');
    case Mode::markdown:
      return make_markdown_format();
    case Mode::vertical:
      return make_vertical_format();
    case Mode::insert:
      return std::make_unique<InsertFormat>(options.insert_into);
  }
  return nullptr;
}

Result<std::string> cell_text(Value value) {
  if (value.is_string()) return std::string(value.as_string());
  return value.to_json();
}

}  // namespace quire::shell
