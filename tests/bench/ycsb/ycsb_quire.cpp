// Quire's side of YCSB: a container without partition key. Reads are of a snapshot renewed for each; the
// fields are read where they lie.
#include <fmt/format.h>

#include "quire/quire.hpp"
#include "tests/bench/must.h"
#include "tests/bench/ycsb/ycsb.h"

namespace quire::bench {
namespace {

constexpr std::string_view kFile = "ycsb.quire";

uint64_t bytes_of(Value item) {
  uint64_t bytes = 0;
  for (const auto [name, value] : item.members()) bytes += value.as_string().size();
  return bytes;
}

class Client final : public YcsbClient {
 public:
  explicit Client(Database& database)
      : container_(must(database.container("usertable"))),
        snapshot_(must(database.begin_snapshot())),
        scan_(must(
            container_.prepare("SELECT * FROM u WHERE u.id >= @from ORDER BY u.id OFFSET 0 LIMIT @most"))) {
    scan_.omit_system_properties();
  }

  bool read(const std::string& id) override {
    must(snapshot_.renew());
    const Result<Value> item = snapshot_.read(container_, {}, id);
    if (!item && item.error().code == QUIRE_NOT_FOUND) return false;
    return bytes_of(must(item)) > 0;
  }
  void update(const std::string& id, int field, const std::string& value) override {
    must(container_.patch({}, id,
                          fmt::format(R"([{{"op":"set","path":"/field{}","value":"{}"}}])", field, value)));
  }
  void insert(const std::string&, const std::string& json) override { must(container_.create(json)); }
  uint64_t scan(const std::string& from, uint64_t most) override {
    scan_.reset();
    must(scan_.bind("from", from));
    must(scan_.bind("most", most));
    uint64_t count = 0;
    for (const Value item : scan_.rows()) count += bytes_of(item) > 0 ? 1 : 0;
    must(!scan_.error(), "quire: a scan failed");
    return count;
  }

 private:
  Container container_;
  Snapshot snapshot_;
  Statement scan_;
};

class Store final : public YcsbStore {
 public:
  Store(const Fixture& fixture, const YcsbRun& run)
      : database_(open(fixture, run.is_durable ? Durability::full : Durability::relaxed)) {}

  uint64_t count() override { return execute("SELECT VALUE COUNT(1) FROM usertable u"); }
  std::unique_ptr<YcsbClient> connect() override { return std::make_unique<Client>(database_); }

 private:
  static Database open(const Fixture& fixture, Durability durability) {
    const std::string path = fixture.new_file_once(kFile);
    Options options;
    options.durability = durability;
    Database database = must(Database::open(path, options));
    if (must(database.containers()) != "[]") return database;
    must(database.create_container(R"({"id":"usertable"})"));
    const File input = open_file(ycsb_items_file(fixture), "rb");
    must(must(database.container("usertable")).import([&](char* buffer, size_t capacity) {
      return static_cast<int64_t>(std::fread(buffer, 1, capacity, input.get()));
    }));
    return database;
  }
  uint64_t execute(std::string_view sql) {
    Statement statement = must(database_.prepare(sql));
    uint64_t number = 0;
    for (const Value row : statement.rows()) number = static_cast<uint64_t>(row.as_integer());
    must(!statement.error(), "quire: a statement failed");
    return number;
  }
  Database database_;
};

}  // namespace

Side quire_ycsb(YcsbRun run) {
  return [run](const Fixture& fixture) {
    Store store(fixture, run);
    return measure_ycsb(run, store, fixture.uses_of(kFile));
  };
}

}  // namespace quire::bench
