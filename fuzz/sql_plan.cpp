// Any text to the planner, over two containers of which one has indexes: a statement is refused, or has a
// plan that EXPLAIN can tell. What has one in strict mode has one in the other.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/require.h"
#include "quire/quire.hpp"

namespace {

using quire::fuzz::require;

constexpr std::string_view kDefinitions[] = {
    R"({"id":"c","partitionKey":{"paths":["/k"]},"indexingPolicy":{"includedPaths":[{"path":"/*"}],)"
    R"("compositeIndexes":[[{"path":"/n"},{"path":"/s","order":"descending"}]]}})",
    R"({"id":"d"})",
};
constexpr std::string_view kItem =
    R"({"id":"1","k":"a","n":1,"s":"x","list":[1,"y",{"x":2}],"o":{"x":1,"y":[]}})";

quire::Database make_database(bool strict) {
  quire::Options options;
  options.strict = strict;
  auto database = quire::Database::open(":memory:", options);
  require(database.has_value());
  for (const std::string_view definition : kDefinitions)
    require(database->create_container(definition).has_value());
  for (const char* name : {"c", "d"}) require(database->container(name)->create(kItem).has_value());
  return std::move(*database);
}

bool has_plan(const quire::Database& database, std::string_view text) {
  const auto statement = database.prepare(text);
  require(statement.has_value() || !statement.error().message.empty());
  return statement.has_value();
}

// Of a query or change alone: EXPLAIN is no statement for the others.
void plan_is_told(const quire::Database& database, std::string_view text) {
  auto explained = database.prepare("EXPLAIN (JSON) " + std::string(text));
  if (explained) require(explained->step().has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const quire::Database lenient = make_database(false), strict = make_database(true);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool is_taken = has_plan(lenient, text);
  require(is_taken || !has_plan(strict, text));
  if (is_taken) plan_is_told(lenient, text);
  return 0;
}
