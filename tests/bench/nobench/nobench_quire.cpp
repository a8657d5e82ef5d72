// Quire's side of NoBench: a container without partition key, with an index for each member that a query
// looks for.
#include <filesystem>

#include "quire/quire.hpp"
#include "tests/bench/must.h"
#include "tests/bench/nobench/nobench.h"

namespace quire::bench {
namespace {

constexpr std::string_view kIndexes[] = {
    "CREATE INDEX by_str1 ON nobench (str1)",         "CREATE INDEX by_num ON nobench (num)",
    "CREATE INDEX by_dyn1 ON nobench (dyn1)",         "CREATE INDEX by_word ON nobench (nested_arr[])",
    "CREATE INDEX by_sparse ON nobench (sparse_367)", "ANALYZE nobench",
};

void load(const std::string& input_path, const std::string& path) {
  Database database = must(Database::open(path));
  must(database.create_container(R"({"id":"nobench"})"));
  const File input = open_file(input_path, "rb");
  must(must(database.container("nobench")).import([&](char* buffer, size_t capacity) {
    return static_cast<int64_t>(std::fread(buffer, 1, capacity, input.get()));
  }));
}

Database open_indexed(const Fixture& fixture) {
  const std::string path = fixture.new_file_once("nobench.quire");
  const bool is_new = !std::filesystem::exists(path);
  if (is_new) load(nobench_file(fixture), path);
  Database database = must(Database::open(path));
  for (const std::string_view sql : kIndexes) {
    if (!is_new) break;
    Statement statement = must(database.prepare(sql));
    for ([[maybe_unused]] const Value row : statement.rows()) {
    }
    must(!statement.error(), "quire: an index could not be made");
  }
  return database;
}

void add(Value value, NobenchAnswer& answer) {
  if (value.is_string()) answer.add(value.as_string());
  if (value.is_integer()) answer.add(value.as_integer());
}

NobenchAnswer answer_of(Statement& statement, bool gives_items) {
  NobenchAnswer answer;
  for (const Value row : statement.rows()) {
    answer.add_row();
    if (gives_items) {
      must(row.size() > 0, "quire: an empty item");
      continue;
    }
    for (const auto [name, value] : row.members()) add(value, answer);
  }
  must(!statement.error(), "quire: a query failed");
  return answer;
}

Sample measure_load(const Fixture& fixture) {
  const std::string input = nobench_file(fixture);
  const std::string path = fixture.new_file("nobench-load.quire");
  const double seconds = seconds_of([&] { load(input, path); });
  return {static_cast<double>(nobench_items(fixture)) / seconds, {}};
}

}  // namespace

Side quire_nobench(int number) {
  if (number == kNobenchLoad) return measure_load;
  return [number](const Fixture& fixture) {
    const Database database = open_indexed(fixture);
    const NobenchQuery& query = nobench_query(number);
    Statement statement = must(database.prepare(nobench_text(fixture, query.quire)));
    if (query.gives_items) statement.omit_system_properties();
    NobenchAnswer answer;
    const double rate = rate_of(1, [&] { answer = answer_of(statement, query.gives_items); });
    return Sample{rate, answer.text()};
  };
}

}  // namespace quire::bench
