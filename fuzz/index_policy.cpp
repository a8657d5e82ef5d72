// Any JSON as the parts of a container's definition that say what is indexed: it is refused, or the container
// can be made, takes items, and CHECK finds its entries to be those that the items ask for.
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/index/indexing_policy.h"
#include "fuzz/require.h"
#include "quire/quire.hpp"

namespace {

using quire::fuzz::require;

constexpr std::string_view kItems[] = {
    R"({"id":"1","a":1,"b":{"c":["x",2,{"d":null}]},"tags":["t","u"],"s":"text"})",
    R"({"id":"2","a":"1","b":[],"tags":"t","s":"another"})",
    R"({"id":"3","a":{"b":{"c":{"d":1.5}}},"loc":{"type":"Point","coordinates":[1,2]}})",
};

// Names that are written can be read, and say the same.
void named_indexes_round_trip(std::string_view json) {
  const auto indexes = quire::engine::named_indexes_from_json(json);
  if (!indexes) return;
  const std::string text = quire::engine::named_indexes_to_json(*indexes);
  const auto again = quire::engine::named_indexes_from_json(text);
  require(again && quire::engine::named_indexes_to_json(*again) == text);
}

void container_keeps_its_indexes(quire::Database& database, std::string_view member, std::string_view json) {
  const std::string definition = R"({"id":"c",")" + std::string(member) + R"(":)" + std::string(json) + "}";
  if (!database.create_container(definition)) return;
  {
    auto container = database.container("c");
    require(container.has_value());
    for (const std::string_view item : kItems) static_cast<void>(container->upsert(item));
    static_cast<void>(container->upsert(kItems[0]));
  }
  const auto faults = database.check("c");
  require(faults && *faults == "[]");
  require(database.drop_container("c").has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto database = quire::Database::open(":memory:");
  require(database.has_value());
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  static_cast<void>(quire::engine::IndexingPolicy::from_json(json));
  static_cast<void>(quire::engine::unique_keys_from_json(json));
  named_indexes_round_trip(json);
  for (const std::string_view member : {"indexingPolicy", "uniqueKeyPolicy", "indexes"})
    container_keeps_its_indexes(*database, member, json);
  return 0;
}
