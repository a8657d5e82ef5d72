// Server-side code: JavaScript procedures beside native ones, a function in a WHERE beside the expression in
// SQL, and what the first script of a process costs. Where the table says LMDB, Quire is measured beside
// itself.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "quire/quire.hpp"
#include "tests/bench/child_process.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

constexpr int kCreates = 10;

// Ten items of one partition, by JavaScript or by C++; ids go on from call to call.
constexpr std::string_view kCreateTen = R"(function (from) {
  var c = getContext().getCollection(), link = c.getSelfLink();
  for (var i = 0; i < 10; i++)
    if (!c.createDocument(link, { id: 'i' + (from + i), pk: 'p', number: i, name: 'an item of a procedure' })) throw new Error('not accepted');
})";

Result<void> create_ten(ProcedureCall& call, std::string_view arguments) {
  const uint64_t from = std::stoull(std::string(arguments.substr(1)));
  for (uint64_t i = 0; i < kCreates; ++i)
    if (auto made = call.create(fmt::format(
            R"({{"id":"i{}","pk":"p","number":{},"name":"an item of a procedure"}})", from + i, i));
        !made)
      return std::unexpected(made.error());
  return {};
}

// A database of its own beside the readings.
struct Scratch {
  std::string path;
  Database database;
  Container items;

  explicit Scratch(const Fixture& fixture)
      : path(fixture.folder + "/scripts.quire"),
        database(open(path)),
        items(must(database.container("items"))) {}
  static Database open(const std::string& path) {
    std::remove(path.c_str());
    Options options;
    options.durability = Durability::relaxed;
    Database database = must(Database::open(path, options));
    must(database.create_container(R"({"id":"items","partitionKey":{"paths":["/pk"]}})"));
    return database;
  }
};

Sample creates_per_second(const Fixture& fixture, bool is_native) {
  Scratch scratch(fixture);
  must(scratch.items.create_script(ScriptKind::procedure, "javascript", kCreateTen));
  must(scratch.database.register_procedure("native", create_ten));
  uint64_t from = 0;
  const double rate = rate_of(kCreates, [&] {
    must(scratch.items.execute(is_native ? "native" : "javascript", "p", fmt::format("[{}]", from)));
    from += kCreates;
  });
  return {rate, ""};
}

Sample filter_milliseconds(const Fixture& fixture, std::string_view condition) {
  Database database = must(Database::open(fixture.quire_file()));
  Container readings = must(database.container("readings"));
  must(readings.create_script(ScriptKind::function, "double", "function (x) { return x * 2; }",
                              {.replace = true}));
  Statement statement =
      must(readings.prepare(fmt::format("SELECT VALUE COUNT(1) FROM r WHERE {} > 200", condition)));
  std::string answer;
  const auto run = [&] {
    for (const Value row : statement.rows()) answer = must(row.to_json());
    must(!statement.error(), "quire: a query failed");
  };
  run();
  double least = seconds_of(run);
  for (int i = 0; i < 2; ++i) least = std::min(least, seconds_of(run));
  return {least * 1e3, answer};
}

Sample process_milliseconds(const Fixture& fixture, const std::string& sql) {
  constexpr size_t kRuns = 15;
  std::vector<double> milliseconds;
  const std::vector<std::string> command = {fixture.shell, fixture.folder + "/scripts.quire", sql};
  std::string answer = output_of(command);
  for (size_t run = 0; run < kRuns; ++run)
    milliseconds.push_back(1000 * seconds_of([&] { answer = output_of(command); }));
  std::ranges::nth_element(milliseconds, milliseconds.begin() + kRuns / 2);
  return {milliseconds[kRuns / 2], answer};
}

void store_script(const Fixture& fixture) {
  must(!fixture.shell.empty(), "the quire program is not beside quire-bench; name it by --shell");
  Scratch scratch(fixture);
  must(scratch.items.create_script(ScriptKind::procedure, "one", "function () { __.response.setBody(1); }"));
}

}  // namespace

Sample quire_procedure_10(const Fixture& fixture) {
  return creates_per_second(fixture, false);
}
Sample native_procedure_10(const Fixture& fixture) {
  return creates_per_second(fixture, true);
}

Sample quire_procedure_empty(const Fixture& fixture) {
  constexpr size_t kCalls = 5'001;
  Scratch scratch(fixture);
  must(scratch.items.create_script(ScriptKind::procedure, "empty", "function () {}"));
  std::vector<double> microseconds;
  for (size_t i = 0; i < kCalls; ++i)
    microseconds.push_back(1e6 * seconds_of([&] { must(scratch.items.execute("empty", "p")); }));
  std::ranges::nth_element(microseconds, microseconds.begin() + kCalls / 2);
  return {microseconds[kCalls / 2], ""};
}

Sample quire_udf_where(const Fixture& fixture) {
  return filter_milliseconds(fixture, "udf.double(r.metricValue)");
}
Sample sql_udf_where(const Fixture& fixture) {
  return filter_milliseconds(fixture, "r.metricValue * 2");
}

Sample quire_script_first(const Fixture& fixture) {
  store_script(fixture);
  return process_milliseconds(fixture, "EXECUTE one() ON items IN PARTITION 'p'");
}
Sample sql_script_first(const Fixture& fixture) {
  store_script(fixture);
  return process_milliseconds(fixture, "SELECT VALUE 1");
}

}  // namespace quire::bench
