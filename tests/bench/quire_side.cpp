// Quire's side, through its public C++ API.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "quire/quire.hpp"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

constexpr std::string_view kScanFilter = "SELECT VALUE COUNT(1) FROM c WHERE c.metricValue > 100";
constexpr std::string_view kGroupBy =
    "SELECT r.metricType AS type, COUNT(1) AS items, AVG(r.metricValue) AS mean FROM r GROUP BY r.metricType";
constexpr std::string_view kJoinIn =
    "SELECT VALUE COUNT(1) FROM r JOIN e IN r.owner.emails WHERE e.type = 'work'";
constexpr std::string_view kExpressionFilter =
    "SELECT VALUE COUNT(1) FROM readings r WHERE r.metricValue > 100 AND r.metricType = 'Temperature' AND "
    "STARTSWITH(r.location.city, 'S') AND ARRAY_LENGTH(r.tags) > 2";
constexpr std::string_view kLikeFilter = "SELECT VALUE COUNT(1) FROM r WHERE r.note LIKE '%abc%'";
constexpr std::string_view kRegexFilter = "SELECT VALUE COUNT(1) FROM r WHERE RegexMatch(r.note, 'abc')";
constexpr std::string_view kOrderLimit =
    "SELECT r.id, r.metricValue FROM r ORDER BY r.metricValue DESC OFFSET 0 LIMIT 10";
constexpr std::string_view kOrderFull = "SELECT r.id, r.metricValue FROM r ORDER BY r.metricValue DESC";
constexpr std::string_view kInList = "SELECT VALUE COUNT(1) FROM r WHERE r.seq IN ";

// The imported file.
struct OpenFile {
  Database database;
  Container container;

  explicit OpenFile(const std::string& path)
      : database(must(Database::open(path, {.must_exist = true}))),
        container(must(database.container("readings"))) {}
};

int64_t count_of(Statement& statement) {
  int64_t count = 0;
  for (const Value row : statement.rows()) count = row.as_integer();
  must(!statement.error(), "quire: a query failed");
  return count;
}

Sample measure_count(const Fixture& fixture, std::string_view sql, size_t threads = 1) {
  OpenFile file(fixture.quire_file());
  Statement setting = must(file.database.prepare("PRAGMA threads = " + std::to_string(threads)));
  must(setting.step());
  Statement statement = must(file.container.prepare(sql));
  int64_t count = 0;
  const double rate = rate_of(fixture.readings.count(), [&] { count = count_of(statement); });
  return {rate, std::to_string(count)};
}

Sample measure_order(const Fixture& fixture, std::string_view sql) {
  OpenFile file(fixture.quire_file());
  Statement statement = must(file.container.prepare(sql));
  std::string answer;
  const double rate = rate_of(fixture.readings.count(), [&] {
    OrderedRows rows;
    for (const Value row : statement.rows()) rows.add(row["id"].as_string(), row["metricValue"].as_real());
    must(!statement.error(), "quire: a query failed");
    answer = rows.answer();
  });
  return {rate, answer};
}

Sample measure_prepare(const Fixture& fixture, const std::string& sql) {
  OpenFile file(fixture.quire_file());
  // Another text each time, of which no plan is kept.
  return {least_milliseconds_of([&, number = 0]() mutable {
            must(file.container.prepare(fmt::format("{} -- {}", sql, ++number)));
          }),
          {}};
}

// Five joins, thirty conditions.
std::string long_join() {
  std::string sql = "SELECT VALUE COUNT(1) FROM r";
  for (int i = 0; i < 5; ++i) fmt::format_to(std::back_inserter(sql), " JOIN t{} IN r.owner.emails", i);
  for (int i = 0; i < 30; ++i)
    fmt::format_to(std::back_inserter(sql), " {} (t{}.type = 'work' OR STARTSWITH(r.location.city, 'S{}'))",
                   i == 0 ? "WHERE" : "AND", i % 5, i);
  return sql;
}

std::string group_rows(Statement& statement) {
  std::vector<std::string> rows;
  for (const Value row : statement.rows())
    rows.push_back(fmt::format("{} {} {:.4f}", row["type"].as_string(), row["items"].as_integer(),
                               row["mean"].as_real()));
  must(!statement.error(), "quire: a query failed");
  std::ranges::sort(rows);
  return fmt::format("{}", fmt::join(rows, "; "));
}

}  // namespace

void quire_import_file(const std::string& readings_path, const std::string& path) {
  Database database = must(Database::open(path));
  must(database.create_container(R"({"id":"readings","partitionKey":{"paths":["/deviceId"]}})"));
  Container container = must(database.container("readings"));
  const File input = open_file(readings_path, "rb");
  must(container.import([&](char* buffer, size_t capacity) {
    const size_t count = std::fread(buffer, 1, capacity, input.get());
    return std::ferror(input.get()) != 0 ? int64_t{-1} : static_cast<int64_t>(count);
  }));
}

void quire_run_scans(const std::string& path) {
  OpenFile file(path);
  for (const std::string_view sql : {kScanFilter, kGroupBy, kJoinIn}) {
    Statement statement = must(file.container.prepare(sql));
    for ([[maybe_unused]] const Value row : statement.rows()) {
    }
    must(!statement.error(), "quire: a query failed");
  }
}

Sample quire_import(const Fixture& fixture) {
  const std::string path = fixture.new_file("readings.quire");
  const double seconds = seconds_of([&] { quire_import_file(fixture.readings.path(), path); });
  OpenFile file(path);
  Statement count = must(file.container.prepare("SELECT VALUE COUNT(1) FROM c"));
  return {static_cast<double>(fixture.readings.count()) / seconds, std::to_string(count_of(count))};
}

Sample quire_point_read_value(const Fixture& fixture) {
  OpenFile file(fixture.quire_file());
  Snapshot snapshot = must(file.database.begin_snapshot());
  double sum = 0;
  const double rate = rate_of(fixture.probes.size(), [&] {
    sum = 0;
    for (const ReadingKey& probe : fixture.probes)
      sum += must(snapshot.read(file.container, probe.device_id, probe.id))["metricValue"].as_real();
  });
  return {rate, fmt::format("{:.2f}", sum)};
}

Sample quire_point_read_json(const Fixture& fixture) {
  OpenFile file(fixture.quire_file());
  Snapshot snapshot = must(file.database.begin_snapshot());
  detail::Buffer json;
  uint64_t bytes = 0;
  const double rate = rate_of(fixture.probes.size(), [&] {
    bytes = 0;
    for (const ReadingKey& probe : fixture.probes) {
      const Value item = must(snapshot.read(file.container, probe.device_id, probe.id));
      must(quire_value_json(item.c_value(), json.get(), nullptr) == QUIRE_OK, "quire: no JSON");
      bytes += json.get()->length;
    }
  });
  return {rate, std::to_string(bytes)};
}

Sample quire_scan_filter(const Fixture& fixture) {
  return measure_count(fixture, kScanFilter);
}

// The same by two threads; beside one, in LMDB's column.
Sample quire_parallel_scan(const Fixture& fixture) {
  return measure_count(fixture, kScanFilter, 2);
}

Sample quire_join_in(const Fixture& fixture) {
  return measure_count(fixture, kJoinIn);
}

Sample quire_expression_filter(const Fixture& fixture) {
  return measure_count(fixture, kExpressionFilter);
}

Sample quire_like_filter(const Fixture& fixture) {
  return measure_count(fixture, kLikeFilter);
}

Sample quire_regex_filter(const Fixture& fixture) {
  return measure_count(fixture, kRegexFilter);
}

Sample quire_order_limit(const Fixture& fixture) {
  return measure_order(fixture, kOrderLimit);
}

Sample quire_order_full(const Fixture& fixture) {
  return measure_order(fixture, kOrderFull);
}

Sample quire_in_list(const Fixture& fixture) {
  return measure_count(fixture, std::string(kInList) + long_list());
}

Sample quire_prepare_in_list(const Fixture& fixture) {
  return measure_prepare(fixture, std::string(kInList) + long_list());
}

Sample quire_prepare_join(const Fixture& fixture) {
  return measure_prepare(fixture, long_join());
}

Sample quire_group_by(const Fixture& fixture) {
  OpenFile file(fixture.quire_file());
  Statement statement = must(file.container.prepare(kGroupBy));
  std::string rows;
  const double rate = rate_of(fixture.readings.count(), [&] { rows = group_rows(statement); });
  return {rate, rows};
}

Sample quire_file_size(const Fixture& fixture) {
  return {static_cast<double>(std::filesystem::file_size(fixture.quire_file())), {}};
}

}  // namespace quire::bench
