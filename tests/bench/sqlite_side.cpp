// SQLite's side: JSON text beside the two key columns, WAL, prepared statements. README.md says what was
// tried before these settings were taken.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>

#include "tests/bench/lines.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"
#include "tests/bench/sqlite_connection.h"

namespace quire::bench {
namespace {

// Faster for every work here; --sqlite-layout asks for the other.
constexpr SqliteLayout kFaster = SqliteLayout::rowid;

SqliteLayout layout_of(const Fixture& fixture) {
  return fixture.forced_layout.value_or(kFaster);
}

void remove_database(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
}

int64_t load(const Fixture& fixture, SqliteLayout layout) {
  Connection connection(fixture.sqlite_file(layout), fixture.sqlite_json);
  connection.run("BEGIN");
  connection.run(layout == SqliteLayout::rowid
                     ? "CREATE TABLE readings(pk TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL)"
                     : "CREATE TABLE readings(pk TEXT, id TEXT, json TEXT NOT NULL, PRIMARY KEY (pk, id)) "
                       "WITHOUT ROWID");
  int64_t items = 0;
  {
    const SqlStatement insert = connection.prepare(
        "INSERT INTO readings VALUES (json_extract(?1, '$.deviceId'), json_extract(?1, '$.id'), stored(?1))");
    for_each_line(fixture.readings.path(), [&](std::string_view line) {
      bind_text(insert, 1, line);
      connection.step(insert);
      sqlite3_reset(insert.get());
      ++items;
    });
  }
  if (layout == SqliteLayout::rowid) connection.run("CREATE UNIQUE INDEX readings_key ON readings(pk, id)");
  connection.run("COMMIT");
  return items;
}

// One row with one integer.
Sample measure_count(const Fixture& fixture, std::string_view sql) {
  Connection connection(fixture.sqlite_file(layout_of(fixture)), fixture.sqlite_json);
  const SqlStatement statement = connection.prepare(sql);
  int64_t count = 0;
  const double rate = rate_of(fixture.readings.count(), [&] {
    must(connection.step(statement), "sqlite: no row");
    count = sqlite3_column_int64(statement.get(), 0);
    sqlite3_reset(statement.get());
  });
  return {rate, std::to_string(count)};
}

// Rows of an id and a number, in order.
Sample measure_order(const Fixture& fixture, std::string_view sql) {
  Connection connection(fixture.sqlite_file(layout_of(fixture)), fixture.sqlite_json);
  const SqlStatement statement = connection.prepare(sql);
  std::string answer;
  const double rate = rate_of(fixture.readings.count(), [&] {
    OrderedRows rows;
    while (connection.step(statement))
      rows.add(text_of(statement, 0), sqlite3_column_double(statement.get(), 1));
    sqlite3_reset(statement.get());
    answer = rows.answer();
  });
  return {rate, answer};
}

std::string in_list_query() {
  return "SELECT COUNT(*) FROM readings WHERE json_extract(json, '$.seq') IN " + long_list();
}

// What `number_of` makes of the one row for each probe, added up; all in one read transaction.
struct PointReads {
  double rate = 0;
  double sum = 0;
};
template <typename NumberOf>
PointReads measure_point_reads(const Fixture& fixture, std::string_view sql, NumberOf number_of) {
  Connection connection(fixture.sqlite_file(layout_of(fixture)), fixture.sqlite_json);
  connection.run("BEGIN");
  const SqlStatement statement = connection.prepare(sql);
  PointReads reads;
  reads.rate = rate_of(fixture.probes.size(), [&] {
    reads.sum = 0;
    for (const ReadingKey& probe : fixture.probes) {
      bind_text(statement, 1, probe.device_id);
      bind_text(statement, 2, probe.id);
      must(connection.step(statement), "sqlite: no row");
      reads.sum += number_of(statement);
      sqlite3_reset(statement.get());
    }
  });
  connection.run("COMMIT");
  return reads;
}

}  // namespace

Sample sqlite_import(const Fixture& fixture) {
  remove_database(fixture.sqlite_file(layout_of(fixture)));
  int64_t items = 0;
  const double seconds = seconds_of([&] { items = load(fixture, layout_of(fixture)); });
  return {static_cast<double>(fixture.readings.count()) / seconds, std::to_string(items)};
}

Sample sqlite_point_read_value(const Fixture& fixture) {
  const PointReads reads = measure_point_reads(
      fixture, "SELECT json_extract(json, '$.metricValue') FROM readings WHERE pk = ?1 AND id = ?2",
      [](const SqlStatement& statement) { return sqlite3_column_double(statement.get(), 0); });
  return {reads.rate, fmt::format("{:.2f}", reads.sum)};
}

Sample sqlite_point_read_json(const Fixture& fixture) {
  const PointReads reads = measure_point_reads(
      fixture, "SELECT shown(json) FROM readings WHERE pk = ?1 AND id = ?2",
      [](const SqlStatement& statement) { return static_cast<double>(text_of(statement, 0).size()); });
  return {reads.rate, fmt::format("{:.0f}", reads.sum)};
}

Sample sqlite_scan_filter(const Fixture& fixture) {
  return measure_count(fixture,
                       "SELECT COUNT(*) FROM readings WHERE json_extract(json, '$.metricValue') > 100");
}

Sample sqlite_group_by(const Fixture& fixture) {
  Connection connection(fixture.sqlite_file(layout_of(fixture)), fixture.sqlite_json);
  const SqlStatement statement = connection.prepare(
      "SELECT json_extract(json, '$.metricType') AS type, COUNT(*), AVG(json_extract(json, '$.metricValue'))"
      " FROM readings GROUP BY type");
  std::vector<std::string> rows;
  const double rate = rate_of(fixture.readings.count(), [&] {
    rows.clear();
    while (connection.step(statement))
      rows.push_back(fmt::format("{} {} {:.4f}", text_of(statement, 0),
                                 sqlite3_column_int64(statement.get(), 1),
                                 sqlite3_column_double(statement.get(), 2)));
    sqlite3_reset(statement.get());
  });
  std::ranges::sort(rows);
  return {rate, fmt::format("{}", fmt::join(rows, "; "))};
}

Sample sqlite_join_in(const Fixture& fixture) {
  return measure_count(fixture,
                       "SELECT COUNT(*) FROM readings, json_each(readings.json, '$.owner.emails') AS email"
                       " WHERE json_extract(email.value, '$.type') = 'work'");
}

Sample sqlite_expression_filter(const Fixture& fixture) {
  return measure_count(fixture,
                       "SELECT COUNT(*) FROM readings WHERE json_extract(json, '$.metricValue') > 100"
                       " AND json_extract(json, '$.metricType') = 'Temperature'"
                       " AND json_extract(json, '$.location.city') GLOB 'S*'"
                       " AND json_array_length(json, '$.tags') > 2");
}

Sample sqlite_like_filter(const Fixture& fixture) {
  return measure_count(fixture,
                       "SELECT COUNT(*) FROM readings WHERE json_extract(json, '$.note') LIKE '%abc%'");
}

Sample sqlite_order_limit(const Fixture& fixture) {
  return measure_order(fixture,
                       "SELECT id, json_extract(json, '$.metricValue') AS value FROM readings"
                       " ORDER BY value DESC LIMIT 10");
}

Sample sqlite_order_full(const Fixture& fixture) {
  return measure_order(fixture,
                       "SELECT id, json_extract(json, '$.metricValue') AS value FROM readings"
                       " ORDER BY value DESC");
}

Sample sqlite_in_list(const Fixture& fixture) {
  return measure_count(fixture, in_list_query());
}

Sample sqlite_prepare_in_list(const Fixture& fixture) {
  Connection connection(fixture.sqlite_file(layout_of(fixture)), fixture.sqlite_json);
  const std::string sql = in_list_query();
  return {least_milliseconds_of([&] { connection.prepare(sql); }), {}};
}

Sample sqlite_file_size(const Fixture& fixture) {
  return {static_cast<double>(std::filesystem::file_size(fixture.sqlite_file(layout_of(fixture)))), {}};
}

}  // namespace quire::bench
