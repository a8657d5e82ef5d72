// A join of three containers by equality: 100,000 orders, 100,000 people, 1,000 cities. SQLite holds the ids
// as columns beside the JSON text, without indexes, and makes its automatic ones.
#include <fmt/format.h>

#include <cstring>
#include <iterator>

#include "tests/bench/must.h"
#include "tests/bench/sides.h"
#include "tests/bench/sqlite_connection.h"

namespace quire::bench {
namespace {

constexpr uint64_t kOrders = 100'000;
constexpr uint64_t kPeople = 100'000;
constexpr uint64_t kCityCount = 1'000;
constexpr uint64_t kStep = 7919;  // a prime: neighbours in one container are far apart in the next

template <typename Line>
std::string lines(uint64_t count, Line line) {
  std::string text;
  for (uint64_t i = 0; i < count; ++i) text += line(i) + "\n";
  return text;
}

std::string orders() {
  return lines(kOrders, [](uint64_t i) {
    return fmt::format(R"({{"id":"o{}","personId":"p{}","total":{},"lines":[{{"sku":"s{}","count":{}}}]}})",
                       i, i * kStep % kPeople, i % 500, i % 97, i % 5);
  });
}
std::string people() {
  return lines(kPeople, [](uint64_t i) {
    return fmt::format(R"({{"id":"p{}","name":"Person {}","cityId":"c{}","emails":["p{}@example.org"]}})", i,
                       i, i * kStep % kCityCount, i);
  });
}
std::string cities() {
  return lines(kCityCount, [](uint64_t i) {
    return fmt::format(R"({{"id":"c{}","name":"City {}","size":{}}})", i, i, i % 1000);
  });
}

void import_text(Database& database, const std::string& name, const std::string& text) {
  must(database.create_container(fmt::format(R"({{"id":"{}","partitionKey":{{"paths":["/id"]}}}})", name)));
  Container container = must(database.container(name));
  size_t done = 0;
  must(container.import([&](char* buffer, size_t capacity) {
    const size_t count = std::min(capacity, text.size() - done);
    std::memcpy(buffer, text.data() + done, count);
    done += count;
    return static_cast<int64_t>(count);
  }));
}

void insert_lines(Connection& connection, const std::string& table, std::string_view text) {
  connection.run(fmt::format("BEGIN; CREATE TABLE {}(id TEXT NOT NULL, json TEXT NOT NULL)", table));
  const SqlStatement insert =
      connection.prepare(fmt::format("INSERT INTO {} VALUES (json_extract(?1, '$.id'), stored(?1))", table));
  while (!text.empty()) {
    const size_t end = text.find('\n');
    bind_text(insert, 1, text.substr(0, end));
    connection.step(insert);
    sqlite3_reset(insert.get());
    text.remove_prefix(end + 1);
  }
  connection.run("COMMIT");
}

}  // namespace

Sample quire_join_three(const Fixture&) {
  Database database = must(Database::open(":memory:"));
  import_text(database, "orders", orders());
  import_text(database, "people", people());
  import_text(database, "cities", cities());
  Statement statement =
      must(database.prepare("SELECT VALUE COUNT(1) FROM orders o JOIN people p ON p.id = o.personId "
                            "JOIN cities c ON c.id = p.cityId WHERE c.size >= 500"));
  int64_t count = 0;
  const double rate = rate_of(kOrders, [&] {
    for (const Value row : statement.rows()) count = row.as_integer();
    must(!statement.error(), "quire: a query failed");
  });
  return {rate, std::to_string(count)};
}

Sample sqlite_join_three(const Fixture& fixture) {
  Connection connection(":memory:", fixture.sqlite_json);
  insert_lines(connection, "orders", orders());
  insert_lines(connection, "people", people());
  insert_lines(connection, "cities", cities());
  const SqlStatement statement = connection.prepare(
      "SELECT COUNT(1) FROM orders o JOIN people p ON p.id = o.json->>'$.personId' "
      "JOIN cities c ON c.id = p.json->>'$.cityId' WHERE c.json->>'$.size' >= 500");
  int64_t count = 0;
  const double rate = rate_of(kOrders, [&] {
    must(connection.step(statement), "sqlite: a query failed");
    count = sqlite3_column_int64(statement.get(), 0);
    sqlite3_reset(statement.get());
  });
  return {rate, std::to_string(count)};
}

}  // namespace quire::bench
