#include "engine/index/index_json.h"

#include <gtest/gtest.h>

#include <string>

namespace quire::engine {
namespace {

std::string of_parts(size_t count) {
  std::string json = R"({"name":"i","parts":[)";
  for (size_t i = 0; i < count; ++i) json += i == 0 ? R"({"path":["a"]})" : R"(,{"path":["a"]})";
  return json + R"(],"holds":"defined"})";
}

TEST(IndexJsonTest, AnIndexOfMorePartsThanThereCanBeIsDamaged) {
  ASSERT_TRUE(index_from_json(of_parts(PartOrders::kMost)));
  EXPECT_EQ(index_from_json(of_parts(PartOrders::kMost))->parts.size(), PartOrders::kMost);
  for (const size_t count : {size_t{0}, PartOrders::kMost + 1, size_t{300}}) {
    const auto read = index_from_json(of_parts(count));
    ASSERT_FALSE(read) << count;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  }
}

}  // namespace
}  // namespace quire::engine
