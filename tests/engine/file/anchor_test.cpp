// Durability `relaxed`, and commits that are synced later: what a kill leaves, and what a power cut takes
// back.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "engine/file/anchor.h"
#include "engine/file/commit_log.h"
#include "engine/file/compact_file.h"
#include "engine/file/environment.h"
#include "engine/file/file_state.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using namespace std::chrono_literals;

// At once: _exit would wait under ThreadSanitizer, long enough for the anchor to be moved.
[[noreturn]] void die() {
  if (!testing::Test::HasFailure()) kill(getpid(), SIGKILL);
  _exit(1);
}

// A process that does one thing, waits while this one goes on, does another, and dies without closing
// anything.
class Companion {
 public:
  Companion(const std::function<void()>& first, const std::function<void()>& then) {
    EXPECT_EQ(pipe(ready_), 0);
    EXPECT_EQ(pipe(go_on_), 0);
    child_ = fork();
    char byte = 'x';
    if (child_ == 0) {
      first();
      if (write(ready_[1], &byte, 1) != 1 || read(go_on_[0], &byte, 1) != 1) _exit(1);
      then();
      die();
    }
    EXPECT_EQ(read(ready_[0], &byte, 1), 1);
  }
  void go_on() {
    const char byte = 'x';
    ASSERT_EQ(write(go_on_[1], &byte, 1), 1);
    int status = 0;
    waitpid(child_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    for (const int end : {ready_[0], ready_[1], go_on_[0], go_on_[1]}) close(end);
  }

 private:
  int ready_[2], go_on_[2];
  pid_t child_;
};

class AnchorTest : public testing::Test {
 protected:
  static constexpr FileOptions kRelaxed{.durability = Durability::relaxed};

  static std::unique_ptr<Environment> open(const std::string& path, const FileOptions& options = {}) {
    return value_of(Environment::open(path, options));
  }
  static void put(Environment& environment, std::string_view key, Sync sync = Sync::with_commit) {
    const auto work = [&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const std::optional<Table> found, transaction.open_table("t"));
      Table table;
      if (found) {
        table = *found;
      } else {
        QUIRE_ASSIGN(table, transaction.create_table("t"));
      }
      return transaction.put(table, key, std::string(500, 'x'));
    };
    ASSERT_TRUE(succeeds(environment.write(work, sync)));
  }
  // A process that does this and dies without closing anything.
  static void in_process_that_dies(const std::function<void()>& act) {
    const pid_t child = fork();
    if (child == 0) {
      act();
      die();
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  // Has the file open from its first key on, and puts the second when it goes on.
  Companion companion(const FileOptions& options, std::string_view first, std::string_view second) const {
    Environment* there = nullptr;
    return Companion(
        [&] {
          there = open(path_, options).release();
          put(*there, first);
        },
        [&] { put(*there, second); });
  }
  AnchorRecord record() const {
    const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    return value_of(read_anchor(file.number(), static_cast<uint32_t>(sysconf(_SC_PAGESIZE))));
  }
  // The machine goes down, and nothing of what was not synced is certain.
  void cut_power() const {
    AnchorRecord changed = record();
    if (!changed.is_set || changed.has_log) return;
    changed.boot.fill('x');
    const Descriptor file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(succeeds(write_anchor(file.number(), static_cast<uint32_t>(sysconf(_SC_PAGESIZE)), changed)));
  }
  std::string keys(const FileOptions& options = {}) const {
    const auto environment = open(path_, options);
    const auto table = value_of(environment->open_table("t"));
    if (!table) return "no table";
    const ReadTransaction snapshot = value_of(environment->begin_read());
    std::string keys;
    for (const std::string key : {"a", "b", "c", "d"})
      if (value_of(snapshot.get(*table, key))) keys += key;
    return keys;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.quire");
};

TEST_F(AnchorTest, AKilledProcessLosesNothing) {
  in_process_that_dies([&] {
    const auto environment = open(path_, kRelaxed).release();
    put(*environment, "a");
    put(*environment, "b");
  });
  EXPECT_TRUE(record().is_set);
  EXPECT_EQ(keys(), "ab");
  EXPECT_FALSE(record().is_set) << "who opens the file sees to it that all is on the disk";
}

TEST_F(AnchorTest, APowerCutTakesTheFileBackToTheAnchor) {
  put(*open(path_), "a");
  in_process_that_dies([&] {
    const auto environment = open(path_, kRelaxed).release();
    // Enough that pages of the anchor would be taken, were they not kept.
    for (int i = 0; i < 50; ++i) put(*environment, i % 2 == 0 ? "b" : "c");
  });
  cut_power();
  EXPECT_EQ(keys(), "a");
  put(*open(path_), "d");
  EXPECT_EQ(keys(), "ad");
  const auto environment = open(path_);
  EXPECT_TRUE(value_of(environment->check_pages(10, nullptr)).empty());
}

// Durability `full` from here on.

TEST_F(AnchorTest, WhatIsSyncedLaterIsTakenBackAsAWhole) {
  in_process_that_dies([&] {
    const auto environment = open(path_).release();
    put(*environment, "a");
    for (int i = 0; i < 50; ++i) put(*environment, i % 2 == 0 ? "b" : "c", Sync::later);
  });
  EXPECT_TRUE(record().is_set);
  cut_power();
  EXPECT_EQ(keys(), "a");
  EXPECT_FALSE(record().is_set);
}

TEST_F(AnchorTest, WhatIsSyncedLaterOutlivesItsProcess) {
  in_process_that_dies([&] {
    const auto environment = open(path_).release();
    put(*environment, "a");
    put(*environment, "b", Sync::later);
  });
  EXPECT_EQ(keys(), "ab");
}

TEST_F(AnchorTest, ASyncTakesAllAlong) {
  in_process_that_dies([&] {
    const auto environment = open(path_).release();
    for (const std::string_view key : {"a", "b", "c"}) put(*environment, key, Sync::later);
    EXPECT_TRUE(record().is_set);
    EXPECT_TRUE(succeeds(environment->sync()));
    EXPECT_FALSE(record().is_set);
    EXPECT_TRUE(succeeds(environment->sync())) << "nothing to do any more";
  });
  cut_power();
  EXPECT_EQ(keys(), "abc");
}

// Small commits go to a log, whose anchor is made behind what was to be synced later.
TEST_F(AnchorTest, DurableCommitsTakeAlongWhatIsSyncedLater) {
  in_process_that_dies([&] {
    const auto environment = open(path_).release();
    put(*environment, "a", Sync::later);
    for (int i = 0; i < 50; ++i) put(*environment, "b");
    put(*environment, "c", Sync::later);
    EXPECT_TRUE(record().is_set);
    for (int i = 0; i < 50; ++i) put(*environment, "d");
    EXPECT_TRUE(succeeds(environment->sync()));
  });
  cut_power();
  EXPECT_EQ(keys(), "abcd");
}

TEST_F(AnchorTest, WithoutDurabilityASyncIsNothing) {
  in_process_that_dies([&] {
    const auto environment = open(path_, kRelaxed).release();
    put(*environment, "a", Sync::later);
    EXPECT_TRUE(succeeds(environment->sync()));
    EXPECT_TRUE(record().is_set);
  });
  EXPECT_EQ(keys(), "a");
}

// `relaxed` again.

TEST_F(AnchorTest, WhatWasWrittenIsOnTheDiskSoonAfter) {
  put(*open(path_), "a");
  in_process_that_dies([&] {
    const auto environment = open(path_, kRelaxed).release();
    put(*environment, "b");
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (record().sequence < 2 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(50ms);
  });
  cut_power();
  EXPECT_EQ(keys(), "ab");
}

// Also what is in the log alone, while writers go on and begin its halves anew.
TEST_F(AnchorTest, WhatIsPendingIsOnTheDiskSoonAfter) {
  const std::string told = folder_.path("told");
  in_process_that_dies([&] {
    const auto environment = open(path_, kRelaxed).release();
    put(*environment, "a");
    const Table table = value_of(environment->open_table("t")).value();
    uint64_t count = 0;
    const auto put_next = [&] {
      const std::string record = std::to_string(++count) + std::string(1000, ' ');
      ASSERT_TRUE(succeeds(environment->write(
          [&](WriteTransaction& transaction) { return transaction.put(table, "count", record); })));
    };
    for (int i = 0; i < 100; ++i) put_next();
    // Whoever moves the anchor holds the write lock: the last that was done before it moved is behind it.
    const uint64_t sequence = record().sequence;
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    uint64_t done = count;
    while (record().sequence == sequence && std::chrono::steady_clock::now() < deadline) {
      done = count;
      put_next();
    }
    ASSERT_NE(record().sequence, sequence);
    std::ofstream(told) << done;
    const uint64_t tree = value_of(environment->facts()).commit_number;
    for (uint64_t i = 0; i < 2 * CommitLog::kLeastBytes / 1000; ++i) put_next();
    EXPECT_LT(value_of(environment->facts()).commit_number, tree + 100) << "they were not in the log alone";
  });
  cut_power();
  uint64_t done = 0;
  std::ifstream(told) >> done;
  const auto environment = open(path_);
  const ReadTransaction snapshot = value_of(environment->begin_read());
  const Table table = value_of(environment->open_table("t")).value();
  EXPECT_GE(std::stoull(std::string(value_of(snapshot.get(table, "count")).value())), done);
}

TEST_F(AnchorTest, AfterAClosingAllIsOnTheDisk) {
  put(*open(path_, kRelaxed), "a");
  EXPECT_FALSE(record().is_set);
  cut_power();
  EXPECT_EQ(keys(), "a");
}

TEST_F(AnchorTest, ADurableCommitTakesThoseBeforeItAlong) {
  in_process_that_dies([&] {
    const auto environment = open(path_, kRelaxed).release();
    put(*environment, "a");
    environment->strengthen(Durability::full);
    put(*environment, "b");
  });
  EXPECT_FALSE(record().is_set);
  cut_power();
  EXPECT_EQ(keys(), "ab");
}

// It has the file open all along, while another dies, whose pages nobody keeps any more.
TEST_F(AnchorTest, ADurableWriterOfAnotherProcessTakesAllAlong) {
  Companion durable = companion({}, "a", "c");
  in_process_that_dies([&] { put(*open(path_, kRelaxed).release(), "b"); });
  EXPECT_TRUE(record().is_set);
  durable.go_on();
  EXPECT_FALSE(record().is_set);
  cut_power();
  EXPECT_EQ(keys(), "abc");
}

// Or the pages of all that others write would not be used again as long as it lives.
TEST_F(AnchorTest, AProcessThatWritesNoMoreKeepsNoSnapshot) {
  put(*open(path_), "a");
  Companion idle = companion(kRelaxed, "b", "d");
  const auto here = open(path_, kRelaxed);
  EXPECT_EQ(value_of(here->facts()).readers, 1u);
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (value_of(here->facts()).readers > 0 && std::chrono::steady_clock::now() < end) put(*here, "c");
  EXPECT_EQ(value_of(here->facts()).readers, 0u);
  idle.go_on();  // it writes again, with a snapshot of its own
  cut_power();
  EXPECT_THAT(keys(), testing::StartsWith("abc"));
}

TEST_F(AnchorTest, TwoProcessesKeepOneAnchor) {
  put(*open(path_), "a");
  Companion other = companion(kRelaxed, "b", "c");
  in_process_that_dies([&] {
    const auto environment = open(path_, kRelaxed).release();
    for (int i = 0; i < 20; ++i) put(*environment, "d");
  });
  other.go_on();
  cut_power();
  const std::string left = keys();
  EXPECT_TRUE(left == "a" || left == "ab" || left == "abd" || left == "abcd") << left;
  const auto environment = open(path_);
  EXPECT_TRUE(value_of(environment->check_pages(10, nullptr)).empty());
}

TEST_F(AnchorTest, AfterAPowerCutItIsOpenedForWritingFirst) {
  put(*open(path_), "a");
  in_process_that_dies([&] { put(*open(path_, kRelaxed).release(), "b"); });
  EXPECT_TRUE(fails_with(Environment::open(path_, {.read_only = true}), ErrorCode::cannot_open,
                         "open it once for writing"))
      << "there may be commits in the log";
  cut_power();
  EXPECT_TRUE(fails_with(Environment::open(path_, {.read_only = true}), ErrorCode::cannot_open,
                         "open it once for writing"));
  EXPECT_EQ(keys(), "a");
  EXPECT_EQ(keys({.read_only = true}), "a");
}

TEST_F(AnchorTest, ACompactionComesAfterIt) {
  put(*open(path_), "a");
  in_process_that_dies([&] { put(*open(path_, kRelaxed).release(), "b"); });
  cut_power();
  ASSERT_TRUE(succeeds(compact_file(path_)));
  EXPECT_FALSE(record().is_set);
  EXPECT_EQ(keys(), "a");
}

TEST_F(AnchorTest, ARecordThatHoldsNoMetaPageIsNone) {
  put(*open(path_), "a");
  const auto page_bytes = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  AnchorRecord forged;
  forged.is_set = true;
  forged.boot.fill('x');
  forged.meta.fill('y');
  {
    const Descriptor file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(succeeds(write_anchor(file.number(), page_bytes, forged)));
  }
  EXPECT_FALSE(record().is_set);
  EXPECT_EQ(keys(), "a");
}

TEST_F(AnchorTest, ATornRecordLeavesTheOneBefore) {
  put(*open(path_), "a");
  in_process_that_dies([&] { put(*open(path_, kRelaxed).release(), "b"); });
  cut_power();  // a second record of the same anchor
  const AnchorRecord newest = record();
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const Descriptor file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  const auto place = static_cast<off_t>(newest.sequence % 2 * page_bytes + page_bytes / 2);
  ASSERT_EQ(pwrite(file.number(), "Q?", 2, place), 2);
  EXPECT_EQ(record().sequence, newest.sequence - 1);
  EXPECT_EQ(keys(), "ab") << "of this boot";
}

}  // namespace
}  // namespace quire::engine
