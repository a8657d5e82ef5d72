// Runs the cases of tests/language/*.test and the examples of the pages that document the language: queries
// with the rows that they must give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

#include "sql/functions/function.h"
#include "sql/run/execution.h"
#include "tests/file_bytes.h"
#include "tests/sql/run/case_lines.h"
#include "tests/sql/run/memory_source.h"

namespace quire::sql {
namespace {

// How long a step took is another time each time: "[rows 1, 0.03 ms]" becomes "[rows 1]".
std::string without_times(std::string line) {
  const size_t end = line.rfind(" ms]");
  const size_t begin = end == std::string::npos ? end : line.rfind(", ", end);
  return begin == std::string::npos ? line : line.erase(begin, end + 3 - begin);
}

class CaseFile {
 public:
  explicit CaseFile(const std::filesystem::path& path) : path_(path), lines_(read_case_lines(path)) {}

  void run() {
    while (at_ < lines_.size()) {
      const std::string line = lines_[at_++].text;
      if (line.empty() || line.starts_with('#')) continue;
      std::istringstream words(line);
      std::string command;
      words >> command;
      if (command == "container") {
        read_container(words);
      } else if (command == "scope") {
        scope_.clear();
        words >> scope_;
      } else if (command == "strict") {
        std::string state;
        words >> state;
        strict_ = state == "on";
      } else if (command == "memory") {
        words >> memory_limit_;
      } else if (command == "parameter") {
        std::string name;
        words >> name;
        std::string json;
        std::getline(words, json);
        parameters_[name.substr(1)] = json;
      } else if (command == "query") {
        std::string order;
        words >> order;
        run_query(order == "ordered");
      } else if (command == "error") {
        read_error(words);
      } else {
        ADD_FAILURE() << place() << ": unknown command " << command;
      }
    }
  }

  size_t cases() const { return cases_; }

 private:
  // Of the line that was read last.
  std::string place() const {
    return path_.filename().string() + ":" + std::to_string(lines_[at_ - 1].number);
  }

  void read_container(std::istringstream& words) {
    std::string name;
    words >> name;
    std::vector<std::vector<std::string>> paths;
    std::map<std::string, std::string, std::less<>> properties;
    for (std::string path; words >> path;) {
      if (const size_t equals = path.find('='); equals != std::string::npos) {
        properties[path.substr(0, equals)] = path.substr(equals + 1);
        continue;
      }
      std::vector<std::string> steps;
      std::istringstream names(path.substr(1));
      for (std::string step; std::getline(names, step, '/');) steps.push_back(step);
      paths.push_back(std::move(steps));
    }
    MemoryCollection& collection = source_.make(name, std::move(paths), std::move(properties));
    while (at_ < lines_.size() && !lines_[at_].text.empty()) {
      const auto added = collection.add(lines_[at_++].text);
      ASSERT_TRUE(added) << place() << ": " << added.error().message;
    }
  }

  std::string read_until(std::string_view end) {
    std::string text;
    while (at_ < lines_.size() && lines_[at_].text != end && !lines_[at_].text.empty())
      text += lines_[at_++].text + "\n";
    if (at_ < lines_.size()) ++at_;
    if (!text.empty()) text.pop_back();
    return text;
  }

  Result<std::vector<std::string>> rows_of(const std::string& sql) {
    QUIRE_ASSIGN(auto prepared, prepare_query(sql, source_, {.strict = strict_, .scope = scope_}));
    Arena arena;
    JsonReader reader;
    std::vector<Value> values;
    std::unique_ptr<bool[]> is_bound = std::make_unique<bool[]>(prepared->parameter_names().size() + 1);
    for (const std::string& name : prepared->parameter_names()) {
      is_bound[values.size()] = parameters_.contains(name);
      values.emplace_back();
      if (!parameters_.contains(name)) continue;
      QUIRE_ASSIGN(values.back(), reader.to_value(parameters_[name], arena));
    }
    QUIRE_ASSIGN(auto execution, Execution::start(*prepared, source_,
                                                  {.parameters = values,
                                                   .is_bound = {is_bound.get(), values.size()},
                                                   .memory = std::make_shared<MemoryBudget>(memory_limit_)}));
    std::vector<std::string> rows;
    while (true) {
      QUIRE_ASSIGN(const std::optional<Value> row, execution->next());
      if (!row) return rows;
      // As the API does where a row becomes JSON.
      if (!has_only_finite_numbers(*row)) return fail(ErrorCode::not_json_result, "NaN or Infinity in a row");
      rows.emplace_back();
      write_json(*row, rows.back());
      if (sql.starts_with("EXPLAIN ANALYZE")) rows.back() = without_times(rows.back());
    }
  }

  void run_query(bool ordered) {
    ++cases_;
    const std::string at = place();
    const std::string sql = read_until("----");
    std::vector<std::string> expected;
    while (at_ < lines_.size() && !lines_[at_].text.empty()) expected.push_back(lines_[at_++].text);
    auto rows = rows_of(sql);
    ASSERT_TRUE(rows) << at << ": " << sql << "\n" << rows.error().message;
    if (!ordered) {
      std::sort(rows->begin(), rows->end());
      std::sort(expected.begin(), expected.end());
    }
    EXPECT_EQ(*rows, expected) << at << ": " << sql;
  }

  // error CODE [LINE:COLUMN] [what the message must contain]
  void read_error(std::istringstream& words) {
    std::string code;
    std::string message;
    words >> code >> std::ws;
    std::getline(words, message);
    std::string place;
    if (!message.empty() && std::isdigit(static_cast<unsigned char>(message[0])) != 0) {
      place = message.substr(0, message.find(' '));
      message.erase(0, std::min(place.size() + 1, message.size()));
    }
    run_error(code, place, message);
  }

  void run_error(const std::string& code, const std::string& error_place, const std::string& message) {
    ++cases_;
    const std::string at = place();
    const std::string sql = read_until("");
    const auto rows = rows_of(sql);
    ASSERT_FALSE(rows) << at << ": " << sql << " gave " << rows->size() << " rows";
    const Error& error = rows.error();
    EXPECT_EQ(error_code_row(error.code).name, code) << at << ": " << sql << "\n" << error.message;
    EXPECT_NE(error.message.find(message), std::string::npos) << at << ": " << sql << "\n" << error.message;
    const std::string stood =
        std::to_string(error.position.line) + ":" + std::to_string(error.position.column);
    EXPECT_TRUE(error_place.empty() || stood == error_place) << at << ": " << sql << "\n"
                                                             << error.message << " stood at " << stood;
  }

  std::filesystem::path path_;
  std::vector<CaseLine> lines_;
  size_t at_ = 0;
  size_t cases_ = 0;
  MemorySource source_;
  std::string scope_;
  bool strict_ = false;
  size_t memory_limit_ = ExecutionOptions().memory->limit();
  std::map<std::string, std::string> parameters_;
};

class LanguageTest : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(LanguageTest, GivesTheRowsItMust) {
  CaseFile file(GetParam());
  file.run();
  EXPECT_GT(file.cases(), 0u);
}

// Pages whose examples are cases too.
std::vector<std::filesystem::path> language_pages() {
  const std::filesystem::path folder = QUIRE_DOCS;
  return {folder / "functions.md", folder / "language.md"};
}

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files = language_pages();
  for (const auto& entry : std::filesystem::directory_iterator(QUIRE_LANGUAGE_TESTS))
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// As a test's name: language.md is page_language.
std::string name_of(const std::filesystem::path& path) {
  return (path.extension() == ".md" ? "page_" : "") + path.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Files, LanguageTest, testing::ValuesIn(case_files()),
                         [](const auto& info) { return name_of(info.param); });

// The names that a line of a case calls, in capitals.
void add_called_names(std::string_view line, std::set<std::string, std::less<>>& names) {
  std::string name;
  for (const char c : line) {
    if (c == '(' && !name.empty()) names.insert(name);
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
      name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    else
      name.clear();
  }
}

class DocumentedFunctions : public testing::Test {
 protected:
  DocumentedFunctions() {
    for (const std::filesystem::path& page : language_pages()) {
      for (const CaseLine& line : read_case_lines(page)) add_called_names(line.text, called_);
      text_ += tests::file_bytes(page);
    }
  }

  void expect_documented(std::string_view name, std::string_view signature) {
    EXPECT_TRUE(called_.contains(name)) << name << " has no example";
    EXPECT_NE(text_.find("| `" + std::string(signature) + "` |"), std::string::npos)
        << "no row of a table begins with `" << signature << "`";
  }

  std::set<std::string, std::less<>> called_;
  std::string text_;
};

TEST_F(DocumentedFunctions, EveryFunctionHasItsSignatureAndAnExampleThatRuns) {
  for (const std::span<const Function> family : all_functions())
    for (const Function& function : family) expect_documented(function.name, function.signature);
}

TEST_F(DocumentedFunctions, EveryAggregateHasAnExampleThatRuns) {
  for (const AggregateRow& row : all_aggregates())
    expect_documented(row.name, std::string(row.name) + "(value)");
}

}  // namespace
}  // namespace quire::sql
