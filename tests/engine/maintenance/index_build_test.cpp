// An index is the same whatever the memory it was built in, and however the building ended.
#include "engine/container/index_build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "engine/container/policy_paths.h"
#include "engine/maintenance/check.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

constexpr int kItems = 3000;

// The lists hold all entries; those of some items; those of one.
class IndexBuildTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    const auto plain =
        value_of(ContainerDefinition::from_json(R"({"id":"c","partitionKey":{"paths":["/p"]}})"));
    write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction, plain));
      for (int i = 0; i < kItems; ++i) {
        const std::string text = std::to_string(i);
        QUIRE_TRY(store_->create(transaction, R"({"id":")" + text + R"(","p":)" + std::to_string(i % 97) +
                                                  R"(,"n":)" + std::to_string(i * 7919 % 1000) +
                                                  R"(,"s":"s)" + text + R"(","tags":["a","t)" +
                                                  std::to_string(i % 5) + R"("]})"));
      }
      return {};
    });
  }
  template <typename Work>
  void write(const Work& work) {
    ASSERT_TRUE(succeeds(environment_->write(work)));
  }
  // Has the container ask for indexes.
  void ask_for(std::string_view indexes) {
    const auto definition = value_of(ContainerDefinition::from_json(
        R"({"id":"c","partitionKey":{"paths":["/p"]},)" + std::string(indexes) + "}"));
    write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const bool must_build, store_->set_indexes(transaction, definition));
      EXPECT_TRUE(must_build);
      return {};
    });
  }
  Result<void> build(const WorkOptions& options = {}) {
    return build_indexes(*environment_, *store_, options, nullptr, GetParam());
  }
  CheckReport check() { return value_of(check_database(*environment_)); }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  std::shared_ptr<ContainerStore> store_;
};
INSTANTIATE_TEST_SUITE_P(Memory, IndexBuildTest, testing::Values(kIndexListBytes, size_t{16} << 10, 1));

constexpr std::string_view kTwo =
    R"("indexes":[{"name":"n","paths":[{"path":"/n"},{"path":"/s"}]},{"name":"tags","paths":[{"path":"/tags/[]"}]}])";

TEST_P(IndexBuildTest, HasEveryEntryOnce) {
  ask_for(kTwo);
  ASSERT_TRUE(succeeds(build()));
  const CheckReport report = check();
  EXPECT_EQ(report.finding_count(), 0U);
  EXPECT_EQ(report.entries, 3U * kItems);
  EXPECT_TRUE(succeeds(build())) << "nothing waits any more";
}

TEST_P(IndexBuildTest, AUniqueIndexThatCannotBeIsDroppedAndTheOthersStay) {
  ask_for(
      R"("indexes":[{"name":"u","unique":true,"paths":[{"path":"/n"}]},{"name":"s","paths":[{"path":"/s"}]}])");
  const auto built = build();
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::conflict);
  ASSERT_TRUE(succeeds(build()));
  EXPECT_EQ(check().finding_count(), 0U);
}

TEST_P(IndexBuildTest, GoesOnWhereItWasInterrupted) {
  ask_for(kTwo);
  std::atomic<uint64_t> interrupts = 0;
  WorkOptions options;
  options.interrupts = &interrupts;
  options.progress = [&](uint64_t done, uint64_t all) {
    EXPECT_LE(done, all);
    ++interrupts;
    return true;
  };
  for (int i = 0; i < 3; ++i) {
    const auto built = build(options);
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().code, ErrorCode::interrupted);
  }
  ASSERT_TRUE(succeeds(build()));
  const CheckReport report = check();
  EXPECT_EQ(report.finding_count(), 0U);
  EXPECT_EQ(report.entries, 3U * kItems);
}

// So many items that their paths are found by several threads, before they get their numbers. One in some
// thousand has a path of its own.
class PolicyPathsTest : public testing::Test {
 protected:
  static constexpr int kMany = 12'000, kBetweenRare = 1'000;

  void SetUp() override {
    const std::string plain = R"({"id":"c","partitionKey":{"paths":["/p"]})",
                      all = R"("includedPaths":[{"path":"/*"}])";
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction,
                                                  value_of(ContainerDefinition::from_json(plain + "}"))));
      for (int i = 0; i < kMany; ++i)
        QUIRE_TRY(add(transaction, i, i % kBetweenRare == 0 ? "rare" + std::to_string(i) : "usual"));
      return {};
    })));
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      const auto indexed =
          value_of(ContainerDefinition::from_json(plain + R"(,"indexingPolicy":{)" + all + "}}"));
      QUIRE_ASSIGN(const bool must_build, store_->set_indexes(transaction, indexed));
      EXPECT_TRUE(must_build);
      return {};
    })));
  }
  Result<void> add(WriteTransaction& transaction, int number, const std::string& name) {
    const std::string text = std::to_string(number);
    auto created =
        store_->create(transaction, R"({"id":")" + text + R"(","p":)" + text + R"(,")" + name + R"(":1})");
    if (!created) return std::unexpected(created.error());
    return {};
  }
  // Each item has three.
  void expect_entries_of(uint64_t items) {
    const CheckReport report = value_of(check_database(*environment_));
    EXPECT_EQ(report.finding_count(), 0U);
    EXPECT_EQ(report.entries, 3 * items);
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  std::shared_ptr<ContainerStore> store_;
};

TEST_F(PolicyPathsTest, FindsEachPathOnce) {
  WorkOptions options;
  LongWork work(options, "");
  const auto found = value_of(find_policy_paths(*environment_, *store_, work));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->paths.size(), 3U + kMany / kBetweenRare);
  ASSERT_TRUE(succeeds(build_indexes(*environment_, *store_)));
  expect_entries_of(kMany);
  EXPECT_FALSE(value_of(find_policy_paths(*environment_, *store_, work)).has_value())
      << "nothing waits any more";
}

TEST_F(PolicyPathsTest, IsOfNoUseOnceSomebodyHasWritten) {
  bool has_written = false;
  WorkOptions options;
  options.progress = [&](uint64_t, uint64_t) {
    if (std::exchange(has_written, true)) return true;
    EXPECT_TRUE(succeeds(
        environment_->write([&](WriteTransaction& transaction) { return add(transaction, kMany, "late"); })));
    return true;
  };
  ASSERT_TRUE(succeeds(build_indexes(*environment_, *store_, options)));
  EXPECT_TRUE(has_written);
  expect_entries_of(kMany + 1);
}

// Hostile items: past the bound of paths no place is remembered, nor each time that one is met.
TEST_F(PolicyPathsTest, AreBoundedWhateverItemsHave) {
  constexpr int kItemsWithMany = 400, kNames = 1'000;
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    for (int i = 0; i < kItemsWithMany; ++i) {
      std::string members;
      for (int name = 0; name < kNames; ++name)
        members += ",\"n" + std::to_string(i) + "_" + std::to_string(name) + "\":1";
      const std::string text = std::to_string(kMany + i);
      auto created = store_->create(transaction, R"({"id":")" + text + R"(","p":)" + text + members + "}");
      if (!created) return std::unexpected(created.error());
    }
    return {};
  })));
  WorkOptions options;
  LongWork work(options, "");
  const auto found = value_of(find_policy_paths(*environment_, *store_, work));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(std::ranges::count_if(found->paths, [](const auto& path) { return path.empty(); }), 1);
}

TEST_F(PolicyPathsTest, CanBeInterrupted) {
  WorkOptions options;
  options.progress = [](uint64_t, uint64_t) { return false; };
  const auto built = build_indexes(*environment_, *store_, options);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::interrupted);
  ASSERT_TRUE(succeeds(build_indexes(*environment_, *store_)));
  expect_entries_of(kMany);
}

}  // namespace
}  // namespace quire::engine
