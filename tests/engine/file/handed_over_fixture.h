// Small commits that a thread applies while the writer goes on, at a moment that the test chooses.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lmdb.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "engine/file/commit_log.h"
#include "engine/file/file_state.h"
#include "engine/file/pending_view.h"
#include "tests/engine/file/small_commits_fixture.h"

namespace quire::engine {

// Holds LMDB's lock for writers, so that what was handed over is not applied.
class HeldUp {
 public:
  explicit HeldUp(const Environment& environment) : snapshot_(value_of(environment.begin_read())) {
    thread_ = std::jthread([this] {
      MDB_txn* transaction = nullptr;
      EXPECT_EQ(mdb_txn_begin(snapshot_.state().environment(), nullptr, 0, &transaction), MDB_SUCCESS);
      std::unique_lock lock(mutex_);
      is_held_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_released_; });
      mdb_txn_abort(transaction);
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_held_; });
  }
  ~HeldUp() { release(); }
  void release() {
    const std::lock_guard lock(mutex_);
    is_released_ = true;
    changed_.notify_all();
  }

 private:
  ReadTransaction snapshot_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false, is_released_ = false;
  std::jthread thread_;
};

class HandedOverTest : public SmallCommitsTest {
 protected:
  static constexpr size_t kHalf = CommitLog::kLeastBytes / 2;

  // A file with small commits in a row, LMDB being held up from here on.
  struct Scene {
    std::unique_ptr<Environment> environment;
    Table table;
    Contents map;
    std::unique_ptr<HeldUp> held_up;
  };
  Scene begin() const {
    Scene scene{open(), {}, {}, nullptr};
    scene.table = table_of(*scene.environment);
    until_small(*scene.environment);
    scene.map = contents(*scene.environment);
    scene.held_up = std::make_unique<HeldUp>(*scene.environment);
    return scene;
  }
  static SmallCommits& small_of(const Environment& environment) {
    return value_of(environment.begin_read()).state().small_commits();
  }
  static bool is_handed_over(const Environment& environment) {
    const auto pending = small_of(environment).newest();
    return pending != nullptr && pending->applying() != nullptr;
  }
  // Small commits until a part of them is on its way to the tree, and some more behind it. Once that is the
  // case it stays so as long as LMDB is held up.
  static void until_handed_over(Environment& environment, Contents& map) {
    // Larger ones would be worth a longer log.
    const std::string record(kHalf / 32, 'r');
    for (int i = 0; i < 80 && !is_handed_over(environment); ++i) write(environment, map, i, record);
    ASSERT_TRUE(is_handed_over(environment));
    for (int i = 0; i < 5; ++i) write(environment, map, 2 * i, fmt::format("later{}", i));
    const Table table = table_of(environment);
    ASSERT_TRUE(succeeds(environment.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(transaction.erase(table, "h01"));
      return {};
    })));
    map.erase("h01");
  }
  static void write(Environment& environment, Contents& map, int number, const std::string& record) {
    const std::string key = fmt::format("h{:02}", number);
    put(environment, key, record);
    map[key] = record;
  }
  static void until_applied(const Environment& environment) {
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    const uint64_t base = small_of(environment).newest()->base();
    while (commits_of_tree(environment) < base && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(commits_of_tree(environment), base);
  }
};

}  // namespace quire::engine
