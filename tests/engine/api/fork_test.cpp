// Children of fork(), beside a parent that has databases open: they have its memory and its descriptors.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "tests/engine/api/three_items.h"

namespace quire::tests {
namespace {

class ForkTest : public ThreeItemsTest {};

// It has opened nothing, though its parent's databases lie in its memory.
TEST_F(ForkTest, AChildOfForkOpensItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer has a child of a process with threads begin none";
#endif
  fill(path_);
  const auto insert = [](Database& database, int from) {
    for (int id = from; id < from + 50; ++id)
      ASSERT_TRUE(succeeds(database.container("items")->create(fmt::format(R"({{"id":"{}","k":1}})", id))));
  };
  ASSERT_EQ(query("BEGIN"), "");
  ASSERT_EQ(query("INSERT INTO items VALUES {id: 'of parent', k: 1}"), "");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    {
      auto own = Database::open(path_);
      EXPECT_TRUE(succeeds(own));
      if (own) insert(*own, 1000);
    }
    std::fflush(nullptr);
    _exit(HasFailure() ? 1 : 0);
  }
  EXPECT_EQ(query("COMMIT"), "");
  insert(*database_, 2000);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(count(), "104\n");
  expect_sound();
  reopen(path_);
  EXPECT_EQ(count(), "104\n");
  expect_sound();
}

// What a child gave back would be its parent's: places in the table of readers, and the locks by which others
// see that the file is in use.
TEST_F(ForkTest, AChildOfForkLeavesWhatIsItsParents) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer has a child of a process with threads begin none";
#endif
  fill(path_);
  std::optional<Container> items = std::move(database_->container("items").value());
  std::optional<Feed> feed = std::move(items->feed().value());
  ASSERT_TRUE(feed->next().value());
  std::optional<Statement> statement =
      std::move(database_->prepare("SELECT VALUE i.id FROM items i").value());
  ASSERT_TRUE(statement->step().value());
  std::optional<Snapshot> snapshot = std::move(database_->begin_snapshot().value());
  std::optional<Transaction> transaction = std::move(database_->begin_transaction().value());
  ASSERT_TRUE(succeeds(items->create(R"({"id":"4","k":4})", &*transaction)));
  const auto as_its_parent = [&] {
    EXPECT_TRUE(fails_with(database_->close(), QUIRE_MISUSE, "fork()"));
    EXPECT_TRUE(fails_with(database_->begin_snapshot(), QUIRE_MISUSE, "fork()"));
    EXPECT_TRUE(fails_with(items->read_json(1, "1"), QUIRE_MISUSE, "fork()"));
    EXPECT_TRUE(fails_with(database_->backup(file("copy.quire")), QUIRE_MISUSE, "fork()"));
    EXPECT_TRUE(fails_with(snapshot->renew(), QUIRE_MISUSE, "fork()"));
    EXPECT_TRUE(fails_with(items->create(R"({"id":"6","k":6})", &*transaction), QUIRE_MISUSE, "fork()"));
    EXPECT_TRUE(fails_with(items->execute("any", 1, "[]", &*transaction), QUIRE_MISUSE, "fork()"));
    EXPECT_TRUE(fails_with(transaction->commit(), QUIRE_MISUSE, "fork()"));
    transaction.reset(), snapshot.reset(), statement.reset(), feed.reset(), items.reset(), database_.reset();
    return true;
  };
  EXPECT_TRUE(run_apart(as_its_parent));
  EXPECT_TRUE(fails_with(Database::compact(path_), QUIRE_BUSY));
  ASSERT_TRUE(succeeds(transaction->commit()));
  EXPECT_EQ(count(), "4\n");
  EXPECT_TRUE(fails_with(snapshot->read(*items, 4, "4"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(statement->step().value());
  EXPECT_TRUE(feed->next().value());
  // Nobody within a transaction.
  transaction.reset(), snapshot.reset(), statement.reset(), feed.reset(), items.reset();
  EXPECT_TRUE(run_apart([&] {
    EXPECT_EQ(query("INSERT INTO items VALUES {id: '5', k: 5}").find("misuse"), 0);
    database_.reset();
    return true;
  }));
  ASSERT_EQ(query("INSERT INTO items VALUES {id: '5', k: 5}"), "");
  expect_sound();
  reopen(path_);
  EXPECT_EQ(count(), "5\n");
}

// A child has its parent's descriptors until it ends.
TEST_F(ForkTest, AParentOpensAFileAnewThatItClosedBesideItsChild) {
  fill(path_);
  std::fflush(nullptr);
  int until_closed[2];
  ASSERT_EQ(pipe(until_closed), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(until_closed[1]);
    char byte = 0;
    _exit(read(until_closed[0], &byte, 1) == 0 ? 0 : 1);
  }
  reopen(path_);
  EXPECT_EQ(count(), "3\n");
  close(until_closed[1]);
  close(until_closed[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// A program that is begun must not get a descriptor by which it can write to the file.
TEST_F(ForkTest, WhatCallsExecHasNoDescriptorOfTheFile) {
  fill(path_);
  size_t descriptors = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (!std::filesystem::read_symlink(entry, gone).string().starts_with(path_)) continue;
    ++descriptors;
    EXPECT_NE(fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_GE(descriptors, 2u);  // of the file and its lock file
}

}  // namespace
}  // namespace quire::tests
