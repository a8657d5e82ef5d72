// An indexing policy that an earlier version has read otherwise is indexed anew, and until then not relied
// on.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/catalog/catalog.h"
#include "engine/container/container.h"
#include "engine/container/index_build.h"
#include "engine/index/index_set.h"
#include "engine/maintenance/check.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class PolicyUpgradeTest : public testing::Test {
 protected:
  void SetUp() override {
    write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction, definition_, {}));
      QUIRE_TRY(store_->create(transaction, R"({"id":"1","events":[{"name":"a","category":"x"}]})", {}));
      return {};
    });
  }
  void reopen() {
    store_.reset();
    environment_.reset();
    environment_ = value_of(Environment::open(folder_.path("f.quire")));
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    const auto entry = value_of(Catalog(*environment_).find(snapshot, "c"));
    store_ = value_of(ContainerStore::open(*environment_, *entry));
  }
  template <typename Work>
  void write(const Work& work) {
    ASSERT_TRUE(succeeds(environment_->write(work)));
  }
  IndexSet set() {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    return value_of(load_index_set(snapshot, store_->indexes().table()));
  }
  static const Index* find(const IndexSet& set, std::string_view name) {
    const auto found = std::ranges::find(set.indexes, name, &Index::name);
    return found == set.indexes.end() ? nullptr : &*found;
  }
  // As a version leaves it that takes the second name for " category", and ends the policy without a sign.
  void leave_as_earlier_version() {
    write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(IndexSet* const set, store_->indexes().writable_set(transaction));
      const Index* const category = find(*set, kCategory);
      if (category == nullptr) return fail(ErrorCode::not_found, "no index to take away");
      QUIRE_TRY(erase_index(transaction, store_->indexes().table(), category->number));
      std::erase_if(set->indexes, [](const Index& index) { return index.name == kCategory; });
      if (set->policy_json.ends_with(kTuplesAreRead)) set->policy_json.pop_back();
      QUIRE_TRY(save_index_policy(transaction, store_->indexes().table(), *set));
      return store_->indexes().set_changed(transaction);
    });
  }

  static constexpr std::string_view kCategory = "/events/[]/category";
  const ContainerDefinition definition_ = value_of(ContainerDefinition::from_json(
      R"({"id":"c","indexingPolicy":{"includedPaths":[{"path":"/events/[]/{name, category}/?"}],
          "excludedPaths":[{"path":"/*"}]}})"));
  TemporaryFolder folder_;
  std::unique_ptr<Environment> environment_ = value_of(Environment::open(folder_.path("f.quire")));
  std::shared_ptr<ContainerStore> store_;
};

TEST_F(PolicyUpgradeTest, AnIndexOfANameThatWasNotReadIsNotReadUntilItIsWhole) {
  EXPECT_FALSE(set().is_building());
  leave_as_earlier_version();
  reopen();
  EXPECT_TRUE(set().is_building());
  write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(store_->create(transaction, R"({"id":"2","events":[{"name":"b","category":"x"}]})", {}));
    return {};
  });
  const IndexSet unfinished = set();
  ASSERT_NE(find(unfinished, kCategory), nullptr);
  EXPECT_TRUE(find(unfinished, kCategory)->is_building) << "item 1 is not in it";
  EXPECT_FALSE(find(unfinished, "/events/[]/name")->is_building) << "this was read rightly";

  ASSERT_TRUE(succeeds(build_indexes(*environment_, *store_, {}, nullptr, kIndexListBytes)));
  const IndexSet built = set();
  EXPECT_FALSE(built.is_building());
  EXPECT_FALSE(find(built, kCategory)->is_building);
  const CheckReport report = value_of(check_database(*environment_));
  EXPECT_EQ(report.finding_count(), 0U);
  EXPECT_EQ(report.entries, 4U) << "each name of each item";
}

}  // namespace
}  // namespace quire::engine
