// ANALYZE beside others: what a transaction does to a container while its entries are looked at.
#include "engine/maintenance/analyze.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/catalog/catalog.h"
#include "engine/container/container.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

constexpr int kAnalyzed = 3000;  // more than are looked at before it tells how far it is

TEST(AnalyzeTest, WritesNothingToAContainerThatIsDroppedMeanwhile) {
  const auto environment = value_of(Environment::open(Environment::kInMemory));
  const auto definition = value_of(
      ContainerDefinition::from_json(R"({"id":"c","indexes":[{"name":"n","paths":[{"path":"/n"}]}]})"));
  std::shared_ptr<ContainerStore> store;
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(store, ContainerStore::create(*environment, transaction, definition));
    for (int i = 0; i < kAnalyzed; ++i)
      QUIRE_TRY(store->create(transaction, R"({"id":")" + std::to_string(i) + R"(","n":1})"));
    return {};
  })));
  bool is_dropped = false;
  const WorkOptions options{.progress = [&](uint64_t, uint64_t) {
    if (is_dropped) return true;
    is_dropped = true;
    return environment
        ->write([&](WriteTransaction& transaction) { return Catalog(*environment).drop(transaction, "c"); })
        .has_value();
  }};
  EXPECT_TRUE(succeeds(analyze_database(*environment, "c", options)));
  EXPECT_TRUE(is_dropped);
  EXPECT_EQ(value_of(value_of(environment->begin_read()).count(store->indexes().table())), 0U);
}

}  // namespace
}  // namespace quire::engine
