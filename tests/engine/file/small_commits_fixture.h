// Small commits in a file of their own, and changes of a table beside those of a map.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "engine/file/environment.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {

using Contents = std::map<std::string, std::string, std::less<>>;

class SmallCommitsTest : public testing::TestWithParam<Durability> {
 protected:
  std::unique_ptr<Environment> open(FileOptions options = {}) const {
    options.durability = GetParam();
    return value_of(Environment::open(path_, options));
  }
  static Table table_of(Environment& environment) {
    if (const auto found = value_of(environment.open_table("t"))) return *found;
    EXPECT_TRUE(succeeds(environment.write([](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(transaction.create_table("t"));
      return {};
    })));
    return value_of(environment.open_table("t")).value();
  }
  static void put(Environment& environment, std::string_view key, std::string_view record = "x") {
    const Table table = table_of(environment);
    ASSERT_TRUE(succeeds(environment.write(
        [&](WriteTransaction& transaction) { return transaction.put(table, key, record); })));
  }
  static uint64_t commits_of_tree(const Environment& environment) {
    return value_of(environment.facts()).commit_number;
  }
  // Whether what was pending has become a commit of LMDB's behind that one, by the writer or by the thread.
  static bool is_applied_behind(const Environment& environment, uint64_t commit) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (commits_of_tree(environment) <= commit && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return commits_of_tree(environment) > commit;
  }
  // Writes until a commit is LMDB's no more.
  static void until_small(Environment& environment) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (uint64_t before = 0; std::chrono::steady_clock::now() < deadline;) {
      before = commits_of_tree(environment);
      put(environment, "until");
      if (commits_of_tree(environment) == before) return;
    }
    FAIL() << "no commit went to the log alone";
  }
  // Forward and backward, and key by key.
  static Contents contents(const Transaction& transaction, Table table) {
    Contents found;
    FileCursor cursor = value_of(FileCursor::open(transaction, table));
    for (bool more = value_of(cursor.next()); more; more = value_of(cursor.next())) {
      found.emplace(cursor.key(), cursor.record());
      EXPECT_EQ(value_of(transaction.get(table, cursor.key())), cursor.record());
    }
    auto expected = found.rbegin();
    for (bool more = value_of(cursor.last()); more; more = value_of(cursor.previous()), ++expected) {
      if (expected == found.rend()) break;
      EXPECT_EQ(cursor.key(), expected->first);
      EXPECT_EQ(cursor.record(), expected->second);
    }
    EXPECT_EQ(expected, found.rend());
    EXPECT_EQ(value_of(transaction.count(table)), found.size());
    return found;
  }
  Contents contents(Environment& environment) const {
    const Table table = table_of(environment);  // first: a snapshot does not know what is opened later
    return contents(value_of(environment.begin_read()), table);
  }
  static pid_t in_child(const std::function<void()>& act) {
    const pid_t child = fork();
    if (child != 0) return child;
    act();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  static void in_process_that_dies(const std::function<void()>& act) {
    const pid_t child = in_child([&] {
      act();
      if (!testing::Test::HasFailure()) kill(getpid(), SIGKILL);
    });
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.quire");
};

// Changes of table and map alike, drawn at random.
class RandomChanges {
 public:
  explicit RandomChanges(uint32_t seed) : random_(seed) {}
  void begin_anew(uint32_t seed) { random_.seed(seed); }
  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  Result<void> change(WriteTransaction& transaction, Table table, Contents& map) {
    const std::string key = fmt::format("k{:02}", draw(80)),
                      record(draw(50), static_cast<char>('a' + draw(26)));
    switch (draw(5)) {
      case 0: {
        QUIRE_ASSIGN(const bool was_there, transaction.erase(table, key));
        EXPECT_EQ(was_there, map.erase(key) == 1);
        return {};
      }
      case 1: {
        QUIRE_ASSIGN(const bool is_new, transaction.put_new(table, key, record));
        EXPECT_EQ(is_new, map.emplace(key, record).second);
        return {};
      }
      case 2: {
        QUIRE_ASSIGN(const bool is_last, transaction.append(table, "l" + key, record));
        EXPECT_EQ(is_last, map.empty() || map.rbegin()->first < "l" + key);
        if (is_last) map["l" + key] = record;
        return {};
      }
      case 3: {
        QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table));
        QUIRE_ASSIGN(const bool is_there, cursor.seek(key));
        const auto at = map.lower_bound(key);
        EXPECT_EQ(is_there, at != map.end());
        if (!is_there) return {};
        EXPECT_EQ(cursor.key(), at->first);
        QUIRE_TRY(transaction.erase(cursor));
        const auto next = map.erase(at);
        QUIRE_ASSIGN(const bool has_next, cursor.next());
        EXPECT_EQ(has_next, next != map.end());
        EXPECT_EQ(has_next ? cursor.key() : "", has_next ? next->first : "");
        return {};
      }
      default:
        map[key] = record;
        return transaction.put(table, key, record);
    }
  }

 private:
  std::mt19937 random_;
};

}  // namespace quire::engine
