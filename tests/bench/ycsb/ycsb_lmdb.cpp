// LMDB's side of YCSB, the floor: the JSON text under its id. An update puts a field's new text in the place
// of the old one, which is as long, so that nothing is parsed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tests/bench/lines.h"
#include "tests/bench/lmdb_environment.h"
#include "tests/bench/must.h"
#include "tests/bench/ycsb/ycsb.h"

namespace quire::bench {
namespace {

constexpr std::string_view kFile = "ycsb.lmdb";

class Client final : public YcsbClient {
 public:
  Client(MDB_env* environment, MDB_dbi table)
      : environment_(environment), table_(table), snapshot_(begin_lmdb(environment, MDB_RDONLY)) {}

  bool read(const std::string& id) override {
    renew();
    MDB_val key = value_of(id), value;
    const int code = mdb_get(snapshot_.get(), table_, &key, &value);
    if (code == MDB_NOTFOUND) return false;
    lmdb_must(code);
    return view_of(value).front() == '{';
  }
  void update(const std::string& id, int field, const std::string& text) override {
    LmdbTransaction transaction = begin_lmdb(environment_, 0);
    MDB_val key = value_of(id), value;
    lmdb_must(mdb_get(transaction.get(), table_, &key, &value));
    item_ = view_of(value);
    const std::string name = fmt::format(R"("field{}":")", field);
    item_.replace(item_.find(name) + name.size(), text.size(), text);
    value = value_of(item_);
    lmdb_must(mdb_put(transaction.get(), table_, &key, &value, 0));
    commit_lmdb(std::move(transaction));
  }
  void insert(const std::string& id, const std::string& json) override {
    LmdbTransaction transaction = begin_lmdb(environment_, 0);
    MDB_val key = value_of(id), value = value_of(json);
    lmdb_must(mdb_put(transaction.get(), table_, &key, &value, MDB_NOOVERWRITE));
    commit_lmdb(std::move(transaction));
  }
  uint64_t scan(const std::string& from, uint64_t most) override {
    renew();
    const Cursor cursor = open_cursor(snapshot_.get(), table_);
    MDB_val key = value_of(from), value;
    uint64_t count = 0;
    for (MDB_cursor_op step = MDB_SET_RANGE; count < most; step = MDB_NEXT) {
      if (mdb_cursor_get(cursor.get(), &key, &value, step) != MDB_SUCCESS) break;
      count += view_of(value).front() == '{' ? 1 : 0;
    }
    return count;
  }

 private:
  void renew() {
    mdb_txn_reset(snapshot_.get());
    lmdb_must(mdb_txn_renew(snapshot_.get()));
  }
  MDB_env* environment_;
  MDB_dbi table_;
  LmdbTransaction snapshot_;
  std::string item_;
};

class Store final : public YcsbStore {
 public:
  Store(const Fixture& fixture, const YcsbRun& run)
      : environment_(open_environment(fixture.new_file_once(kFile),
                                      MDB_NOTLS | (run.is_durable ? 0U : unsigned{MDB_NOMETASYNC}))) {
    LmdbTransaction transaction = begin_lmdb(environment_.get(), 0);
    table_ = open_table(transaction.get());
    commit_lmdb(std::move(transaction));
    if (count() == 0) load(fixture);
  }
  uint64_t count() override {
    MDB_stat statistics;
    lmdb_must(mdb_env_stat(environment_.get(), &statistics));
    return statistics.ms_entries;
  }
  std::unique_ptr<YcsbClient> connect() override {
    return std::make_unique<Client>(environment_.get(), table_);
  }

 private:
  void load(const Fixture& fixture) {
    std::vector<std::pair<std::string, std::string>> items;
    for_each_line(ycsb_items_file(fixture),
                  [&](std::string_view line) { items.emplace_back(key_of_line(line).id, line); });
    std::ranges::sort(items);
    LmdbTransaction transaction = begin_lmdb(environment_.get(), 0);
    for (const auto& [id, json] : items) {
      MDB_val key = value_of(id), value = value_of(json);
      lmdb_must(mdb_put(transaction.get(), table_, &key, &value, MDB_APPEND));
    }
    commit_lmdb(std::move(transaction));
  }
  Environment environment_;
  MDB_dbi table_ = 0;
};

}  // namespace

Side lmdb_ycsb(YcsbRun run) {
  return [run](const Fixture& fixture) {
    Store store(fixture, run);
    return measure_ycsb(run, store, fixture.uses_of(kFile));
  };
}

}  // namespace quire::bench
