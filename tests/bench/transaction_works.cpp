// Transactions of four items between a begin and a commit, by one thread, into a new file.
#include <optional>

#include "quire/quire.hpp"
#include "tests/bench/index_works.h"
#include "tests/bench/lmdb_environment.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"
#include "tests/bench/sqlite_connection.h"

namespace quire::bench {
namespace {

constexpr uint64_t kItems = 4, kDurable = 1'000, kRelaxed = 20'000;

// Transactions a second. `begin`, `put` with a line, and `commit` make one.
template <typename Begin, typename Put, typename Commit>
Sample transactions(const Fixture& fixture, bool is_durable, Begin begin, Put put, Commit commit) {
  const uint64_t count = is_durable ? kDurable : kRelaxed;
  uint64_t items = 0;
  const double seconds = seconds_of([&] {
    for_lines(fixture.readings.path(), count * kItems, [&](std::string_view line) {
      if (items % kItems == 0) begin();
      put(line);
      if (++items % kItems == 0) commit();
    });
  });
  return {static_cast<double>(items / kItems) / seconds, std::to_string(items)};
}

}  // namespace

Side quire_transactions(bool is_durable) {
  return [is_durable](const Fixture& fixture) {
    Options options;
    options.durability = is_durable ? Durability::full : Durability::relaxed;
    Database database = must(Database::open(fixture.new_file("transactions.quire"), options));
    must(database.create_container(R"({"id":"readings","partitionKey":{"paths":["/deviceId"]}})"));
    Container container = must(database.container("readings"));
    std::optional<Transaction> transaction;
    return transactions(
        fixture, is_durable, [&] { transaction.emplace(must(database.begin_transaction())); },
        [&](std::string_view line) { must(container.create(line, &*transaction)); },
        [&] { must(transaction->commit()); });
  };
}

Side lmdb_transactions(bool is_durable) {
  return [is_durable](const Fixture& fixture) {
    const Environment environment =
        open_environment(fixture.new_file("transactions.lmdb"), is_durable ? 0 : MDB_NOSYNC);
    LmdbTransaction transaction = begin_lmdb(environment.get(), 0);
    const MDB_dbi table = open_table(transaction.get());
    commit_lmdb(std::move(transaction));
    return transactions(
        fixture, is_durable, [&] { transaction = begin_lmdb(environment.get(), 0); },
        [&](std::string_view line) {
          const ReadingKeyView parts = key_of_line(line);
          const std::string text = lmdb_item_key(parts.device_id, parts.id);
          MDB_val key = value_of(text), value = value_of(line);
          lmdb_must(mdb_put(transaction.get(), table, &key, &value, MDB_NOOVERWRITE));
        },
        [&] { commit_lmdb(std::move(transaction)); });
  };
}

Side sqlite_transactions(bool is_durable) {
  return [is_durable](const Fixture& fixture) {
    Connection connection(fixture.new_file("transactions.sqlite"), fixture.sqlite_json);
    connection.run("CREATE TABLE readings (pk TEXT, id TEXT, json TEXT, PRIMARY KEY (pk, id))");
    if (!is_durable) connection.run("PRAGMA synchronous=NORMAL");
    const SqlStatement begin = connection.prepare("BEGIN IMMEDIATE");
    const SqlStatement insert = connection.prepare("INSERT INTO readings VALUES (?, ?, stored(?))");
    const SqlStatement commit = connection.prepare("COMMIT");
    const auto run = [&](const SqlStatement& statement) {
      connection.step(statement);
      sqlite3_reset(statement.get());
    };
    return transactions(
        fixture, is_durable, [&] { run(begin); },
        [&](std::string_view line) {
          const ReadingKeyView key = key_of_line(line);
          bind_text(insert, 1, key.device_id);
          bind_text(insert, 2, key.id);
          bind_text(insert, 3, line);
          run(insert);
        },
        [&] { run(commit); });
  };
}

}  // namespace quire::bench
