// Durable commits of one item each, by one thread and by sixteen: what a device that reports, or a web
// server's request, costs. Each side writes the same readings to a new file; a commit is acknowledged once it
// is on the disk.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>

#include "quire/quire.hpp"
#include "tests/bench/lmdb_environment.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"
#include "tests/bench/sqlite_connection.h"
#include "tests/bench/threads.h"

namespace quire::bench {
namespace {

constexpr size_t kThreads = 16;
constexpr size_t kCommitsOfOne = 1'500;
constexpr size_t kReplaced = 500;
constexpr size_t kCommitsOfMany = 6'000;  // of all threads together

std::vector<std::string> first_lines(const std::string& path, size_t most) {
  const File file = open_file(path, "rb");
  std::vector<std::string> lines;
  char line[4096];
  while (lines.size() < most && std::fgets(line, sizeof line, file.get()) != nullptr)
    lines.emplace_back(line, std::strlen(line) - 1);
  return lines;
}

// Commits a second of `threads` threads that share the lines; `make_writer` gives each thread what commits a
// line, a callable.
template <typename MakeWriter>
double commit_rate(const std::vector<std::string>& lines, size_t threads, const MakeWriter& make_writer) {
  std::atomic<size_t> next = 0;
  const double seconds = seconds_of_threads(threads, [&](size_t) {
    return [&, commit = make_writer()] {
      for (size_t line; (line = next++) < lines.size();) commit(lines[line]);
    };
  });
  return static_cast<double>(lines.size()) / seconds;
}

// ---- Quire

Sample quire_commits(const Fixture& fixture, size_t commits, size_t threads) {
  const auto lines = first_lines(fixture.readings.path(), commits);
  const std::string path = fixture.new_file("commits.quire");
  Database database = must(Database::open(path));
  must(database.create_container(R"({"id":"readings","partitionKey":{"paths":["/deviceId"]}})"));
  Container container = must(database.container("readings"));
  const double rate = commit_rate(
      lines, threads, [&] { return [&](const std::string& line) { must(container.create(line)); }; });
  Statement count = must(container.prepare("SELECT VALUE COUNT(1) FROM c"));
  std::string answer;
  for (const Value row : count.rows()) answer = std::to_string(row.as_integer());
  return {rate, answer};
}

// ---- LMDB

void lmdb_commit(MDB_env* environment, MDB_dbi table, const std::string& line) {
  const ReadingKeyView key_parts = key_of_line(line);
  std::string key_text = fmt::format("{}/{}", key_parts.device_id, key_parts.id);
  LmdbTransaction transaction = begin_lmdb(environment, 0);
  MDB_val key = value_of(key_text), value = value_of(line);
  lmdb_must(mdb_put(transaction.get(), table, &key, &value, MDB_NOOVERWRITE));
  commit_lmdb(std::move(transaction));
}

Sample lmdb_commits(const Fixture& fixture, size_t commits, size_t threads) {
  const auto lines = first_lines(fixture.readings.path(), commits);
  const std::string path = fixture.new_file("commits.lmdb");
  const Environment environment = open_environment(path, 0);
  LmdbTransaction transaction = begin_lmdb(environment.get(), 0);
  const MDB_dbi table = open_table(transaction.get());
  commit_lmdb(std::move(transaction));
  const double rate = commit_rate(lines, threads, [&] {
    return [&](const std::string& line) { lmdb_commit(environment.get(), table, line); };
  });
  MDB_stat statistics;
  lmdb_must(mdb_env_stat(environment.get(), &statistics));
  return {rate, std::to_string(statistics.ms_entries)};
}

// ---- SQLite

Sample sqlite_commits(const Fixture& fixture, size_t commits, size_t threads) {
  const auto lines = first_lines(fixture.readings.path(), commits);
  const std::string path = fixture.new_file("commits.sqlite");
  Connection connection(path, fixture.sqlite_json);
  connection.run("CREATE TABLE readings (pk TEXT, id TEXT, json TEXT, PRIMARY KEY (pk, id))");
  const double rate = commit_rate(lines, threads, [&] {
    auto own = std::make_shared<Connection>(path, fixture.sqlite_json);
    own->run("PRAGMA busy_timeout=60000");
    auto insert =
        std::make_shared<SqlStatement>(own->prepare("INSERT INTO readings VALUES (?, ?, stored(?))"));
    return [own, insert](const std::string& line) {
      const ReadingKeyView key = key_of_line(line);
      bind_text(*insert, 1, key.device_id);
      bind_text(*insert, 2, key.id);
      bind_text(*insert, 3, line);
      own->step(*insert);
      sqlite3_reset(insert->get());
    };
  });
  const SqlStatement count = connection.prepare("SELECT COUNT(*) FROM readings");
  must(connection.step(count), "sqlite: no count");
  return {rate, std::string(text_of(count, 0))};
}

// ---- Into the imported file: items drawn at random are replaced by what they are, but for a letter

std::span<const ReadingKey> replaced(const Fixture& fixture) {
  return std::span(fixture.probes).first(std::min(fixture.probes.size(), kReplaced));
}

// One letter is another one each time: SQLite does not write a row that stays as it is.
void change_letter(std::string& item) {
  constexpr std::string_view kUnit = R"("unit":")";
  const size_t at = item.find(kUnit);
  must(at != std::string::npos, "an item without a unit");
  char& letter = item[at + kUnit.size()];
  letter = letter == 'F' ? 'f' : 'F';
}

// Commits a second of one thread: `text_of_item` gives the JSON of a key, before the clock starts, and
// `commit` replaces the item.
template <typename TextOfItem, typename Commit>
double replace_rate(const Fixture& fixture, TextOfItem text_of_item, Commit commit) {
  std::vector<std::string> items;
  for (const ReadingKey& key : replaced(fixture)) change_letter(items.emplace_back(text_of_item(key)));
  const double seconds = seconds_of([&] {
    for (size_t i = 0; i < items.size(); ++i) commit(fixture.probes[i], items[i]);
  });
  return static_cast<double>(items.size()) / seconds;
}

}  // namespace

Sample quire_commit_imported(const Fixture& fixture) {
  Database database = must(Database::open(fixture.quire_file()));
  Container container = must(database.container("readings"));
  const double rate = replace_rate(
      fixture, [&](const ReadingKey& key) { return must(container.read_json(key.device_id, key.id, false)); },
      [&](const ReadingKey&, const std::string& item) { must(container.replace(item)); });
  return {rate, {}};
}

Sample lmdb_commit_imported(const Fixture& fixture) {
  const Environment environment = open_environment(fixture.lmdb_file(), 0);
  LmdbTransaction first = begin_lmdb(environment.get(), 0);
  const MDB_dbi table = open_table(first.get());
  commit_lmdb(std::move(first));
  const auto item_of = [&](const ReadingKey& reading) {
    const LmdbTransaction snapshot = begin_lmdb(environment.get(), MDB_RDONLY);
    const std::string text = lmdb_item_key(reading.device_id, reading.id);
    MDB_val key = value_of(text), value;
    lmdb_must(mdb_get(snapshot.get(), table, &key, &value));
    return std::string(view_of(value));
  };
  const double rate = replace_rate(fixture, item_of, [&](const ReadingKey& reading, const std::string& item) {
    const std::string text = lmdb_item_key(reading.device_id, reading.id);
    LmdbTransaction transaction = begin_lmdb(environment.get(), 0);
    MDB_val key = value_of(text), value = value_of(item);
    lmdb_must(mdb_put(transaction.get(), table, &key, &value, 0));
    commit_lmdb(std::move(transaction));
  });
  return {rate, {}};
}

Sample sqlite_commit_imported(const Fixture& fixture) {
  Connection connection(fixture.sqlite_file(fixture.forced_layout.value_or(SqliteLayout::rowid)),
                        fixture.sqlite_json);
  const SqlStatement read = connection.prepare("SELECT shown(json) FROM readings WHERE pk = ?1 AND id = ?2");
  const SqlStatement write =
      connection.prepare("UPDATE readings SET json = stored(?3) WHERE pk = ?1 AND id = ?2");
  const auto bind_key = [](const SqlStatement& statement, const ReadingKey& key) {
    bind_text(statement, 1, key.device_id);
    bind_text(statement, 2, key.id);
  };
  const auto item_of = [&](const ReadingKey& key) {
    bind_key(read, key);
    must(connection.step(read), "sqlite: no item");
    std::string item(text_of(read, 0));
    sqlite3_reset(read.get());
    return item;
  };
  const double rate = replace_rate(fixture, item_of, [&](const ReadingKey& key, const std::string& item) {
    bind_key(write, key);
    bind_text(write, 3, item);
    connection.step(write);
    sqlite3_reset(write.get());
  });
  return {rate, {}};
}

Sample quire_commit_1(const Fixture& fixture) {
  return quire_commits(fixture, kCommitsOfOne, 1);
}
Sample lmdb_commit_1(const Fixture& fixture) {
  return lmdb_commits(fixture, kCommitsOfOne, 1);
}
Sample sqlite_commit_1(const Fixture& fixture) {
  return sqlite_commits(fixture, kCommitsOfOne, 1);
}
Sample quire_commit_16(const Fixture& fixture) {
  return quire_commits(fixture, kCommitsOfMany, kThreads);
}
Sample lmdb_commit_16(const Fixture& fixture) {
  return lmdb_commits(fixture, kCommitsOfMany, kThreads);
}
Sample sqlite_commit_16(const Fixture& fixture) {
  return sqlite_commits(fixture, kCommitsOfMany, kThreads);
}

}  // namespace quire::bench
