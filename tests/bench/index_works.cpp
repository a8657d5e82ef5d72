// What indexes are for, on the imported readings: Quire's CREATE INDEX beside SQLite's index on the
// expression. Each function makes the index that it needs if it is not there.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "quire/quire.hpp"
#include "tests/bench/index_works.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"
#include "tests/bench/sqlite_connection.h"

namespace quire::bench {
namespace {

template <typename Act>
void for_rows(Statement& statement, Act act) {
  for (const Value row : statement.rows()) act(row);
  must(!statement.error(), "quire: a query failed");
}

struct QuireFile {
  Database database;

  explicit QuireFile(const std::string& path) : database(must(Database::open(path))) {}
  void run(const std::string& sql) {
    Statement statement = must(database.prepare(sql));
    for_rows(statement, [](Value) {});
  }
  Statement prepare(const std::string& sql) { return must(database.prepare(sql)); }
};

Connection sqlite_of(const Fixture& fixture) {
  return Connection(fixture.sqlite_file(fixture.forced_layout.value_or(SqliteLayout::rowid)),
                    fixture.sqlite_json);
}

constexpr const char* kSqliteSeq =
    "CREATE INDEX IF NOT EXISTS by_seq ON readings(json_extract(json, '$.seq'))";
constexpr const char* kSqliteValue =
    "CREATE INDEX IF NOT EXISTS by_value ON readings(json_extract(json, '$.metricValue'))";

// With the statistics that its planner chooses by.
void make_index(Connection& connection, const char* sql) {
  connection.run(sql);
  connection.run("ANALYZE readings");
}

// The first `most` readings.
void import_with(const Fixture& fixture, const std::string& path, std::string_view more,
                 uint64_t most = UINT64_MAX) {
  std::filesystem::remove(path);
  std::filesystem::remove(path + "-lock");
  Database database = must(Database::open(path));
  must(database.create_container(
      fmt::format(R"({{"id":"readings","partitionKey":{{"paths":["/deviceId"]}}{}}})", more)));
  Container container = must(database.container("readings"));
  const File input = open_file(fixture.readings.path(), "rb");
  uint64_t left = most;
  must(container.import([&](char* buffer, size_t capacity) {
    const size_t read = left == 0 ? 0 : std::fread(buffer, 1, capacity, input.get());
    if (std::ferror(input.get()) != 0) return int64_t{-1};
    for (size_t i = 0; i < read; ++i)
      if (buffer[i] == '\n' && --left == 0) return static_cast<int64_t>(i + 1);
    return static_cast<int64_t>(read);
  }));
}

double import_rate(const Fixture& fixture, std::string_view more) {
  const std::string path = fixture.folder + "/all-paths.quire";
  const double seconds = seconds_of([&] { import_with(fixture, path, more); });
  std::filesystem::remove(path);
  return static_cast<double>(fixture.readings.count()) / seconds;
}

double quire_contains_rate(const Fixture& fixture, const std::string& condition, std::string& answer) {
  QuireFile file(fixture.quire_file());
  file.run("CREATE INDEX IF NOT EXISTS tags ON readings (tags[])");
  Statement statement = file.prepare("SELECT VALUE COUNT(1) FROM readings r WHERE " + condition);
  return rate_of(fixture.readings.count(),
                 [&] { for_rows(statement, [&](Value row) { answer = std::to_string(row.as_integer()); }); });
}

}  // namespace

// ---- index_build

Sample quire_index_build(const Fixture& fixture) {
  QuireFile file(fixture.quire_file());
  file.run("DROP INDEX IF EXISTS by_value ON readings");
  const double seconds = seconds_of([&] { file.run("CREATE INDEX by_value ON readings (metricValue)"); });
  return {static_cast<double>(fixture.readings.count()) / seconds, {}};
}

Sample sqlite_index_build(const Fixture& fixture) {
  Connection connection = sqlite_of(fixture);
  connection.run("DROP INDEX IF EXISTS by_value");
  const double seconds = seconds_of([&] { connection.run(kSqliteValue); });
  return {static_cast<double>(fixture.readings.count()) / seconds, {}};
}

// ---- index_point

Sample quire_index_point(const Fixture& fixture) {
  QuireFile file(fixture.quire_file());
  file.run("CREATE INDEX IF NOT EXISTS by_seq ON readings (seq)");
  Statement statement = file.prepare("SELECT VALUE r.metricValue FROM readings r WHERE r.seq = @seq");
  double sum = 0;
  const double rate = rate_of(kProbes, [&] {
    sum = 0;
    for (uint64_t i = 0; i < kProbes; ++i) {
      statement.reset();
      must(statement.bind("seq", static_cast<int64_t>(i * kProbeStep % fixture.readings.count())));
      for_rows(statement, [&](Value row) { sum += row.as_real(); });
    }
  });
  return {rate, fmt::format("{:.2f}", sum)};
}

Sample sqlite_index_point(const Fixture& fixture) {
  Connection connection = sqlite_of(fixture);
  make_index(connection, kSqliteSeq);
  const SqlStatement statement = connection.prepare(
      "SELECT json_extract(json, '$.metricValue') FROM readings WHERE json_extract(json, '$.seq') = ?1");
  double sum = 0;
  const double rate = rate_of(kProbes, [&] {
    sum = 0;
    for (uint64_t i = 0; i < kProbes; ++i) {
      sqlite3_reset(statement.get());
      sqlite3_bind_int64(statement.get(), 1, static_cast<int64_t>(i * kProbeStep % fixture.readings.count()));
      while (connection.step(statement)) sum += sqlite3_column_double(statement.get(), 0);
    }
    sqlite3_reset(statement.get());
  });
  return {rate, fmt::format("{:.2f}", sum)};
}

// ---- index_range: about one item in a hundred, as JSON text; index_range_1: by one thread

namespace {

enum class Threads : uint8_t { one, as_it_comes };

Sample range_by(const Fixture& fixture, Threads threads) {
  QuireFile file(fixture.quire_file());
  if (threads == Threads::one) file.run("PRAGMA threads = 1");
  file.run("CREATE INDEX IF NOT EXISTS by_value ON readings (metricValue)");
  Statement statement =
      file.prepare("SELECT VALUE r FROM readings r WHERE r.metricValue >= @from AND r.metricValue < @to");
  must(statement.bind("from", kRangeFrom));
  must(statement.bind("to", kRangeTo));
  // The text that SQLite keeps has no _rid, _etag and so on.
  statement.omit_system_properties();
  uint64_t rows = 0, bytes = 0;
  const auto run = [&] {
    rows = bytes = 0;
    statement.reset();
    while (must(statement.step())) {
      bytes += must(statement.row_json()).size();
      ++rows;
    }
  };
  run();
  const double rate = rate_of(rows, run);
  return {rate, fmt::format("{} {}", rows, bytes)};
}

}  // namespace

Sample quire_index_range(const Fixture& fixture) {
  return range_by(fixture, Threads::as_it_comes);
}
Sample quire_index_range_1(const Fixture& fixture) {
  return range_by(fixture, Threads::one);
}

Sample sqlite_index_range(const Fixture& fixture) {
  Connection connection = sqlite_of(fixture);
  make_index(connection, kSqliteValue);
  const SqlStatement statement = connection.prepare(
      "SELECT shown(json) FROM readings WHERE json_extract(json, '$.metricValue') >= ?1 "
      "AND json_extract(json, '$.metricValue') < ?2");
  sqlite3_bind_double(statement.get(), 1, kRangeFrom);
  sqlite3_bind_double(statement.get(), 2, kRangeTo);
  uint64_t rows = 0, bytes = 0;
  const auto run = [&] {
    rows = bytes = 0;
    while (connection.step(statement)) {
      bytes += text_of(statement, 0).size();
      ++rows;
    }
    sqlite3_reset(statement.get());
  };
  run();
  const double rate = rate_of(rows, run);
  return {rate, fmt::format("{} {}", rows, bytes)};
}

// ---- index_order_limit: beside Quire over a tenth of the readings, in LMDB's column

namespace {

Sample order_limit_of(const std::string& path) {
  QuireFile file(path);
  file.run("CREATE INDEX IF NOT EXISTS by_value ON readings (metricValue)");
  Statement statement = file.prepare(
      "SELECT r.id, r.metricValue FROM readings r ORDER BY r.metricValue DESC OFFSET 0 LIMIT 100");
  std::string answer;
  const double rate = rate_of(1, [&] {
    OrderedRows rows;
    for_rows(statement, [&](Value row) { rows.add(row["id"].as_string(), row["metricValue"].as_real()); });
    answer = rows.answer();
  });
  return {rate, answer};
}

}  // namespace

Sample quire_index_order_limit(const Fixture& fixture) {
  return order_limit_of(fixture.quire_file());
}

Sample tenth_index_order_limit(const Fixture& fixture) {
  const std::string path = fixture.folder + "/tenth.quire";
  import_with(fixture, path, "", std::max<uint64_t>(1, fixture.readings.count() / 10));
  const Sample sample = order_limit_of(path);
  std::filesystem::remove(path);
  std::filesystem::remove(path + "-lock");
  return {sample.figure, {}};  // of fewer readings: other rows
}

Sample sqlite_index_order_limit(const Fixture& fixture) {
  Connection connection = sqlite_of(fixture);
  make_index(connection, kSqliteValue);
  const SqlStatement statement = connection.prepare(
      "SELECT json_extract(json, '$.id'), json_extract(json, '$.metricValue') FROM readings "
      "ORDER BY json_extract(json, '$.metricValue') DESC LIMIT 100");
  std::string answer;
  const double rate = rate_of(1, [&] {
    OrderedRows rows;
    while (connection.step(statement))
      rows.add(text_of(statement, 0), sqlite3_column_double(statement.get(), 1));
    sqlite3_reset(statement.get());
    answer = rows.answer();
  });
  return {rate, answer};
}

// ---- array_contains: beside Quire's own scan, in LMDB's column

Sample quire_array_contains(const Fixture& fixture) {
  std::string answer;
  const double rate = quire_contains_rate(fixture, "ARRAY_CONTAINS(r.tags, 'bbbbb')", answer);
  return {rate, answer};
}

Sample scan_array_contains(const Fixture& fixture) {
  std::string answer;
  // Behind IIF no index can serve the condition.
  const double rate =
      quire_contains_rate(fixture, "IIF(ARRAY_CONTAINS(r.tags, 'bbbbb'), true, false)", answer);
  return {rate, answer};
}

// SQLite has no index on the elements of an array: a side table takes its place, with each tag of a reading
// once.
Sample sqlite_array_contains(const Fixture& fixture) {
  // rowid: only this layout has one.
  const std::string path = fixture.sqlite_file(fixture.forced_layout.value_or(SqliteLayout::rowid));
  const bool has_rowid = path == fixture.sqlite_file(SqliteLayout::rowid);
  Connection connection(path, fixture.sqlite_json);
  connection.run("BEGIN; DROP TABLE IF EXISTS tags");
  connection.run(has_rowid ? "CREATE TABLE tags(tag, reading, PRIMARY KEY (tag, reading)) WITHOUT ROWID;"
                             "INSERT OR IGNORE INTO tags SELECT tag.value, readings.rowid "
                             "FROM readings, json_each(readings.json, '$.tags') AS tag"
                           : "CREATE TABLE tags(tag, pk, id, PRIMARY KEY (tag, pk, id)) WITHOUT ROWID;"
                             "INSERT OR IGNORE INTO tags SELECT tag.value, readings.pk, readings.id "
                             "FROM readings, json_each(readings.json, '$.tags') AS tag");
  connection.run("COMMIT; ANALYZE tags");
  const SqlStatement statement = connection.prepare("SELECT COUNT(*) FROM tags WHERE tag = 'bbbbb'");
  int64_t count = 0;
  const double rate = rate_of(fixture.readings.count(), [&] {
    must(connection.step(statement), "sqlite: no row");
    count = sqlite3_column_int64(statement.get(), 0);
    sqlite3_reset(statement.get());
  });
  return {rate, std::to_string(count)};
}

// ---- partition_query

Sample quire_partition_query(const Fixture& fixture) {
  QuireFile file(fixture.quire_file());
  Statement statement = file.prepare("SELECT VALUE r.metricValue FROM readings r WHERE r.deviceId = @device");
  double sum = 0;
  uint64_t rows = 0;
  const auto run = [&] {
    sum = 0;
    rows = 0;
    for (uint64_t i = 0; i < 100; ++i) {
      statement.reset();
      must(statement.bind("device", std::string_view(fixture.probes[i].device_id)));
      for_rows(statement, [&](Value row) {
        sum += row.as_real();
        ++rows;
      });
    }
  };
  run();
  return {rate_of(rows, run), fmt::format("{:.2f}", sum)};
}

Sample sqlite_partition_query(const Fixture& fixture) {
  Connection connection = sqlite_of(fixture);
  const SqlStatement statement =
      connection.prepare("SELECT json_extract(json, '$.metricValue') FROM readings WHERE pk = ?1");
  double sum = 0;
  uint64_t rows = 0;
  const auto run = [&] {
    sum = 0;
    rows = 0;
    for (uint64_t i = 0; i < 100; ++i) {
      bind_text(statement, 1, fixture.probes[i].device_id);
      while (connection.step(statement)) {
        sum += sqlite3_column_double(statement.get(), 0);
        ++rows;
      }
      sqlite3_reset(statement.get());
    }
  };
  run();
  return {rate_of(rows, run), fmt::format("{:.2f}", sum)};
}

// ---- insert_indexed: three indexes, batches of a thousand, each durable

Sample quire_insert_indexed(const Fixture& fixture) {
  const std::string path = fixture.folder + "/inserted.quire";
  std::filesystem::remove(path);
  double seconds = 0;
  uint64_t items = 0;
  {
    QuireFile file(path);
    must(file.database.create_container(R"({"id":"readings","partitionKey":{"paths":["/deviceId"]},"indexes":[
        {"name":"a","paths":[{"path":"/seq"}]},{"name":"b","paths":[{"path":"/metricValue"}]},
        {"name":"c","paths":[{"path":"/location/city"}]}]})"));
    Container container = must(file.database.container("readings"));
    seconds = seconds_of([&] {
      std::optional<Transaction> transaction;
      for_lines(fixture.readings.path(), kInserted, [&](std::string_view line) {
        if (items % kBatch == 0) {
          if (transaction) must(transaction->commit());
          transaction.emplace(must(file.database.begin_transaction()));
        }
        must(container.create(line, &*transaction));
        ++items;
      });
      must(transaction->commit());
    });
  }
  std::filesystem::remove(path);
  return {static_cast<double>(items) / seconds, std::to_string(items)};
}

Sample sqlite_insert_indexed(const Fixture& fixture) {
  const std::string path = fixture.folder + "/inserted.sqlite";
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  double seconds = 0;
  uint64_t items = 0;
  {
    Connection connection(path, fixture.sqlite_json);
    connection.run(
        "CREATE TABLE readings(pk TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL);"
        "CREATE UNIQUE INDEX readings_key ON readings(pk, id);"
        "CREATE INDEX a ON readings(json_extract(json, '$.seq'));"
        "CREATE INDEX b ON readings(json_extract(json, '$.metricValue'));"
        "CREATE INDEX c ON readings(json_extract(json, '$.location.city'))");
    const SqlStatement insert = connection.prepare(
        "INSERT INTO readings VALUES (json_extract(?1, '$.deviceId'), json_extract(?1, '$.id'), stored(?1))");
    seconds = seconds_of([&] {
      for_lines(fixture.readings.path(), kInserted, [&](std::string_view line) {
        if (items % kBatch == 0) connection.run(items == 0 ? "BEGIN" : "COMMIT; BEGIN");
        bind_text(insert, 1, line);
        connection.step(insert);
        sqlite3_reset(insert.get());
        ++items;
      });
      connection.run("COMMIT");
    });
  }
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  return {static_cast<double>(items) / seconds, std::to_string(items)};
}

// ---- import_all_paths: beside Quire's own import without indexes, in LMDB's column

Sample quire_import_all_paths(const Fixture& fixture) {
  return {import_rate(fixture, R"(,"indexingPolicy":{"includedPaths":[{"path":"/*"}]})"), {}};
}

Sample import_no_paths(const Fixture& fixture) {
  return {import_rate(fixture, ""), {}};
}

// ---- plan_time, prepare_again

namespace {

// Microseconds that `act` takes in the median.
template <typename Act>
double median_microseconds_of(Act act) {
  constexpr size_t kRuns = 2'001;
  std::vector<double> times(kRuns);
  for (double& time : times) time = seconds_of(act);
  std::ranges::nth_element(times, times.begin() + kRuns / 2);
  return times[kRuns / 2] * 1e6;
}

constexpr std::string_view kQuirePlanned =
    "SELECT r.id, r.metricValue FROM readings r WHERE r.metricValue > 100 AND r.location.city = 'Perth' "
    "ORDER BY r.metricValue OFFSET 0 LIMIT 10";
constexpr std::string_view kSqlitePlanned =
    "SELECT json_extract(json, '$.id'), json_extract(json, '$.metricValue') FROM readings "
    "WHERE json_extract(json, '$.metricValue') > 100 AND json_extract(json, '$.location.city') = 'Perth' "
    "ORDER BY json_extract(json, '$.metricValue') LIMIT 10";

// Each time a text that was not there before, or always the same one.
enum class Texts : uint8_t { differ, same };

template <typename Prepare>
Sample measure_preparing(std::string_view sql, Texts texts, const Prepare& prepare) {
  size_t number = 0;
  return {median_microseconds_of([&] {
            number += texts == Texts::differ ? 1 : 0;
            prepare(fmt::format("{} -- {}", sql, number));
          }),
          {}};
}

Sample measure_quire_preparing(const Fixture& fixture, Texts texts) {
  QuireFile file(fixture.quire_file());
  file.run("CREATE INDEX IF NOT EXISTS by_value ON readings (metricValue)");
  return measure_preparing(kQuirePlanned, texts,
                           [&](const std::string& sql) { must(file.database.prepare(sql)); });
}

Sample measure_sqlite_preparing(const Fixture& fixture, Texts texts) {
  Connection connection = sqlite_of(fixture);
  make_index(connection, kSqliteValue);
  return measure_preparing(kSqlitePlanned, texts, [&](const std::string& sql) { connection.prepare(sql); });
}

}  // namespace

Sample quire_plan_time(const Fixture& fixture) {
  return measure_quire_preparing(fixture, Texts::differ);
}

Sample sqlite_plan_time(const Fixture& fixture) {
  return measure_sqlite_preparing(fixture, Texts::differ);
}

Sample quire_prepare_again(const Fixture& fixture) {
  return measure_quire_preparing(fixture, Texts::same);
}

Sample sqlite_prepare_again(const Fixture& fixture) {
  return measure_sqlite_preparing(fixture, Texts::same);
}

}  // namespace quire::bench
