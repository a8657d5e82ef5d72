// Any text as the body of a stored procedure, over items of a partition: it ends within its limits, with a
// response or an error that says why; what failed has changed nothing, and the next procedure finds the world
// as it should be.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "quire/quire.hpp"

namespace {

using namespace quire;

using fuzz::require;

void run(Database& database, const std::string& sql) {
  auto statement = database.prepare(sql);
  require(statement.has_value());
  while (statement->step().value()) {
  }
}

std::string items_of(Database& database) {
  auto statement = database.prepare("SELECT VALUE ARRAY_CONCAT([c.id], [c.n]) FROM c ORDER BY c.id");
  require(statement.has_value());
  std::string all;
  while (statement->step().value()) all += statement->row_json().value();
  return all;
}

Database open() {
  auto database = Database::open(":memory:");
  require(database.has_value());
  run(*database, "PRAGMA script_memory = 16777216");
  run(*database, "PRAGMA script_operations = 200");
  return std::move(*database);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Database database = open();
  require(database.create_container(R"({"id":"c","partitionKey":{"paths":["/p"]}})").has_value());
  {
    Container items = database.container("c").value();
    for (const char* item :
         {R"({"id":"a","p":1,"n":1})", R"({"id":"b","p":1,"n":2})", R"({"id":"c","p":2,"n":3})"})
      require(items.create(item).has_value());
    const std::string before = items_of(database);
    const std::string body =
        "function (x) { " + std::string(reinterpret_cast<const char*>(data), size) + "\n}";
    run(database, "PRAGMA script_time = 200");
    if (items.create_script(ScriptKind::procedure, "p", body)) {
      const auto done = items.execute("p", 1, "[1]");
      if (!done) require(!done.error().message.empty() && items_of(database) == before);
      require(items.read_json(2, "c", false).value() == R"({"id":"c","p":2,"n":3})");
    }
    // As long as the machine may need that has much else to do.
    run(database, "PRAGMA script_time = 60000");
    require(items
                .create_script(ScriptKind::procedure, "next",
                               "function () { __.response.setBody([1, 2].map((x) => x + 1).concat(typeof "
                               "Array.prototype.found)); }")
                .has_value());
    require(items.execute("next", 1).value().body == R"([2,3,"undefined"])");
  }
  const auto faults = database.check("c");
  require(faults && *faults == "[]");
  require(database.drop_container("c").has_value());
  return 0;
}
