// Durability `full`: what the log of durable commits holds, and who finds it after a crash.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/file/anchor.h"
#include "engine/file/commit_log.h"
#include "engine/file/compact_file.h"
#include "engine/file/environment.h"
#include "engine/file/file_state.h"
#include "tests/engine/file/temporary_folder.h"
#include "tests/file_bytes.h"

namespace quire::engine {
namespace {

using namespace std::chrono_literals;

// More than make a process begin the log, and few enough to be done long before it is given up again, a
// second after the first.
constexpr int kEnough = 20;

const uint32_t kPageBytes = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));

class CommitLogTest : public testing::Test {
 protected:
  static std::unique_ptr<Environment> open(const std::string& path, const FileOptions& options = {}) {
    return value_of(Environment::open(path, options));
  }
  static Result<Table> table(WriteTransaction& transaction, std::string_view name = "t") {
    QUIRE_ASSIGN(const std::optional<Table> found, transaction.open_table(name));
    if (found) return *found;
    return transaction.create_table(name);
  }
  static void put(Environment& environment, std::string_view key, size_t bytes = 100) {
    ASSERT_TRUE(succeeds(environment.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const Table table, CommitLogTest::table(transaction));
      return transaction.put(table, key, std::string(bytes, 'x'));
    })));
  }
  static void erase(Environment& environment, std::string_view key) {
    ASSERT_TRUE(succeeds(environment.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const Table table, CommitLogTest::table(transaction));
      QUIRE_TRY(transaction.erase(table, key));
      return {};
    })));
  }
  // So many commits of their own: "a000", "a001", ...
  static void put_many(Environment& environment, std::string_view prefix, int count = kEnough) {
    for (int i = 0; i < count; ++i) put(environment, fmt::format("{}{:03}", prefix, i));
  }
  // A process that does this and dies without closing anything.
  static void in_process_that_dies(const std::function<void()>& act) {
    const pid_t child = fork();
    if (child == 0) {
      act();
      if (!testing::Test::HasFailure()) kill(getpid(), SIGKILL);
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  AnchorRecord anchor() const {
    const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    return value_of(read_anchor(file.number(), kPageBytes));
  }
  // Whether what is committed goes to the log, now or, on a machine that is slow, a little later.
  bool comes_to_use_log(Environment& environment) const {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!anchor().has_log && std::chrono::steady_clock::now() < deadline) put(environment, "z");
    return anchor().has_log;
  }
  // The power is cut, and of what was not waited for nothing has reached the disk: LMDB's pages behind the
  // anchor's last one are lost, and its meta pages are what they were.
  void lose_what_was_not_synced() const {
    const AnchorRecord record = anchor();
    if (!record.has_log) return;  // given up meanwhile: all is synced
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const auto kept = static_cast<std::streamoff>((record.last_page() + 1) * kPageBytes);
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path_));
    file.seekp(kept);
    for (std::streamoff at = kept; at < size; ++at) file.put('?');
    for (uint64_t page = 0; page < layout::kMetaPages; ++page) {
      file.seekp(static_cast<std::streamoff>(page * kPageBytes + layout::kPageHeader));
      file.write(record.meta.data(), static_cast<std::streamsize>(record.meta.size()));
    }
  }
  // How many keys there are with that prefix.
  int count(std::string_view prefix, const FileOptions& options = {}) const {
    const auto environment = open(path_, options);
    const auto table = value_of(environment->open_table("t"));
    if (!table) return 0;
    const ReadTransaction snapshot = value_of(environment->begin_read());
    FileCursor cursor = value_of(FileCursor::open(snapshot, *table));
    int count = 0;
    for (bool more = value_of(cursor.seek(prefix)); more && cursor.key().starts_with(prefix);
         more = value_of(cursor.next()))
      ++count;
    return count;
  }
  bool has_sound_pages() const { return value_of(open(path_)->check_pages(10, nullptr)).empty(); }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.quire");
};

TEST_F(CommitLogTest, APowerCutTakesNothing) {
  in_process_that_dies([&] {
    Environment& environment = *open(path_).release();
    put_many(environment, "a");
    EXPECT_TRUE(comes_to_use_log(environment));
  });
  lose_what_was_not_synced();
  EXPECT_EQ(count("a"), kEnough);
  EXPECT_FALSE(anchor().is_set) << "who opens the file has all of it reach the disk";
  EXPECT_TRUE(has_sound_pages());
  in_process_that_dies([&] { put_many(*open(path_).release(), "b"); });
  lose_what_was_not_synced();
  EXPECT_EQ(count("a"), kEnough);
  EXPECT_EQ(count("b"), kEnough);
}

TEST_F(CommitLogTest, ItHoldsWhatIsErasedAndWrittenAgain) {
  put_many(*open(path_), "a");
  in_process_that_dies([&] {
    Environment& environment = *open(path_).release();
    put_many(environment, "b");
    for (int i = 0; i < kEnough; i += 2) erase(environment, fmt::format("a{:03}", i));
    erase(environment, "b003");
    put(environment, "b003", 3000);
    ASSERT_TRUE(succeeds(environment.write([](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const Table table, CommitLogTest::table(transaction));
      QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table));
      QUIRE_TRY(cursor.seek("b004"));
      return transaction.erase(cursor);
    })));
    ASSERT_TRUE(succeeds(environment.write([](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const Table table, CommitLogTest::table(transaction));
      QUIRE_ASSIGN(FileCursor end, FileCursor::open(transaction, table));
      QUIRE_ASSIGN(const std::span<char> place, transaction.reserve_append(end, "c000", 4));
      std::ranges::fill(place, 'y');
      return {};
    })));
  });
  lose_what_was_not_synced();
  EXPECT_EQ(count("a"), kEnough / 2);
  EXPECT_EQ(count("b"), kEnough - 1);
  EXPECT_EQ(count("c"), 1);
  const auto environment = open(path_);
  const Table table = value_of(environment->open_table("t")).value();
  const ReadTransaction snapshot = value_of(environment->begin_read());
  EXPECT_EQ(value_of(snapshot.get(table, "b003")), std::string(3000, 'x'));
  EXPECT_EQ(value_of(snapshot.get(table, "c000")), "yyyy");
}

TEST_F(CommitLogTest, WhatWasUndoneWithinATransactionIsNotInIt) {
  in_process_that_dies([&] {
    Environment& environment = *open(path_).release();
    put_many(environment, "a");
    ASSERT_TRUE(succeeds(environment.write([](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const Table table, CommitLogTest::table(transaction));
      QUIRE_TRY(transaction.put(table, "b000", "kept"));
      const auto undone = transaction.nested([&](WriteTransaction& nested) -> Result<void> {
        QUIRE_TRY(nested.put(table, "b000", "undone"));
        QUIRE_TRY(nested.put(table, "b001", "undone"));
        return fail(ErrorCode::conflict, "no");
      });
      return undone ? fail(ErrorCode::internal, "it was not undone") : Result<void>();
    })));
  });
  lose_what_was_not_synced();
  EXPECT_EQ(count("b"), 1);
  const auto environment = open(path_);
  const Table table = value_of(environment->open_table("t")).value();
  EXPECT_EQ(value_of(value_of(environment->begin_read()).get(table, "b000")), "kept");
}

TEST_F(CommitLogTest, ItBeginsAnewWhenItIsFull) {
  constexpr int kCommits = 300;
  constexpr size_t kBytes = 10'000;  // three times the log
  in_process_that_dies([&] {
    Environment& environment = *open(path_).release();
    for (int i = 0; i < kCommits; ++i) put(environment, fmt::format("a{:03}", i), kBytes);
  });
  EXPECT_GT(anchor().sequence, 2U);
  lose_what_was_not_synced();
  EXPECT_EQ(count("a"), kCommits);
  EXPECT_TRUE(has_sound_pages());
}

TEST_F(CommitLogTest, ASmallFileStaysSmall) {
  const auto environment = open(path_);
  for (int i = 0; i < 1500; ++i) put(*environment, fmt::format("a{:03}", i % 10));
  EXPECT_LT(std::filesystem::file_size(path_), uint64_t{6} << 20);
}

TEST_F(CommitLogTest, ALargeTransactionAndOneThatMakesATableGoWithoutIt) {
  in_process_that_dies([&] {
    Environment& environment = *open(path_).release();
    put_many(environment, "a");
    put(environment, "b", 2 * ChangeList::kMostBytes);
    EXPECT_FALSE(anchor().is_set);
    put_many(environment, "c");
    EXPECT_TRUE(comes_to_use_log(environment));
    ASSERT_TRUE(succeeds(environment.write([](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(CommitLogTest::table(transaction, "u"));
      return {};
    })));
    EXPECT_FALSE(anchor().is_set);
    put_many(environment, "d");
    ASSERT_TRUE(succeeds(environment.write(
        [](WriteTransaction& transaction) -> Result<void> { return transaction.drop_table("u"); })));
    EXPECT_FALSE(anchor().is_set);
    put_many(environment, "e");
  });
  lose_what_was_not_synced();
  for (const char* prefix : {"a", "c", "d", "e"}) EXPECT_EQ(count(prefix), kEnough) << prefix;
  EXPECT_EQ(count("b"), 1);
}

TEST_F(CommitLogTest, AFewCommitsDoNotMakeIt) {
  {
    const auto environment = open(path_);
    for (const char* key : {"a", "b", "c"}) put(*environment, key);
    EXPECT_FALSE(anchor().is_set);
  }
  EXPECT_LT(std::filesystem::file_size(path_), CommitLog::kLeastBytes);
}

TEST_F(CommitLogTest, AClosedFileNeedsNone) {
  put_many(*open(path_), "a");
  EXPECT_FALSE(anchor().is_set);
  EXPECT_EQ(count("a", {.read_only = true}), kEnough);
}

TEST_F(CommitLogTest, ItIsGivenUpWhenNobodyWritesAnyMore) {
  const auto environment = open(path_);
  EXPECT_TRUE(comes_to_use_log(*environment));
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (anchor().is_set && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(anchor().is_set);
}

// A process that takes a step whenever it is told to, until it dies without closing anything.
class SteppedProcess {
 public:
  explicit SteppedProcess(const std::function<void(int)>& step) {
    EXPECT_EQ(pipe(done_), 0);
    EXPECT_EQ(pipe(go_on_), 0);
    child_ = fork();
    if (child_ != 0) return;
    char byte = 'x';
    close(go_on_[1]);
    for (int number = 0; read(go_on_[0], &byte, 1) == 1; ++number) {
      step(number);
      if (testing::Test::HasFailure() || write(done_[1], &byte, 1) != 1) _exit(1);
    }
    kill(getpid(), SIGKILL);
  }
  void step() {
    char byte = 'x';
    ASSERT_EQ(write(go_on_[1], &byte, 1), 1);
    ASSERT_EQ(read(done_[0], &byte, 1), 1);
  }
  void die() {
    for (const int end : {go_on_[0], go_on_[1], done_[0], done_[1]}) close(end);
    int status = 0;
    waitpid(child_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
  }

 private:
  int done_[2], go_on_[2];
  pid_t child_;
};

TEST_F(CommitLogTest, TwoProcessesWriteToOneLog) {
  put(*open(path_), "t");
  Environment* there = nullptr;
  SteppedProcess other([&](int number) {
    if (there == nullptr) there = open(path_).release();
    put(*there, fmt::format("b{:03}", number));
  });
  in_process_that_dies([&] {
    Environment& here = *open(path_).release();
    for (int i = 0; i < kEnough; ++i) {
      put(here, fmt::format("a{:03}", i));
      other.step();
    }
    EXPECT_TRUE(comes_to_use_log(here));
  });
  other.die();
  lose_what_was_not_synced();
  EXPECT_EQ(count("a"), kEnough);
  EXPECT_EQ(count("b"), kEnough);
  EXPECT_TRUE(has_sound_pages());
}

TEST_F(CommitLogTest, WhoDoesNotWaitForTheDiskDoesNotWriteBehindIt) {
  put(*open(path_), "t");
  Environment* there = nullptr;
  SteppedProcess relaxed([&](int number) {
    if (there == nullptr) there = open(path_, {.durability = Durability::relaxed}).release();
    put(*there, fmt::format("b{:03}", number));
  });
  in_process_that_dies([&] {
    Environment& here = *open(path_).release();
    put_many(here, "a");
    EXPECT_TRUE(comes_to_use_log(here));
    relaxed.step();
    EXPECT_TRUE(anchor().is_set);
    EXPECT_FALSE(anchor().has_log);
    put_many(here, "c");
    EXPECT_TRUE(comes_to_use_log(here));
  });
  relaxed.die();
  lose_what_was_not_synced();
  EXPECT_EQ(count("a"), kEnough);
  EXPECT_EQ(count("b"), 1) << "the anchor came after it";
  EXPECT_EQ(count("c"), kEnough);
}

TEST_F(CommitLogTest, AnUntrustedOpenAndACompactionFindAllOfIt) {
  in_process_that_dies([&] { put_many(*open(path_).release(), "a"); });
  lose_what_was_not_synced();
  EXPECT_EQ(count("a", {.is_untrusted = true}), kEnough);
  in_process_that_dies([&] { put_many(*open(path_).release(), "b"); });
  lose_what_was_not_synced();
  ASSERT_TRUE(succeeds(compact_file(path_)));
  EXPECT_EQ(count("a"), kEnough);
  EXPECT_EQ(count("b"), kEnough);
}

// Where the anchor's half of the log begins in the file: on the pages of the only value that is so long.
uint64_t place_of_log(const std::string& path, uint64_t sequence) {
  const std::string bytes = tests::file_bytes(path);
  for (uint64_t at = layout::kMetaPages * kPageBytes; at + kPageBytes <= bytes.size(); at += kPageBytes)
    if (layout::page_flags(&bytes[at]) == layout::kOverflowPage &&
        layout::page_number(&bytes[at]) == at / kPageBytes &&
        layout::overflow_run(&bytes[at]) == layout::overflow_pages(CommitLog::kLeastBytes, kPageBytes))
      return at + layout::kPageHeader + log_layout::half_at(sequence, CommitLog::kLeastBytes);
  ADD_FAILURE() << "no log";
  return 0;
}

TEST_F(CommitLogTest, ARecordThatIsNotWholeEndsIt) {
  in_process_that_dies([&] {
    Environment& environment = *open(path_).release();
    put_many(environment, "a");
    EXPECT_TRUE(comes_to_use_log(environment));
  });
  ASSERT_TRUE(anchor().has_log);
  lose_what_was_not_synced();
  const uint64_t place = place_of_log(path_, anchor().sequence);
  const std::string copy = folder_.path("copy");
  std::filesystem::copy_file(path_, copy);
  int before = kEnough + 1;
  for (const uint64_t at : {1300, 900, 500, 33}) {
    std::filesystem::copy_file(copy, path_, std::filesystem::copy_options::overwrite_existing);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(place + at));
    file.put('?');
    file.close();
    const int left = count("a");
    EXPECT_LT(left, before) << at;
    EXPECT_TRUE(has_sound_pages());
    before = left;
  }
  EXPECT_GT(before, 0) << "the anchor's";
}

TEST_F(CommitLogTest, ALogThatIsGoneIsToldOf) {
  in_process_that_dies([&] {
    Environment& environment = *open(path_).release();
    put_many(environment, "a");
    EXPECT_TRUE(comes_to_use_log(environment));
  });
  ASSERT_TRUE(anchor().has_log);
  lose_what_was_not_synced();
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(place_of_log(path_, anchor().sequence)));
  file << std::string(log_layout::kRecordsAt, '?');
  file.close();
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::corrupt, "the log of its last commits"));
}

}  // namespace
}  // namespace quire::engine
