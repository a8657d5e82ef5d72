// A lock file is that of one database, which has no other, whatever becomes of their names.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "tests/engine/file/one_table.h"
#include "tests/engine/file/other_process.h"

namespace quire::engine {
namespace {

using LockFileTest = OneTable;

// Two databases by one lock file, or one by two, would take each other's commits for their own.
TEST_F(LockFileTest, WhatWasMovedWhileItIsOpenKeepsItToItself) {
  const std::string other = folder_.path("other.quire");
  {
    OtherProcess holder([&](int step) {
      if (step == 0) open();
      return put("a", std::to_string(step)).has_value();
    });
    ASSERT_TRUE(holder.step());
    ASSERT_EQ(rename(path_.c_str(), other.c_str()), 0);
    EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::busy, "under the name"));
    EXPECT_NE(access(path_.c_str(), F_OK), 0);
    EXPECT_TRUE(fails_with(Environment::open(other), ErrorCode::busy, "moved or linked here"));
    EXPECT_TRUE(holder.step());
  }
  EXPECT_TRUE(succeeds(Environment::open(path_)));
  path_ = other;
  open();
  EXPECT_EQ(get("a"), "1");
}

TEST_F(LockFileTest, WhatIsNoFileCannotBeOne) {
  const std::string lock_path = path_ + "-lock";
  ASSERT_EQ(mkdir(lock_path.c_str(), 0755), 0);
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::cannot_open, "-lock' is no regular file"));
  ASSERT_EQ(rmdir(lock_path.c_str()), 0);
  ASSERT_EQ(mkfifo(lock_path.c_str(), 0644), 0);
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::cannot_open, "-lock' is no regular file"));
}

// One that somebody has left under the name that the file is moved to, or has by a link.
TEST_F(LockFileTest, ALeftOneIsNotThatOfAFileWhichIsOpen) {
  const std::string moved = folder_.path("moved.quire"), linked = folder_.path("linked.quire");
  for (const std::string& name : {moved, linked}) {
    EXPECT_TRUE(succeeds(Environment::open(name)));
    ASSERT_EQ(unlink(name.c_str()), 0);
    ASSERT_EQ(access((name + "-lock").c_str(), F_OK), 0);
  }
  {
    OtherProcess holder([&](int step) {
      if (step == 0) open();
      return put("a", std::to_string(step)).has_value();
    });
    ASSERT_TRUE(holder.step());
    ASSERT_EQ(link(path_.c_str(), linked.c_str()), 0);
    EXPECT_TRUE(fails_with(Environment::open(linked), ErrorCode::busy, "linked here"));
    ASSERT_EQ(rename(path_.c_str(), moved.c_str()), 0);
    EXPECT_TRUE(fails_with(Environment::open(moved), ErrorCode::busy, "moved or linked here"));
    EXPECT_TRUE(fails_with(Environment::open(moved, {.read_only = true}), ErrorCode::busy, "lock file"));
    EXPECT_TRUE(holder.step());
  }
  path_ = moved;
  open();
  EXPECT_EQ(get("a"), "1");
}

TEST_F(LockFileTest, WithinAProcessItIsThatOfOneDatabaseToo) {
  open();
  EXPECT_TRUE(succeeds(put("a", "1")));
  const std::string moved = folder_.path("moved.quire");
  ASSERT_EQ(rename(path_.c_str(), moved.c_str()), 0);
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::busy, "under the name"));
  EXPECT_TRUE(succeeds(Environment::open(moved)));
  EXPECT_TRUE(succeeds(put("a", "2")));
  EXPECT_EQ(get("a"), "2");
  environment_.reset();
  EXPECT_TRUE(succeeds(Environment::open(path_)));
  path_ = moved;
  open();
  EXPECT_EQ(get("a"), "2");
}

}  // namespace
}  // namespace quire::engine
