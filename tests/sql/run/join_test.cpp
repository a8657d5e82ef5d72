// What a join keeps between the rows of a query around it.
#include <gtest/gtest.h>

#include <string>

#include "sql/run/execution.h"
#include "sql/value/json.h"
#include "tests/sql/run/memory_source.h"

namespace quire::sql {
namespace {

// EXISTS stops within the partners of the first item, which fill more than its batch; the second has none.
TEST(Join, ALeftJoinThatWasLeftHalfwayStartsAnew) {
  constexpr int kPartners = 100;
  MemorySource source;
  MemoryCollection& items = source.make("c");
  ASSERT_TRUE(items.add(R"({"id":"a","list":[1]})"));
  ASSERT_TRUE(items.add(R"({"id":"b","list":[2]})"));
  MemoryCollection& partners = source.make("d");
  for (int i = 0; i < kPartners; ++i) ASSERT_TRUE(partners.add(R"({"k":1})"));
  const auto query = prepare_query(
      "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM x IN c.list LEFT JOIN d ON d.k = x)", source, {});
  ASSERT_TRUE(query) << query.error().message;
  const auto execution = Execution::start(**query, source, {});
  ASSERT_TRUE(execution);
  std::string rows;
  for (auto row = (*execution)->next(); row && *row; row = (*execution)->next()) write_json(**row, rows);
  EXPECT_EQ(rows, R"("a""b")");
}

}  // namespace
}  // namespace quire::sql
