// Whose an index is that is being built: of a process that is at it, or of nobody.
#include "engine/container/index_build.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/container/container.h"
#include "engine/index/index_set.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class AbandonedBuildTest : public testing::Test {
 protected:
  void SetUp() override {
    environment_ = value_of(Environment::open(folder_.path("f.quire")));
    ContainerDefinition definition = value_of(ContainerDefinition::make("things", {"/id"}));
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction, definition, {}));
      return {};
    })));
    definition.other_properties.emplace_back("indexingPolicy", R"({"includedPaths":[{"path":"/*"}]})");
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const auto item, store_->create(transaction, R"({"id":"1","n":1})", {}));
      static_cast<void>(item);
      QUIRE_ASSIGN(const bool is_building, store_->set_indexes(transaction, definition));
      EXPECT_TRUE(is_building);
      return {};
    })));
  }

  bool is_abandoned() {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    return value_of(has_abandoned_build(*environment_, snapshot, *store_));
  }
  bool is_abandoned_by(const ProcessIdentity& process) {
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) {
      return save_index_build(transaction, store_->indexes().table(), IndexBuild{process, {}});
    })));
    return is_abandoned();
  }

  TemporaryFolder folder_;
  std::unique_ptr<Environment> environment_;
  std::shared_ptr<ContainerStore> store_;
};

TEST_F(AbandonedBuildTest, IsOneOfNoProcessThatHasTheFileOpen) {
  EXPECT_FALSE(is_abandoned());
  EXPECT_FALSE(is_abandoned_by(this_process()));
  EXPECT_TRUE(is_abandoned_by({static_cast<uint32_t>(getppid()), 1})) << "which runs, without the file";
}

// In a container an application has the same number again when it is started anew.
TEST_F(AbandonedBuildTest, IsOneOfAnEarlierProcessOfTheSameNumber) {
  ProcessIdentity earlier = this_process();
  earlier.incarnation += 2;
  EXPECT_TRUE(is_abandoned_by(earlier));
  EXPECT_FALSE(is_abandoned_by(this_process()));
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) {
    return save_index_build(transaction, store_->indexes().table(), std::nullopt);
  })));
  EXPECT_TRUE(is_abandoned()) << "nobody's";
}

}  // namespace
}  // namespace quire::engine
