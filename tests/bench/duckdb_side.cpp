// DuckDB's side, where its library is given: a JSON column beside the two key columns, one thread where the
// others have one, prepared statements.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/bench/duckdb_library.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

std::string file_of(const Fixture& fixture) {
  return fixture.folder + "/readings.duckdb";
}

// One row with one integer.
Sample measure_count(const Fixture& fixture, const std::string& sql, int threads = 1) {
  DuckdbFile file(file_of(fixture), threads);
  DuckdbStatement statement = file.prepare(sql);
  int64_t count = 0;
  const double rate = rate_of(fixture.readings.count(), [&] { count = statement.run().integer(0, 0); });
  return {rate, std::to_string(count)};
}

// Rows of an id and a number, in order.
Sample measure_order(const Fixture& fixture, const std::string& sql) {
  DuckdbFile file(file_of(fixture));
  DuckdbStatement statement = file.prepare(sql);
  std::string answer;
  const double rate = rate_of(fixture.readings.count(), [&] {
    OrderedRows ordered;
    DuckdbRows rows = statement.run();
    for (uint64_t row = 0; row < rows.count(); ++row) ordered.add(rows.text(row, 0), rows.real(row, 1));
    answer = ordered.answer();
  });
  return {rate, answer};
}

constexpr const char* kScanFilter =
    "SELECT COUNT(*) FROM readings WHERE CAST(json_extract_string(json, '$.metricValue') AS DOUBLE) > 100";

}  // namespace

Sample duckdb_import(const Fixture& fixture) {
  for (const char* suffix : {"", ".wal"}) std::filesystem::remove(file_of(fixture) + suffix);
  const double seconds = seconds_of([&] {
    DuckdbFile file(file_of(fixture), 2);
    file.run(
        fmt::format("CREATE TABLE readings AS SELECT json_extract_string(json, '$.deviceId') AS pk, "
                    "json_extract_string(json, '$.id') AS id, json"
                    " FROM read_ndjson_objects('{}') ORDER BY pk, id",
                    fixture.readings.path()));
    file.run("CHECKPOINT");
  });
  DuckdbFile file(file_of(fixture));
  const int64_t items = file.prepare("SELECT COUNT(*) FROM readings").run().integer(0, 0);
  return {static_cast<double>(fixture.readings.count()) / seconds, std::to_string(items)};
}

Sample duckdb_file_size(const Fixture& fixture) {
  return {static_cast<double>(std::filesystem::file_size(file_of(fixture))), {}};
}

Sample duckdb_scan_filter(const Fixture& fixture) {
  return measure_count(fixture, kScanFilter);
}
Sample duckdb_parallel_scan(const Fixture& fixture) {
  return measure_count(fixture, kScanFilter, 2);
}

Sample duckdb_group_by(const Fixture& fixture) {
  DuckdbFile file(file_of(fixture));
  DuckdbStatement statement = file.prepare(
      "SELECT json_extract_string(json, '$.metricType') AS type, COUNT(*), "
      "AVG(CAST(json_extract_string(json, '$.metricValue') AS DOUBLE))"
      " FROM readings GROUP BY type");
  std::vector<std::string> texts;
  const double rate = rate_of(fixture.readings.count(), [&] {
    texts.clear();
    DuckdbRows rows = statement.run();
    for (uint64_t row = 0; row < rows.count(); ++row)
      texts.push_back(
          fmt::format("{} {} {:.4f}", rows.text(row, 0), rows.integer(row, 1), rows.real(row, 2)));
  });
  std::ranges::sort(texts);
  return {rate, fmt::format("{}", fmt::join(texts, "; "))};
}

Sample duckdb_join_in(const Fixture& fixture) {
  return measure_count(
      fixture,
      "SELECT COUNT(*) FROM (SELECT unnest(json_extract(json, '$.owner.emails[*].type')) AS type"
      " FROM readings) WHERE json_extract_string(type, '$') = 'work'");
}

Sample duckdb_expression_filter(const Fixture& fixture) {
  return measure_count(
      fixture,
      "SELECT COUNT(*) FROM readings WHERE CAST(json_extract_string(json, '$.metricValue') AS DOUBLE) > 100"
      " AND json_extract_string(json, '$.metricType') = 'Temperature'"
      " AND starts_with(json_extract_string(json, '$.location.city'), 'S')"
      " AND json_array_length(json, '$.tags') > 2");
}

Sample duckdb_like_filter(const Fixture& fixture) {
  return measure_count(
      fixture, "SELECT COUNT(*) FROM readings WHERE json_extract_string(json, '$.note') LIKE '%abc%'");
}
Sample duckdb_regex_filter(const Fixture& fixture) {
  return measure_count(
      fixture,
      "SELECT COUNT(*) FROM readings WHERE regexp_matches(json_extract_string(json, '$.note'), 'abc')");
}

Sample duckdb_order_limit(const Fixture& fixture) {
  return measure_order(
      fixture,
      "SELECT id, CAST(json_extract_string(json, '$.metricValue') AS DOUBLE) AS value FROM readings"
      " ORDER BY value DESC LIMIT 10");
}
Sample duckdb_order_full(const Fixture& fixture) {
  return measure_order(
      fixture,
      "SELECT id, CAST(json_extract_string(json, '$.metricValue') AS DOUBLE) AS value FROM readings"
      " ORDER BY value DESC");
}

}  // namespace quire::bench
