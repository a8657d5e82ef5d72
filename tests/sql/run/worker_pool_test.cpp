#include "sql/run/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>

namespace quire::sql {
namespace {

// Latches belong to all who wait at them: who is last may still be at it when the first goes on.
std::thread::id thread_of(WorkerPool& pool) {
  std::thread::id id;
  const auto done = std::make_shared<std::latch>(1);
  EXPECT_TRUE(pool.begin([&id] { id = std::this_thread::get_id(); }, [done] { done->count_down(); }));
  done->wait();
  return id;
}

TEST(WorkerPool, KeepsItsThreadsForWhatComesNext) {
  WorkerPool pool;
  std::set<std::thread::id> threads;
  for (int i = 0; i < 1000; ++i) threads.insert(thread_of(pool));
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
  EXPECT_EQ(threads.size(), size_t{1});
}

TEST(WorkerPool, DoesAtOnceWhatIsBegunAtOnce) {
  constexpr int kAtOnce = 7;
  WorkerPool pool;
  for (int round = 0; round < 3; ++round) {
    const auto all = std::make_shared<std::latch>(kAtOnce + 1);
    for (int i = 0; i < kAtOnce; ++i) EXPECT_TRUE(pool.begin([all] { all->arrive_and_wait(); }, [] {}));
    all->arrive_and_wait();
  }
}

TEST(WorkerPool, EndsWhenAllIsDone) {
  std::atomic<int> done = 0;
  {
    WorkerPool pool;
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(
          pool.begin([&] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, [&] { ++done; }));
  }
  EXPECT_EQ(done, 5);
}

TEST(WorkerPool, GivesBuffersWithTheirMemory) {
  WorkerPool pool;
  EXPECT_EQ(pool.take_buffer(), "");
  std::string text(10'000, 'x');
  const char* const memory = text.data();
  pool.give_buffer(std::move(text));
  const std::string again = pool.take_buffer();
  EXPECT_EQ(again, "");
  EXPECT_EQ(again.data(), memory);
  EXPECT_LT(pool.take_buffer().capacity(), size_t{100});
}

TEST(WorkerPool, KeepsFewBuffersAndNoLargeOne) {
  WorkerPool pool;
  pool.give_buffer(std::string(size_t{1} << 20, 'x'));
  EXPECT_LT(pool.take_buffer().capacity(), size_t{100});
  for (int i = 0; i < 1000; ++i) pool.give_buffer(std::string(1000, 'x'));
  int kept = 0;
  while (pool.take_buffer().capacity() >= 1000) ++kept;
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 100);
}

}  // namespace
}  // namespace quire::sql
