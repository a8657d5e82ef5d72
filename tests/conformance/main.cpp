// conformance [--quiet] [--only TEXT] [--index-all] [--floor FILE] FILE...
//
// Runs the cases of *.parse.jsonl in strict mode and those of *.eval.jsonl over a database in memory, prints
// each failure, and closes with `N passed, N failed` over all files. With --floor, fails if fewer cases pass
// than the file says (lines `eval N` and `parse N`), or more, which asks for the floor to be raised.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quire/quire.h"
#include "sql/parse/ast.h"
#include "sql/value/json.h"
#include "tests/conformance/case_judge.h"

namespace quire::conformance {
namespace {

using sql::Value;

std::string json_of(const Value& value) {
  std::string text;
  sql::write_json(value, text);
  return text;
}

std::string joined(const std::vector<Value>& rows) {
  std::string text;
  for (const Value& row : rows) text += (text.empty() ? "" : " ") + json_of(row);
  constexpr size_t kMost = 2000;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

// What a case came to: nothing if it passed.
using Failure = std::optional<std::string>;

class Database {
 public:
  Database(bool strict, bool indexes_all) : indexes_all_(indexes_all) {
    quire_options options{};
    options.struct_size = sizeof options;
    options.strict = strict ? 1 : 0;
    quire_error error{};
    if (quire_open(":memory:", &options, &database_, &error) != QUIRE_OK)
      throw std::runtime_error(error.message);
  }
  ~Database() {
    forget_container();
    quire_close(database_, nullptr);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // A new, empty container in place of the last, as a case describes it.
  Failure renew_container(const Value& given) {
    forget_container();
    std::string definition = R"({"id":"c")";
    const Value partition_key = given.member("partitionKey");
    const Value vectors = given.member("vectorEmbeddingPolicy");
    if (indexes_all_) definition += R"(,"indexingPolicy":{"includedPaths":[{"path":"/*"}]})";
    if (vectors.is_defined()) definition += R"(,"vectorEmbeddingPolicy":)" + json_of(vectors);
    if (partition_key.is_string())
      definition += R"(,"partitionKey":{"paths":[)" + json_of(partition_key) + "]}";
    if (partition_key.is_array()) definition += R"(,"partitionKey":{"paths":)" + json_of(partition_key) + "}";
    definition += "}";
    quire_error error{};
    if (quire_container_create(database_, definition.data(), definition.size(), &error) != QUIRE_OK ||
        quire_container_open(database_, "c", 1, &container_, &error) != QUIRE_OK)
      return std::string("container: ") + error.message;
    return {};
  }

  Failure add(const std::string& json) {
    quire_error error{};
    if (quire_upsert(container_, nullptr, json.data(), json.size(), nullptr, nullptr, &error) == QUIRE_OK)
      return {};
    return fmt::format("document {}: {}", json.substr(0, 200), error.message);
  }

  // The rows, or the error.
  Failure query(const std::string& sql, const Value& parameters, sql::Arena& arena,
                std::vector<Value>* rows) {
    quire_statement* statement = nullptr;
    quire_error error{};
    const auto run = [&]() -> int {
      if (const int code = quire_prepare_in(container_, sql.data(), sql.size(), &statement, &error))
        return code;
      if (rows == nullptr) return QUIRE_OK;
      for (uint32_t i = 0; i < parameters.size(); ++i) {
        const sql::Member parameter = parameters.member_at(i);
        const std::string json = json_of(parameter.value);
        // A parameter that the query does not use is passed over.
        quire_bind_json(statement, std::string(parameter.name).c_str(), json.data(), json.size(), nullptr);
      }
      while (true) {
        const int code = quire_step(statement, &error);
        if (code != QUIRE_ROW) return code == QUIRE_DONE ? QUIRE_OK : code;
        const char* json = nullptr;
        size_t length = 0;
        if (const int failed = quire_row_json(statement, &json, &length, &error)) return failed;
        rows->push_back(*reader_.to_value({json, length}, arena));
      }
    };
    const int code = run();
    quire_finalize(statement);
    if (code == QUIRE_OK) return {};
    return fmt::format("{}: {}", quire_code_name(code), error.message);
  }

 private:
  void forget_container() {
    if (container_ == nullptr) return;
    quire_container_close(container_);
    container_ = nullptr;
    quire_container_drop(database_, "c", 1, nullptr);
  }

  bool indexes_all_;
  quire_database* database_ = nullptr;
  quire_container* container_ = nullptr;
  sql::JsonReader reader_;
};

class Runner {
 public:
  Runner(bool quiet, std::string only, bool indexes_all)
      : quiet_(quiet), only_(std::move(only)), strict_(true, indexes_all), lax_(false, indexes_all) {}

  void run_file(const std::string& path) {
    const bool is_parse = path.ends_with(".parse.jsonl");
    if (!is_parse && !path.ends_with(".eval.jsonl")) return;
    std::ifstream file(path);
    if (!file) {
      fmt::print(stderr, "cannot read {}\n", path);
      unreadable_ = true;
      return;
    }
    size_t passed = 0;
    size_t failed = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.empty()) continue;
      sql::Arena arena;
      const auto given = reader_.to_value(line, arena);
      if (!given) {
        fmt::print(stderr, "{}: {}\n", path, given.error().message);
        unreadable_ = true;
        continue;
      }
      const std::string query(given->member("query").as_string());
      const std::string name(is_parse ? given->member("source").as_string()
                                      : given->member("name").as_string());
      if (!only_.empty() && name.find(only_) == std::string::npos && query.find(only_) == std::string::npos)
        continue;
      const Failure failure = is_parse ? judge_parse(*given, query) : judge_eval(*given, query, arena);
      ++(failure ? failed : passed);
      if (failure && !quiet_) fmt::print("FAILED {}\n  query: {}\n  {}\n", name, query, *failure);
    }
    fmt::print("{}: {} of {}\n", std::filesystem::path(path).filename().string(), passed, passed + failed);
    passed_[is_parse ? "parse" : "eval"] += passed;
    failed_ += failed;
  }

  int finish(const std::string& floor) {
    const size_t passed = passed_["eval"] + passed_["parse"];
    fmt::print("eval {}\nparse {}\n", passed_["eval"], passed_["parse"]);
    int code = unreadable_ ? 1 : 0;
    if (!floor.empty()) {
      std::ifstream file(floor);
      std::string kind;
      for (size_t least = 0; file >> kind >> least;) {
        if (passed_[kind] < least) {
          fmt::print("{}: {} cases pass, fewer than the {} of {}\n", kind, passed_[kind], least, floor);
          code = 1;
        } else if (passed_[kind] > least) {
          fmt::print("{}: {} cases pass, more than the {} of {}: raise it\n", kind, passed_[kind], least,
                     floor);
        }
      }
    }
    fmt::print("{} passed, {} failed\n", passed, failed_);
    return code;
  }

 private:
  Failure judge_parse(const Value& given, const std::string& query) {
    const bool is_valid = given.member("valid").is_true();
    const std::string_view stage = given.member("stage").as_string();
    if (stage == "plan") return {};  // Quire may take what the cross-partition planner of .NET refuses
    Failure refused;
    if (stage == "syntax") {
      if (const auto parsed = sql::parse(query, true); !parsed) refused = parsed.error().message;
    } else {
      if (Failure failure = strict_.renew_container(Value())) return failure;
      sql::Arena arena;
      refused = strict_.query(query, Value(), arena, nullptr);
      // Which indexes there are is not the text's affair.
      if (refused && refused->find("needs a composite index") != std::string::npos) refused.reset();
    }
    if (is_valid == !refused) return {};
    return is_valid ? "refused: " + *refused
                    : "taken, though it is not valid: " + std::string(given.member("error").as_string());
  }

  Failure judge_eval(const Value& given, const std::string& query, sql::Arena& arena) {
    // What the service refuses is judged as it judges: outside strict mode Quire takes more.
    Database& database = given.member("error").is_true() ? strict_ : lax_;
    if (Failure failure = database.renew_container(given)) return failure;
    Expectation expected = expectation_of(given, query);
    const Value documents = given.member("documents");
    for (uint32_t i = 0; i < documents.size(); ++i) {
      std::string json = json_of(documents.element(i));
      if (!documents.element(i).member("id").is_string()) {
        expected.ids_were_added = true;
        json.insert(1, fmt::format("\"id\":\"added-{}\"{}", i, documents.element(i).size() > 0 ? "," : ""));
      }
      if (Failure failure = database.add(json)) return failure;
    }
    std::vector<Value> rows;
    Failure failure = database.query(query, given.member("parameters"), arena, &rows);
    if (given.member("error").is_true())
      return failure ? Failure() : Failure("an error was expected, got " + joined(rows));
    if (failure) return failure;
    if (matches(rows, expected)) return {};
    return fmt::format("expected: {}\n  actual:   {}", joined(expected.rows), joined(rows));
  }

  static Expectation expectation_of(const Value& given, const std::string& query) {
    Expectation expected;
    const Value rows = given.member("expected");
    for (uint32_t i = 0; i < rows.size(); ++i) expected.rows.push_back(rows.element(i));
    expected.ordered = given.member("ordered").is_true();
    expected.unordered_arrays = given.member("unorderedArrays").is_true();
    if (const Value key = given.member("orderKey"); key.is_string()) expected.order_key = key.as_string();
    if (query.find("ST_") != std::string::npos || query.find("st_") != std::string::npos)
      expected.tolerance = 1e-6;
    if (const Value approximate = given.member("approxNumbers"); approximate.is_number())
      expected.tolerance = approximate.as_double();
    return expected;
  }

  bool quiet_;
  std::string only_;
  bool unreadable_ = false;
  std::map<std::string, size_t> passed_;
  size_t failed_ = 0;
  sql::JsonReader reader_;
  Database strict_;
  Database lax_;
};

}  // namespace
}  // namespace quire::conformance

int main(int argc, char** argv) {
  bool quiet = false;
  bool indexes_all = false;  // each container indexes every path: the same rows all the same
  std::string only;
  std::string floor;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quiet")
      quiet = true;
    else if (argument == "--only" && i + 1 < argc)
      only = argv[++i];
    else if (argument == "--index-all")
      indexes_all = true;
    else if (argument == "--floor" && i + 1 < argc)
      floor = argv[++i];
    else
      files.push_back(argument);
  }
  if (files.empty()) {
    fmt::print(stderr, "usage: conformance [--quiet] [--only TEXT] [--floor FILE] FILE...\n");
    return 2;
  }
  quire::conformance::Runner runner(quiet, only, indexes_all);
  for (const std::string& file : files) runner.run_file(file);
  return runner.finish(floor);
}
