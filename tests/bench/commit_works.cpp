// Durable commits of one item each, by one thread and by sixteen: what a device that reports, or a web
// server's request, costs. Each side writes the same readings to a new file; a commit is acknowledged once it
// is on the disk.
#include <fmt/format.h>

#include <atomic>
#include <cstring>

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
  Connection connection(path);
  connection.run("CREATE TABLE readings (pk TEXT, id TEXT, json TEXT, PRIMARY KEY (pk, id))");
  const double rate = commit_rate(lines, threads, [&] {
    auto own = std::make_shared<Connection>(path);
    own->run("PRAGMA busy_timeout=60000");
    auto insert = std::make_shared<SqlStatement>(own->prepare("INSERT INTO readings VALUES (?, ?, ?)"));
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

}  // namespace

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
