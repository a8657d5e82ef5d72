// Statements that would cost more than their length: refused, not slow.
#include <gtest/gtest.h>

#include <string>

#include "sql/run/execution.h"
#include "tests/sql/run/memory_source.h"

namespace quire::sql {
namespace {

ErrorCode outcome(const std::string& text) {
  MemorySource source;
  source.make("c");
  const auto prepared = prepare_query(text, source, {});
  return prepared ? ErrorCode::ok : prepared.error().code;
}

std::string repeated(size_t count, const std::string& part) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(Limits, SourcesOfOneFrom) {
  std::string joins;
  for (size_t i = 1; i < kMostSources; ++i) joins += " JOIN j" + std::to_string(i) + " IN c.x";
  EXPECT_EQ(outcome("SELECT VALUE 1 FROM c" + joins), ErrorCode::ok);
  EXPECT_EQ(outcome("SELECT VALUE 1 FROM c" + joins + " JOIN c more ON more.x = c.x"),
            ErrorCode::limit_exceeded);
}

TEST(Limits, QueriesOfOneStatement) {
  const std::string some = "SELECT VALUE [0" + repeated(kMostQueries - 1, ", EXISTS(SELECT 1)");
  EXPECT_EQ(outcome(some + "]"), ErrorCode::ok);
  EXPECT_EQ(outcome(some + ", EXISTS(SELECT 1)]"), ErrorCode::limit_exceeded);
  EXPECT_EQ(outcome("SELECT 1" + repeated(kMostQueries, " UNION ALL SELECT 1")), ErrorCode::limit_exceeded);
}

TEST(Limits, ManyConditionsOverManySources) {
  std::string text = "SELECT VALUE 1 FROM c";
  for (size_t i = 1; i < kMostSources; ++i) text += " JOIN c j" + std::to_string(i) + " ON j1.x = c.x";
  text += " WHERE true" + repeated(10'000, " AND j1.x = c.x");
  EXPECT_EQ(outcome(text), ErrorCode::ok);
}

}  // namespace
}  // namespace quire::sql
