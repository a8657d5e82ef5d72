#include "engine/catalog/container_definition.h"

#include <gtest/gtest.h>

#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

TEST(ContainerDefinition, ReadsCosmosJsonAndKeepsTheRestAsGiven) {
  const auto definition = value_of(ContainerDefinition::from_json(
      R"({"id":"readings","partitionKey":{"paths":["/deviceId"],"kind":"Hash","version":2},"defaultTtl":-1,
          "indexingPolicy":{"includedPaths":[{"path":"/*"}]},"_rid":"x","itemCount":3})"));
  EXPECT_EQ(definition.name, "readings");
  EXPECT_EQ(definition.partition_key_paths, (std::vector<std::vector<std::string>>{{"deviceId"}}));
  EXPECT_EQ(definition.item_limit_bytes, kDefaultItemLimit);
  EXPECT_EQ(
      definition.to_json(),
      R"({"id":"readings","partitionKey":{"paths":["/deviceId"],"kind":"Hash","version":2},"defaultTtl":-1,)"
      R"("indexingPolicy":{"includedPaths":[{"path":"/*"}]}})");
  EXPECT_EQ(value_of(ContainerDefinition::from_json(definition.to_json())), definition);
}

TEST(ContainerDefinition, HasNoneOneOrUpToThreePaths) {
  EXPECT_EQ(value_of(ContainerDefinition::from_json(R"({"id":"c"})")).to_json(), R"({"id":"c"})");
  EXPECT_EQ(
      value_of(ContainerDefinition::make("c", {"/a/b", "/c", "/\"d/e\"/f"})).to_json(),
      R"({"id":"c","partitionKey":{"paths":["/a/b","/c","/\"d/e\"/f"],"kind":"MultiHash","version":2}})");
  EXPECT_TRUE(
      fails_with(ContainerDefinition::make("c", {"/a", "/b", "/c", "/d"}), ErrorCode::invalid_definition));
}

TEST(ContainerDefinition, RefusesWhatCannotBe) {
  EXPECT_TRUE(fails_with(ContainerDefinition::from_json("{"), ErrorCode::invalid_json));
  for (const char* json :
       {"[]", "{}", R"({"id":1})", R"({"id":""})", R"({"id":"a/b"})", R"({"id":"a","partitionKey":"/a"})",
        R"({"id":"a","partitionKey":{"paths":[]}})", R"({"id":"a","partitionKey":{"paths":[1]}})",
        R"({"id":"a","partitionKey":{"paths":["a"]}})", R"({"id":"a","partitionKey":{"paths":["/"]}})",
        R"({"id":"a","partitionKey":{"paths":["/a//b"]}})", R"({"id":"a","partitionKey":{"paths":["/a/*"]}})",
        R"({"id":"a","partitionKey":{"paths":["/\"a"]}})",
        R"({"id":"a","partitionKey":{"paths":["/a","/a"]}})",
        R"({"id":"a","partitionKey":{"paths":["/a"],"kind":"Range"}})",
        R"({"id":"a","partitionKey":{"paths":["/a"],"version":1}})", R"({"id":"a","itemLimit":0})",
        R"({"id":"a","itemLimit":1000000000})", R"({"id":"a","itemLimit":"2"})"})
    EXPECT_TRUE(fails_with(ContainerDefinition::from_json(json), ErrorCode::invalid_definition)) << json;
  EXPECT_TRUE(
      fails_with(ContainerDefinition::make(std::string(256, 'x')), ErrorCode::invalid_definition, "255"));
}

}  // namespace
}  // namespace quire::engine
