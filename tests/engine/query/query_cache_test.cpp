// Queries that are kept: which, and for how long.
#include "engine/query/query_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/query/open_containers.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class QueryCacheTest : public testing::Test {
 protected:
  using Query = std::shared_ptr<const sql::PreparedQuery>;

  Query ask(std::string_view sql, const std::shared_ptr<ContainerStore>& container,
            bool is_positioned = false) {
    const auto query = try_to_ask(sql, container, is_positioned);
    EXPECT_TRUE(query) << query.error().message;
    return query ? *query : nullptr;
  }
  Result<Query> try_to_ask(std::string_view sql, const std::shared_ptr<ContainerStore>& container,
                           bool is_positioned = false) {
    const uint64_t openings = containers_.openings();
    Query query;
    const auto asked = environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      SnapshotSource source(containers_, container, openings, transaction);
      QUIRE_ASSIGN(query,
                   cache_.prepare({.sql = sql, .scope = container.get(), .is_positioned = is_positioned},
                                  source, source));
      return {};
    });
    return asked ? Result<Query>(query) : std::unexpected(asked.error());
  }
  std::shared_ptr<ContainerStore> make(std::string_view name) {
    return value_of(containers_.create(value_of(ContainerDefinition::make(name, {"/k"}))));
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  OpenContainers containers_{*environment_};
  std::shared_ptr<ContainerStore> container_ = make("items");
  QueryCache cache_;
};

constexpr std::string_view kQuery = "SELECT VALUE c.n FROM c WHERE c.n > @least";

TEST_F(QueryCacheTest, ATextThatComesAgainIsPreparedOnceMoreAndKept) {
  const Query first = ask(kQuery, container_), second = ask(kQuery, container_);
  EXPECT_NE(first, second);
  EXPECT_EQ(ask(kQuery, container_), second);
  EXPECT_EQ(ask(kQuery, container_), second);
  EXPECT_EQ(second->parameter_names(), std::vector<std::string>{"least"});
}

TEST_F(QueryCacheTest, EachContainerAndWayOfReadingHasItsOwn) {
  const auto other = make("others");
  for (int i = 0; i < 2; ++i) ask(kQuery, container_), ask(kQuery, other), ask(kQuery, container_, true);
  const Query here = ask(kQuery, container_), there = ask(kQuery, other),
              positioned = ask(kQuery, container_, true);
  EXPECT_NE(here, there);
  EXPECT_NE(here, positioned);
  EXPECT_EQ(ask(kQuery, container_), here);
  EXPECT_EQ(ask(kQuery, other), there);
  EXPECT_EQ(ask(kQuery, container_, true), positioned);
}

TEST_F(QueryCacheTest, AContainerThatIsNotWhatItWasHasNoneLeft) {
  ask(kQuery, container_);
  const Query before = ask(kQuery, container_);
  ASSERT_EQ(ask(kQuery, container_), before);
  ASSERT_TRUE(succeeds(containers_.alter("items", [](ContainerDefinition& definition) -> Result<void> {
    definition.other_properties.emplace_back("defaultTtl", "100");
    return {};
  })));
  const auto altered = value_of(containers_.open("items"));
  const Query after = ask(kQuery, altered);
  EXPECT_NE(after, before);
  EXPECT_EQ(ask(kQuery, altered), after);

  ASSERT_TRUE(succeeds(containers_.drop("items")));
  const auto anew = make("items");
  ask(kQuery, anew);
  const Query of_new = ask(kQuery, anew);
  EXPECT_NE(of_new, after);
  EXPECT_EQ(ask(kQuery, anew), of_new);
}

TEST_F(QueryCacheTest, TheLastUsedStayAndTextsThatComeOnceTakeNoRoom) {
  const auto text = [](size_t number) {
    return fmt::format("SELECT VALUE c.n FROM c WHERE c.n = {}", number);
  };
  ask(kQuery, container_);
  const Query used = ask(kQuery, container_);
  ask(text(0), container_);
  const Query unused = ask(text(0), container_);
  for (size_t i = 1; i < 1000; ++i) ask(text(i), container_);
  EXPECT_EQ(ask(text(0), container_), unused);
  for (size_t i = 1000; i < 1000 + QueryCache::kMost; ++i) {
    EXPECT_EQ(ask(kQuery, container_), used);
    ask(text(i), container_), ask(text(i), container_);
  }
  EXPECT_EQ(ask(kQuery, container_), used);
  EXPECT_NE(ask(text(0), container_), unused);
}

// A plan is chosen by how many items there are.
TEST_F(QueryCacheTest, AContainerThatHasGrownOrShrunkIsPlannedAnew) {
  const auto fill = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
        QUIRE_TRY(container_->create(transaction, fmt::format(R"({{"id":"{0}","k":1,"n":{0}}})", i)));
        return {};
      })));
  };
  ask(kQuery, container_);
  const Query of_none = ask(kQuery, container_);
  fill(0, 60);
  EXPECT_EQ(ask(kQuery, container_), of_none);
  fill(60, 400);
  const Query of_more = ask(kQuery, container_);
  EXPECT_NE(of_more, of_none);
  EXPECT_EQ(ask(kQuery, container_), of_more);
}

TEST_F(QueryCacheTest, AnExplanationIsOfNow) {
  constexpr std::string_view kExplained = "EXPLAIN SELECT VALUE c.n FROM c WHERE c.n > 5";
  ask(kExplained, container_);
  const Query second = ask(kExplained, container_);
  EXPECT_NE(ask(kExplained, container_), second);
}

TEST_F(QueryCacheTest, ThreadsMayAskAtOnce) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (size_t i = 0; i < 300; ++i) {
        const std::string sql = fmt::format("SELECT VALUE c.n + {} FROM c", i % (QueryCache::kMost + 10));
        const auto source = value_of(SnapshotSource::begin(containers_, container_));
        const auto query = cache_.prepare({.sql = sql, .scope = container_.get()}, *source, *source);
        ASSERT_TRUE(query) << query.error().message;
      }
    });
}

TEST_F(QueryCacheTest, LongTextsAndErrorsAreNotKept) {
  const std::string text = std::string(kQuery) + std::string(QueryCache::kMostBytes, ' ');
  ask(text, container_);
  const Query second = ask(text, container_);
  EXPECT_NE(ask(text, container_), second);
  for (int i = 0; i < 3; ++i) {
    const auto refused = try_to_ask("SELECT VALUE", container_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::syntax);
  }
}

}  // namespace
}  // namespace quire::engine
