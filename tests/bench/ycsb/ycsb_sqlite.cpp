// SQLite's side of YCSB: a connection for each thread, prepared statements; reads give the JSON text as it is
// stored.
#include <fmt/format.h>

#include "tests/bench/lines.h"
#include "tests/bench/must.h"
#include "tests/bench/sqlite_connection.h"
#include "tests/bench/ycsb/ycsb.h"

namespace quire::bench {
namespace {

std::string file_of(const Fixture& fixture) {
  return fmt::format("ycsb{}.sqlite", fixture.json_suffix());
}

class Client final : public YcsbClient {
 public:
  Client(const std::string& path, SqliteJson json, bool is_durable) : connection_(path, json) {
    connection_.run("PRAGMA busy_timeout=60000");
    if (!is_durable) connection_.run("PRAGMA synchronous=NORMAL");
    read_ = connection_.prepare("SELECT shown(json) FROM usertable WHERE id = ?1");
    update_ = connection_.prepare("UPDATE usertable SET json = json_set(json, ?2, ?3) WHERE id = ?1");
    insert_ = connection_.prepare("INSERT INTO usertable VALUES (?1, stored(?2))");
    scan_ = connection_.prepare("SELECT shown(json) FROM usertable WHERE id >= ?1 ORDER BY id LIMIT ?2");
  }
  bool read(const std::string& id) override {
    bind_text(read_, 1, id);
    const bool is_there = connection_.step(read_) && !text_of(read_, 0).empty();
    sqlite3_reset(read_.get());
    return is_there;
  }
  void update(const std::string& id, int field, const std::string& value) override {
    const std::string path = fmt::format("$.field{}", field);
    bind_text(update_, 1, id);
    bind_text(update_, 2, path);
    bind_text(update_, 3, value);
    run(update_);
  }
  void insert(const std::string& id, const std::string& json) override {
    bind_text(insert_, 1, id);
    bind_text(insert_, 2, json);
    run(insert_);
  }
  uint64_t scan(const std::string& from, uint64_t most) override {
    bind_text(scan_, 1, from);
    sqlite3_bind_int64(scan_.get(), 2, static_cast<int64_t>(most));
    uint64_t count = 0;
    while (connection_.step(scan_)) count += text_of(scan_, 0).empty() ? 0 : 1;
    sqlite3_reset(scan_.get());
    return count;
  }

 private:
  void run(const SqlStatement& statement) {
    connection_.step(statement);
    sqlite3_reset(statement.get());
  }
  Connection connection_;
  SqlStatement read_, update_, insert_, scan_;
};

class Store final : public YcsbStore {
 public:
  Store(const Fixture& fixture, const YcsbRun& run)
      : path_(fixture.new_file_once(file_of(fixture))),
        is_durable_(run.is_durable),
        json_(fixture.sqlite_json),
        connection_(path_, json_) {
    connection_.run("CREATE TABLE IF NOT EXISTS usertable(id TEXT PRIMARY KEY, json TEXT NOT NULL)");
    if (count() == 0) load(fixture);
  }
  uint64_t count() override {
    const SqlStatement statement = connection_.prepare("SELECT COUNT(*) FROM usertable");
    must(connection_.step(statement), "sqlite: no count");
    return static_cast<uint64_t>(sqlite3_column_int64(statement.get(), 0));
  }
  std::unique_ptr<YcsbClient> connect() override {
    return std::make_unique<Client>(path_, json_, is_durable_);
  }

 private:
  void load(const Fixture& fixture) {
    connection_.run("BEGIN");
    const SqlStatement insert = connection_.prepare("INSERT INTO usertable VALUES (?1, stored(?2))");
    for_each_line(ycsb_items_file(fixture), [&](std::string_view line) {
      bind_text(insert, 1, key_of_line(line).id);
      bind_text(insert, 2, line);
      connection_.step(insert);
      sqlite3_reset(insert.get());
    });
    connection_.run("COMMIT");
  }
  std::string path_;
  bool is_durable_;
  SqliteJson json_;
  Connection connection_;
};

}  // namespace

Side sqlite_ycsb(YcsbRun run) {
  return [run](const Fixture& fixture) {
    Store store(fixture, run);
    return measure_ycsb(run, store, fixture.uses_of(file_of(fixture)));
  };
}

}  // namespace quire::bench
