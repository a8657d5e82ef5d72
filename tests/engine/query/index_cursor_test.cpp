// What a cursor over the entries of an index counts. What queries find by one, statements show.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/query/snapshot_source.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

uint32_t at_second = 0;

class IndexCursorTest : public testing::Test {
 protected:
  IndexCursorTest() {
    at_second = 1000;
    environment_->use_clock([]() noexcept { return at_second; });
  }
  void create(int from, int to) {
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      for (int i = from; i < to; ++i)
        QUIRE_TRY(container_->create(transaction, fmt::format(R"({{"id":"{}","n":{}}})", i, i)));
      return {};
    })));
  }
  // A cursor over all entries, `most` of which are counted.
  uint64_t count(Result<uint64_t> (sql::IndexCursor::*counted)(uint64_t), uint64_t most) {
    const auto source = value_of(SnapshotSource::begin(containers_, container_));
    sql::Collection& collection = *source->collection("c");
    const sql::KeyRange all;
    const sql::IndexProbe probe{collection.indexes().front().number, std::span(&all, 1)};
    sql::Access access;
    access.kind = sql::Access::Kind::index;
    access.probes = std::span(&probe, 1);
    return value_of((*value_of(collection.open_index(access)).*counted)(most));
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  OpenContainers containers_{*environment_};
  std::shared_ptr<ContainerStore> container_ =
      value_of(containers_.create(value_of(ContainerDefinition::from_json(
          R"({"id":"c","defaultTtl":10,"indexes":[{"name":"n","paths":[{"path":"/n"}]}]})"))));
};

// Those of an estimate are counted without a look at their items.
TEST_F(IndexCursorTest, EntriesOfExpiredItemsCountInEstimatesAlone) {
  create(0, 20);
  at_second = 1100;
  create(20, 25);
  const uint64_t left = count(&sql::IndexCursor::count_entries, 1000);
  EXPECT_EQ(count(&sql::IndexCursor::count, 1000), 5u);
  EXPECT_GT(left, 5u) << "writes have erased all that had expired";
  EXPECT_EQ(count(&sql::IndexCursor::count_entries, left - 1), left - 1);
  EXPECT_EQ(count(&sql::IndexCursor::count, 3), 3u);
}

}  // namespace
}  // namespace quire::engine
