// Durable commits of one item each, by one thread and by sixteen: what a device that reports, or a web
// server's request, costs. Each side writes the same readings to a new file; a commit is acknowledged once it
// is on the disk.
#include <fmt/format.h>
#include <lmdb.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "quire/quire.hpp"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"
#include "tests/bench/sqlite_connection.h"

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

std::string new_file(const Fixture& fixture, std::string_view name) {
  std::string path = fmt::format("{}/{}", fixture.folder, name);
  for (const char* suffix : {"", "-lock", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  return path;
}

// Commits a second of `threads` threads that share the lines; `make_writer` gives each thread what commits a
// line, a callable.
template <typename MakeWriter>
double commit_rate(const std::vector<std::string>& lines, size_t threads, const MakeWriter& make_writer) {
  std::atomic<size_t> next = 0;
  std::atomic<size_t> ready = 0;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    bool is_counted = false;
    try {
      auto commit = make_writer();
      ++ready;
      is_counted = true;
      while (ready < threads) std::this_thread::yield();
      for (size_t line; (line = next++) < lines.size();) commit(lines[line]);
    } catch (...) {
      if (!is_counted) ++ready;
      const std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
    }
  };
  const double seconds = seconds_of([&] {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  });
  if (failure) std::rethrow_exception(failure);
  return static_cast<double>(lines.size()) / seconds;
}

// ---- Quire

Sample quire_commits(const Fixture& fixture, size_t commits, size_t threads) {
  const auto lines = first_lines(fixture.readings.path(), commits);
  const std::string path = new_file(fixture, "commits.quire");
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

void lmdb_must(int code) {
  must(code == MDB_SUCCESS, std::string("lmdb: ") + mdb_strerror(code));
}

struct CloseEnvironment {
  void operator()(MDB_env* environment) const noexcept { mdb_env_close(environment); }
};

void lmdb_commit(MDB_env* environment, MDB_dbi table, const std::string& line) {
  const ReadingKeyView key_parts = key_of_line(line);
  std::string key_text = fmt::format("{}/{}", key_parts.device_id, key_parts.id);
  MDB_txn* transaction = nullptr;
  lmdb_must(mdb_txn_begin(environment, nullptr, 0, &transaction));
  MDB_val key{key_text.size(), key_text.data()};
  MDB_val value{line.size(), const_cast<char*>(line.data())};
  lmdb_must(mdb_put(transaction, table, &key, &value, MDB_NOOVERWRITE));
  lmdb_must(mdb_txn_commit(transaction));
}

Sample lmdb_commits(const Fixture& fixture, size_t commits, size_t threads) {
  const auto lines = first_lines(fixture.readings.path(), commits);
  const std::string path = new_file(fixture, "commits.lmdb");
  MDB_env* handle = nullptr;
  lmdb_must(mdb_env_create(&handle));
  const std::unique_ptr<MDB_env, CloseEnvironment> environment(handle);
  lmdb_must(mdb_env_set_mapsize(handle, size_t{1} << 34));
  lmdb_must(mdb_env_open(handle, path.c_str(), MDB_NOSUBDIR, 0644));
  MDB_txn* transaction = nullptr;
  MDB_dbi table = 0;
  lmdb_must(mdb_txn_begin(handle, nullptr, 0, &transaction));
  lmdb_must(mdb_dbi_open(transaction, nullptr, 0, &table));
  lmdb_must(mdb_txn_commit(transaction));
  const double rate = commit_rate(
      lines, threads, [&] { return [&](const std::string& line) { lmdb_commit(handle, table, line); }; });
  MDB_stat statistics;
  lmdb_must(mdb_env_stat(handle, &statistics));
  return {rate, std::to_string(statistics.ms_entries)};
}

// ---- SQLite

Sample sqlite_commits(const Fixture& fixture, size_t commits, size_t threads) {
  const auto lines = first_lines(fixture.readings.path(), commits);
  const std::string path = new_file(fixture, "commits.sqlite");
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
