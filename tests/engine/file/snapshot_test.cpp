// Snapshots that threads begin while others commit: each is of one commit, whatever holds up who begins it.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/file/environment.h"
#include "engine/file/tree_roots.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

// The same number in two tables, which grows with each commit. More threads than processors: one may be held
// up at any step.
TEST(Snapshot, IsOfOneCommit) {
  const TemporaryFolder folder;
  const auto environment =
      value_of(Environment::open(folder.path("a.quire"), {.durability = Durability::none}));
  std::vector<Table> tables;
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(transaction.create_table(name));
      return {};
    })));
    tables.push_back(value_of(environment->open_table(name)).value());
  }
  const auto write = [&](uint64_t number) {
    EXPECT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      for (const Table table : tables)
        QUIRE_TRY(transaction.put(table, "number", {reinterpret_cast<const char*>(&number), sizeof number}));
      return {};
    })));
  };
  const auto read = [&](const Transaction& snapshot, Table table) {
    uint64_t number = 0;
    const std::optional<Bytes> record = value_of(snapshot.get(table, "number"));
    if (record && record->size() == sizeof number) std::memcpy(&number, record->data(), sizeof number);
    return number;
  };
  write(1);
  std::atomic<bool> ends = false;
  std::atomic<uint64_t> mixed = 0;
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      for (uint64_t number = 2; !ends; ++number) write(number);
    });
    for (unsigned i = 0; i < 4 * std::max(2U, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back([&] {
        ReadTransaction snapshot = value_of(environment->begin_read());
        for (uint64_t last = 0; !ends;) {
          EXPECT_TRUE(succeeds(snapshot.renew()));
          const uint64_t number = read(snapshot, tables[0]);
          if (number < last || read(snapshot, tables[1]) != number) ++mixed;
          last = number;
        }
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    ends = true;
  }
  EXPECT_EQ(mixed, 0U);
}

TEST(TreeRoots, TellWhatWasNotedLast) {
  const auto roots = std::make_unique<TreeRoots>();
  const Table table(3, 7), other(3, 8);
  EXPECT_EQ(roots->find(table, 5), std::nullopt);
  roots->note(table, 5, 50, 2);
  EXPECT_EQ(roots->find(table, 5), 50U);
  EXPECT_EQ(roots->find(table, 6), std::nullopt);
  EXPECT_EQ(roots->find(other, 5), std::nullopt);
  roots->note(table, 6, 60, 3);
  EXPECT_EQ(roots->find(table, 5), std::nullopt);
  roots->note(table, 5, TreeRoots::kNone, 0);
  EXPECT_EQ(roots->find(table, 5), TreeRoots::kNone);
}

TEST(Snapshot, CountsNothingInATableThatAnotherProcessHasRemoved) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.quire");
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    bool is_removed = ::read(go[0], &byte, 1) == 1;
    // What is dropped is removed by who opens the file next.
    for (int opens = 0; opens < 2; ++opens) {
      const auto environment = Environment::open(path);
      is_removed = is_removed && environment && (*environment)->write([&](WriteTransaction& transaction) {
        return opens == 0 ? transaction.drop_table("t") : Result<void>();
      });
    }
    _exit(is_removed ? 0 : 1);
  }
  const auto environment = value_of(Environment::open(path));
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const Table table, transaction.create_table("t"));
    return transaction.put(table, "a", "1");
  })));
  const Table table = value_of(environment->open_table("t")).value();
  EXPECT_EQ(value_of(value_of(environment->begin_read()).count(table)), 1U);
  ASSERT_EQ(::write(go[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(value_of(value_of(environment->begin_read()).count(table)), 0U);
  EXPECT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    EXPECT_EQ(value_of(transaction.count(table)), 0U);
    return {};
  })));
}

}  // namespace
}  // namespace quire::engine
