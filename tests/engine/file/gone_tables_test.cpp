// Tables that another process has dropped, or removed.
#include <memory>
#include <string>

#include "engine/file/environment.h"
#include "engine/file/file_state.h"
#include "tests/engine/file/other_process.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

Result<void> make_named_table(Environment& environment, const std::string& name) {
  return environment.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const Table table, transaction.create_table(name));
    return transaction.put(table, "name", name);
  });
}

Result<void> drop_named_table(Environment& environment, const std::string& name) {
  return environment.write([&](WriteTransaction& transaction) { return transaction.drop_table(name); });
}

class GoneTables : public testing::Test {
 protected:
  std::unique_ptr<Environment> open() {
    return value_of(Environment::open(path_, {.durability = Durability::none}));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.quire");
};

// Otherwise each write would begin twice, and none be small.
TEST_F(GoneTables, ADroppedTableThatAnotherProcessHasRemovedIsNotWaitedFor) {
  OtherProcess other([&](int) {
    open();
    return true;
  });
  const auto ours = open();
  ASSERT_TRUE(succeeds(make_named_table(*ours, "t")));
  {
    const ReadTransaction snapshot = value_of(ours->begin_read());
    ASSERT_TRUE(succeeds(drop_named_table(*ours, "t")));
    ASSERT_TRUE(other.step());  // to open a file removes what is left of dropped tables
    EXPECT_TRUE(snapshot.state().tables().has_dropped());
  }
  ASSERT_TRUE(succeeds(make_named_table(*ours, "u")));
  const ReadTransaction snapshot = value_of(ours->begin_read());
  EXPECT_FALSE(snapshot.state().tables().has_dropped());
  EXPECT_EQ(value_of(ours->open_table("t")), std::nullopt);
  EXPECT_EQ(value_of(snapshot.get(value_of(ours->open_table("u")).value(), "name")), "u");
}

TEST_F(GoneTables, SlotsOfTablesThatAnotherProcessDroppedAreUsedAgain) {
  std::unique_ptr<Environment> theirs;
  OtherProcess other([&](int step) {
    if (step == 0) theirs = open();
    if (step > 0 && !drop_named_table(*theirs, std::to_string(step - 1))) return false;
    return make_named_table(*theirs, std::to_string(step)).has_value();
  });
  ASSERT_TRUE(other.step());
  const auto ours = open();
  const Table first = value_of(ours->open_table("0")).value();
  for (unsigned step = 1; step < kMostTables + 100; ++step) {
    ASSERT_TRUE(other.step());
    const ReadTransaction snapshot = value_of(ours->begin_read());
    ours->close_gone_tables({std::to_string(step - 1)});
    const Table table = value_of(ours->open_table(std::to_string(step))).value();
    const ReadTransaction newer = value_of(ours->begin_read());
    ASSERT_EQ(value_of(newer.get(table, "name")), std::to_string(step));
  }
  const ReadTransaction snapshot = value_of(ours->begin_read());
  EXPECT_TRUE(fails_with(snapshot.get(first, "name"), ErrorCode::container_not_found));
}

TEST_F(GoneTables, ATableIsOpenForTheSnapshotsAtWork) {
  std::unique_ptr<Environment> theirs;
  OtherProcess other([&](int step) {
    if (step == 0) theirs = open();
    return (step == 0 ? make_named_table(*theirs, "t") : drop_named_table(*theirs, "t")).has_value();
  });
  ASSERT_TRUE(other.step());
  const auto ours = open();
  const Table table = value_of(ours->open_table("t")).value();
  {
    const ReadTransaction snapshot = value_of(ours->begin_read());
    ASSERT_TRUE(other.step());
    ours->close_gone_tables({"t"});
    EXPECT_EQ(value_of(snapshot.get(table, "name")), "t");
  }
  const ReadTransaction snapshot = value_of(ours->begin_read());
  EXPECT_TRUE(fails_with(snapshot.get(table, "name"), ErrorCode::container_not_found));
}

// It is emptied, and has to be removed.
TEST_F(GoneTables, WhatThisProcessHasDroppedItselfIsRemovedAllTheSame) {
  const auto ours = open();
  ASSERT_TRUE(succeeds(make_named_table(*ours, "t")));
  {
    const ReadTransaction snapshot = value_of(ours->begin_read());
    ASSERT_TRUE(succeeds(drop_named_table(*ours, "t")));
    ours->close_gone_tables({"t"});
  }
  ASSERT_TRUE(succeeds(make_named_table(*ours, "u")));
  EXPECT_EQ(value_of(ours->open_table("t")), std::nullopt);
}

}  // namespace
}  // namespace quire::engine
