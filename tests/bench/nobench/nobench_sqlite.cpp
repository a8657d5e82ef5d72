// SQLite's side of NoBench: JSON in a table of its own rowid, an index on the expression for each member that
// a query looks for, a side table for the words of the arrays, and ANALYZE. Whole items are given as stored.
#include <fmt/format.h>

#include <filesystem>

#include "tests/bench/lines.h"
#include "tests/bench/must.h"
#include "tests/bench/nobench/nobench.h"
#include "tests/bench/sqlite_connection.h"

namespace quire::bench {
namespace {

constexpr const char* kIndexes =
    "CREATE INDEX by_str1 ON nobench(json_extract(json, '$.str1'));"
    "CREATE INDEX by_num ON nobench(json_extract(json, '$.num'));"
    "CREATE INDEX by_dyn1 ON nobench(json_extract(json, '$.dyn1'));"
    "CREATE INDEX by_sparse ON nobench(json_extract(json, '$.sparse_367'));"
    "CREATE TABLE nobench_words(word TEXT, item INTEGER, PRIMARY KEY (word, item)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO nobench_words"
    " SELECT word.value, nobench.rowid FROM nobench, json_each(nobench.json, '$.nested_arr') AS word;"
    "ANALYZE";

void load(const std::string& input, const std::string& path, SqliteJson json) {
  Connection connection(path, json);
  connection.run("BEGIN; CREATE TABLE nobench(id TEXT NOT NULL, json TEXT NOT NULL)");
  const SqlStatement insert =
      connection.prepare("INSERT INTO nobench VALUES (json_extract(?1, '$.id'), stored(?1))");
  for_each_line(input, [&](std::string_view line) {
    bind_text(insert, 1, line);
    connection.step(insert);
    sqlite3_reset(insert.get());
  });
  connection.run("CREATE UNIQUE INDEX nobench_key ON nobench(id); COMMIT");
}

Connection open_indexed(const Fixture& fixture) {
  const std::string path = fixture.new_file_once(fmt::format("nobench{}.sqlite", fixture.json_suffix()));
  const bool is_new = !std::filesystem::exists(path);
  if (is_new) load(nobench_file(fixture), path, fixture.sqlite_json);
  Connection connection(path, fixture.sqlite_json);
  if (is_new) connection.run(kIndexes);
  return connection;
}

NobenchAnswer answer_of(Connection& connection, const SqlStatement& statement, bool gives_items) {
  NobenchAnswer answer;
  while (connection.step(statement)) {
    answer.add_row();
    for (int column = 0; column < sqlite3_column_count(statement.get()); ++column) {
      if (gives_items) {
        must(!text_of(statement, column).empty(), "sqlite: an empty item");
        continue;
      }
      const int type = sqlite3_column_type(statement.get(), column);
      if (type == SQLITE_TEXT) answer.add(text_of(statement, column));
      if (type == SQLITE_INTEGER) answer.add(sqlite3_column_int64(statement.get(), column));
    }
  }
  sqlite3_reset(statement.get());
  return answer;
}

Sample measure_load(const Fixture& fixture) {
  const std::string input = nobench_file(fixture);
  const std::string path = fixture.new_file("nobench-load.sqlite");
  const double seconds = seconds_of([&] { load(input, path, fixture.sqlite_json); });
  return {static_cast<double>(nobench_items(fixture)) / seconds, {}};
}

}  // namespace

Side sqlite_nobench(int number) {
  if (number == kNobenchLoad) return measure_load;
  return [number](const Fixture& fixture) {
    Connection connection = open_indexed(fixture);
    const NobenchQuery& query = nobench_query(number);
    const SqlStatement statement = connection.prepare(nobench_text(fixture, query.sqlite));
    NobenchAnswer answer;
    const double rate = rate_of(1, [&] { answer = answer_of(connection, statement, query.gives_items); });
    return Sample{rate, answer.text()};
  };
}

}  // namespace quire::bench
