#include "engine/catalog/catalog.h"

#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class CatalogTest : public testing::Test {
 protected:
  Result<CatalogEntry> create(const std::string& name, const std::vector<std::string>& paths = {}) {
    CatalogEntry entry;
    QUIRE_TRY(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(entry, catalog_.create(transaction, value_of(ContainerDefinition::make(name, paths))));
      return {};
    }));
    return entry;
  }
  Result<void> drop(std::string_view name) {
    return environment_->write(
        [&](WriteTransaction& transaction) { return catalog_.drop(transaction, name); });
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  Catalog catalog_{*environment_};
};

TEST_F(CatalogTest, ListsContainersByName) {
  const CatalogEntry zoo = value_of(create("zoo", {"/kind"}));
  value_of(create("ant"));
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  EXPECT_THAT(value_of(catalog_.names(snapshot)), testing::ElementsAre("ant", "zoo"));
  const auto entries = value_of(catalog_.list(snapshot));
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].definition, zoo.definition);
  EXPECT_EQ(entries[1].number, zoo.number);
  EXPECT_EQ(entries[1].etag_salt, zoo.etag_salt);
  const auto reference = value_of(catalog_.find_reference(snapshot, "zoo"));
  ASSERT_TRUE(reference.has_value());
  EXPECT_EQ(reference->number, zoo.number);
  EXPECT_FALSE(value_of(catalog_.find(snapshot, "none")).has_value());
  EXPECT_FALSE(value_of(catalog_.find_reference(snapshot, "none")).has_value());
}

TEST_F(CatalogTest, ANameIsTakenOnce) {
  value_of(create("a"));
  EXPECT_TRUE(fails_with(create("a"), ErrorCode::container_exists, "'a'"));
}

TEST_F(CatalogTest, AContainerMadeAnewIsAnother) {
  const CatalogEntry first = value_of(create("a"));
  ASSERT_TRUE(succeeds(drop("a")));
  EXPECT_NE(value_of(create("a")).number, first.number);
}

TEST_F(CatalogTest, DroppingAnUnknownNameTellsTheNearest) {
  value_of(create("readings"));
  EXPECT_TRUE(fails_with(drop("reading"), ErrorCode::container_not_found, "did you mean 'readings'"));
}

TEST_F(CatalogTest, TooManyContainersAreRefusedAndTheRestWorksOn) {
  Result<CatalogEntry> entry{};
  uint32_t made = 0;
  while ((entry = create("c" + std::to_string(made))) && made < 5000) ++made;
  EXPECT_TRUE(fails_with(entry, ErrorCode::limit_exceeded, "1000 containers"));
  EXPECT_EQ(made, kMostContainers);
  ASSERT_TRUE(succeeds(drop("c0")));
  EXPECT_TRUE(succeeds(create("another")));
}

// What several processes made one must be able to have open.
TEST_F(CatalogTest, ThoseOfBeforeCountToo) {
  const TemporaryFolder folder;
  for (const char* round : {"a", "b"}) {
    environment_ = value_of(Environment::open(folder.path("a.quire"), {.durability = Durability::none}));
    catalog_ = Catalog(*environment_);
    for (uint32_t i = 0; i < kMostContainers / 2; ++i)
      ASSERT_TRUE(succeeds(create(round + std::to_string(i))));
    environment_.reset();
  }
  environment_ = value_of(Environment::open(folder.path("a.quire")));
  catalog_ = Catalog(*environment_);
  EXPECT_TRUE(fails_with(create("more"), ErrorCode::limit_exceeded, "another file"));
}

}  // namespace
}  // namespace quire::engine
