// What a database lives on gives out: the folder takes no files, the process has no descriptors left, the
// disk is full, the lock file is gone, the clock goes back. Each time an error that says so, nothing lost,
// and all works again afterwards.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "tests/engine/api/test_clock.h"
#include "tests/engine/api/three_items.h"

namespace quire::tests {
namespace {

constexpr uid_t kNobody = 65534;

class SurroundingsTest : public ThreeItemsTest {
 protected:
  std::string folder() { return std::filesystem::path(path_).parent_path().string(); }
  std::set<std::string> files() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      names.insert(entry.path().filename().string());
    return names;
  }
  void expect_copies_work() {
    EXPECT_TRUE(succeeds(database_->backup(file("copy.quire"))));
    EXPECT_TRUE(succeeds(Database::compact(file("copy.quire"))));
    EXPECT_TRUE(succeeds(Database::recover(file("copy.quire"), file("saved.quire"))));
  }
};

// As valgrind does, which gives none of 64 GiB and calls it an invalid argument.
TEST_F(SurroundingsTest, WhereNoLargeMapCanBeASmallerOneServes) {
  fill(path_);
  database_.reset();
  const bool was_tried = run_apart([&] {
    constexpr auto kUpperHalfOfLength =
        static_cast<uint32_t>(offsetof(seccomp_data, args[1])) + sizeof(uint32_t);
    sock_filter refuse_maps_of_eight_gib[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kUpperHalfOfLength),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(refuse_maps_of_eight_gib), refuse_maps_of_eight_gib};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return false;
    reopen(path_);
    EXPECT_EQ(count(), "3\n");
    database_.reset();
    return true;
  });
  if (!was_tried) GTEST_SKIP() << "the system lets no process refuse calls to itself";
}

// As `ulimit -v` leaves it: of the address space that is had so far, and this much more.
bool limit_address_space(uint64_t more) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + more;
  const rlimit limit{most, most};
  return pages != 0 && setrlimit(RLIMIT_AS, &limit) == 0;
}

TEST_F(SurroundingsTest, WithLittleAddressSpaceCopiesAreMadeAndLastCommitsMadeAgain) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers need address space without end";
#endif
  constexpr uint64_t kLittle = uint64_t{700} << 20;
  fill(path_);
  database_.reset();
  // Ends without closing the file, so that its last commits are in the log alone.
  EXPECT_TRUE(run_apart([&] {
    if (!limit_address_space(kLittle)) return false;
    reopen(path_);
    const std::string text(100'000, 'x');
    for (int i = 0; i < 3'000; ++i)  // 300 MB, which takes a larger map than the first
      if (auto made =
              database_->container("items")->create(fmt::format(R"({{"id":"i{}","k":1,"t":"{}"}})", i, text));
          !made) {
        EXPECT_TRUE(succeeds(made));
        break;
      }
    EXPECT_EQ(query("DELETE FROM items i WHERE IS_DEFINED(i.t)"), "");
    EXPECT_EQ(query("INSERT INTO items VALUES {id: '4', k: 4}"), "");
    std::fflush(nullptr);
    _exit(HasFailure() ? 1 : 0);
  }));
  EXPECT_TRUE(run_apart([&] {
    if (!limit_address_space(kLittle)) return false;
    reopen(path_);
    EXPECT_EQ(count(), "4\n");
    expect_copies_work();
    database_.reset();
    return true;
  }));
}

// The file that is opened first would get their numbers, and what is printed would go into it.
TEST_F(SurroundingsTest, ClosedStandardDescriptorsAreNoneOfTheFiles) {
  fill(path_);
  database_.reset();
  run_apart([&] {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(number);
    auto opened = Database::open(path_);
    EXPECT_TRUE(succeeds(opened));
    for (const int number : {STDOUT_FILENO, STDERR_FILENO}) EXPECT_EQ(write(number, "text", 4), -1);
    return true;
  });
  reopen(path_);
  EXPECT_EQ(count(), "3\n");
  expect_sound();
}

// By whichever name it is opened: two lock files would let one process overwrite what the other reads.
TEST_F(SurroundingsTest, AFileHasOneLockFileWhereverLinksToItLie) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer has a child of a process with threads begin none";
#endif
  fill(path_);
  database_.reset();
  ASSERT_TRUE(std::filesystem::create_directory(file("links")));
  std::filesystem::create_symlink("../a.quire", file("links/second.quire"));
  std::filesystem::create_symlink("links/second.quire", file("first.quire"));
  std::filesystem::create_symlink("new.quire", file("to_new.quire"));
  reopen(file("first.quire"));
  ASSERT_FALSE(std::filesystem::exists(file("first.quire-lock")));
  ASSERT_FALSE(std::filesystem::exists(file("links/second.quire-lock")));
  EXPECT_EQ(count(), "3\n");
  run_apart([&] {
    const auto other = Database::open(path_);
    EXPECT_EQ(rows(other->prepare("INSERT INTO items VALUES {id: '4', k: 4}")), "");
    return true;
  });
  EXPECT_EQ(count(), "4\n");
  EXPECT_TRUE(fails_with(Database::compact(path_), QUIRE_BUSY));
  expect_sound();
  reopen(file("to_new.quire"));
  make("items", "/k");
  EXPECT_TRUE(std::filesystem::exists(file("new.quire-lock")));
  EXPECT_FALSE(std::filesystem::exists(file("to_new.quire-lock")));
}

TEST_F(SurroundingsTest, AFolderThatTakesNoFilesStillServesTheFileThatIsThere) {
  fill(path_);
  database_.reset();
  const bool was_tried = run_apart([&] {
    if (geteuid() == 0) {
      for (const std::string& owned : {folder(), path_, path_ + "-lock"})
        if (chown(owned.c_str(), kNobody, kNobody) != 0) return false;
      if (setgid(kNobody) != 0 || setuid(kNobody) != 0) return false;
    }
    if (access(path_.c_str(), R_OK | W_OK) != 0) return false;  // a folder above it is not for everybody
    EXPECT_EQ(chmod(folder().c_str(), 0500), 0);
    reopen(path_);
    EXPECT_EQ(query("INSERT INTO items VALUES {id: '4', k: 4}"), "");
    EXPECT_EQ(count(), "4\n");
    const auto before = files();
    EXPECT_TRUE(fails_with(Database::open(file("new.quire")), QUIRE_PERMISSION));
    EXPECT_TRUE(fails_with(database_->backup(file("copy.quire")), QUIRE_CANNOT_OPEN, "ermission"));
    EXPECT_TRUE(fails_with(Database::recover(path_, file("saved.quire")), QUIRE_PERMISSION));
    database_.reset();
    EXPECT_TRUE(fails_with(Database::compact(path_), QUIRE_PERMISSION));
    EXPECT_EQ(files(), before);
    reopen(path_);
    EXPECT_EQ(count(), "4\n");
    EXPECT_EQ(chmod(folder().c_str(), 0700), 0);
    expect_copies_work();
    expect_sound();
    database_.reset();
    return true;
  });
  if (!was_tried) GTEST_SKIP() << "no other user can be had";
  reopen(path_);
  EXPECT_EQ(count(), "4\n");
}

// Takes all descriptors that the process may have, and gives them back.
class TakenDescriptors {
 public:
  TakenDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{64, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int taken = open("/dev/null", O_RDONLY); taken >= 0; taken = open("/dev/null", O_RDONLY))
      taken_.push_back(taken);
  }
  ~TakenDescriptors() {
    for (const int taken : taken_) close(taken);
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  TakenDescriptors(const TakenDescriptors&) = delete;
  TakenDescriptors& operator=(const TakenDescriptors&) = delete;
  // So many are free again.
  void give_back(size_t count) {
    for (; count > 0 && !taken_.empty(); --count, taken_.pop_back()) close(taken_.back());
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

TEST_F(SurroundingsTest, WithoutDescriptorsLeftAnOpenDatabaseGoesOn) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "UBSan finds out through a pipe whether memory can be read, and has no descriptor for it";
#endif
  fill(path_);
  database_.reset();
  EXPECT_TRUE(run_apart([&] {
    reopen(path_);
    const auto before = files();
    {
      TakenDescriptors taken;
      EXPECT_EQ(query("INSERT INTO items VALUES {id: '4', k: 4}"), "");
      EXPECT_EQ(query("CREATE INDEX by_k ON items (k)"), "");
      EXPECT_EQ(count(), "4\n");
      EXPECT_FALSE(database_->backup(file("copy.quire")));
      EXPECT_FALSE(Database::compact(path_));
      EXPECT_FALSE(Database::recover(path_, file("saved.quire")));
      EXPECT_TRUE(fails_with(Database::open(file("new.quire")), QUIRE_CANNOT_OPEN, "too many files open"));
      // Wherever within an open it is that they end.
      for (int round = 0; round < 8; ++round) {
        auto opened = Database::open(file("new.quire"));
        if (!opened) {
          EXPECT_TRUE(fails_with(opened, QUIRE_CANNOT_OPEN, "too many files open"));
        }
        taken.give_back(1);
      }
      auto opened = Database::open(file("new.quire"));
      EXPECT_TRUE(succeeds(opened));
    }
    for (const std::string& made : files())
      EXPECT_TRUE(before.contains(made) || made.starts_with("new.quire")) << made;
    EXPECT_EQ(query("INSERT INTO items VALUES {id: '5', k: 5}"), "");
    expect_copies_work();
    expect_sound();
    database_.reset();
    return true;
  }));
  reopen(path_);
  EXPECT_EQ(count(), "5\n");
  expect_sound();
}

// As `ulimit -u` and the pids of a control group refuse them; root has no such limit.
bool can_have_no_threads() {
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return false;
  const rlimit none{1, 1};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) return false;
  try {
    std::thread([] {}).join();
    return false;
  } catch (const std::system_error&) {
    return true;
  }
}

// The work is done by the one that asks for it.
TEST_F(SurroundingsTest, WithoutThreadsImportsAndBuildsOfIndexesGoOn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer has threads of its own";
#endif
  constexpr size_t kItems = 30'000;
  const bool was_tried = run_apart([&] {
    if (geteuid() == 0 && chown(folder().c_str(), kNobody, kNobody) != 0) return false;
    // A folder above it may not be for everybody.
    if (!can_have_no_threads() || access(folder().c_str(), W_OK) != 0) return false;
    reopen(path_);
    make("items", "/k");
    EXPECT_EQ(query("CREATE INDEX by_n ON items (n)"), "");
    std::string lines;
    for (size_t i = 0; i < kItems; ++i)
      lines += fmt::format(R"({{"id":"i{}","k":{},"n":{},"text":"{:0>400}"}})", i, i % 7, i, i) + '\n';
    for (const bool upsert : {false, true}) {
      std::istringstream input(lines);
      ImportOptions options;
      options.upsert = upsert;
      const auto imported = database_->container("items")->import(input, options);
      EXPECT_TRUE(succeeds(imported));
      if (imported) {
        EXPECT_EQ(imported->items, kItems);
      }
    }
    EXPECT_EQ(query("CREATE INDEX by_text ON items (text)"), "");
    EXPECT_EQ(query("ALTER CONTAINER items WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}"), "");
    EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM items i WHERE i.n >= 29990"), "10\n");
    EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM items i WHERE i.n % 2 = 0"), "15000\n");
    expect_sound();
    EXPECT_TRUE(fails_with(database_->backup(file("copy.quire")), QUIRE_OUT_OF_MEMORY, "thread"));
    database_.reset();
    EXPECT_TRUE(fails_with(Database::compact(path_), QUIRE_OUT_OF_MEMORY, "thread"));
    return true;
  });
  if (!was_tried) GTEST_SKIP() << "threads cannot be refused";
}

bool mount_disk(const std::string& folder, const char* size, unsigned long flags) {
  return mount("tmpfs", folder.c_str(), "tmpfs", flags, size) == 0;
}

// For this process alone.
bool make_disk(const std::string& folder, const char* size) {
  if (unshare(CLONE_NEWNS) != 0) return false;
  (void)mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  std::filesystem::create_directory(folder);
  return mount_disk(folder, size, 0);
}

TEST_F(SurroundingsTest, OnAFullDiskWhatWasAcknowledgedStaysAndTheRestSaysSo) {
  const std::string disk = file("disk");
  const bool was_tried = run_apart([&] {
    if (!make_disk(disk, "size=4m")) return false;
    fill(disk + "/a.quire");
    Container items = database_->container("items").value();
    const auto item = [](int i, size_t bytes) {
      return R"({"id":"i)" + std::to_string(i) + R"(","k":1,"text":")" + std::string(bytes, 'x') + "\"}";
    };
    int acknowledged = 0;
    for (const size_t bytes : {100'000u, 1'000u}) {  // until not even a small one has room
      Result<ItemInfo> last = items.create(item(acknowledged, bytes));
      for (; last && acknowledged < 5'000; last = items.create(item(acknowledged, bytes))) ++acknowledged;
      EXPECT_TRUE(fails_with(last, QUIRE_NO_SPACE, "full"));
      EXPECT_GT(acknowledged, 25) << "no log is made where items need the room";
    }
    const std::string there = std::to_string(3 + acknowledged) + '\n';
    EXPECT_EQ(count(), there);
    EXPECT_THAT(query("CREATE INDEX by_text ON items (text)"),
                testing::AllOf(testing::StartsWith("no_space: "),
                               testing::AnyOf(testing::HasSubstr("goes on with it"),
                                              testing::HasSubstr("could not apply the last commits"))));
    EXPECT_TRUE(fails_with(database_->backup(disk + "/copy.quire"), QUIRE_NO_SPACE));
    EXPECT_FALSE(std::filesystem::exists(disk + "/copy.quire"));
    EXPECT_TRUE(fails_with(Database::recover(disk + "/a.quire", disk + "/saved.quire"), QUIRE_NO_SPACE));
    expect_sound();
    database_.reset();
    reopen(disk + "/a.quire");
    EXPECT_EQ(count(), there);
    {
      Container again = database_->container("items").value();
      EXPECT_TRUE(fails_with(again.create(item(acknowledged, 100'000)), QUIRE_NO_SPACE, "full"));
      EXPECT_TRUE(mount_disk(disk, "size=64m", MS_REMOUNT));
      EXPECT_TRUE(succeeds(again.create(item(acknowledged, 100'000))));
    }
    EXPECT_EQ(count(), std::to_string(4 + acknowledged) + '\n');
    EXPECT_EQ(query("DROP INDEX IF EXISTS by_text ON items"), "");
    EXPECT_EQ(query("CREATE INDEX by_text ON items (text)"), "");
    EXPECT_TRUE(succeeds(database_->backup(disk + "/copy.quire")));
    expect_sound();
    database_.reset();
    return true;
  });
  if (!was_tried) GTEST_SKIP() << "no disk can be mounted";
}

// One commit of that size is enough for a log: the disk has no room for it, given up it was begun again, and
// again.
TEST_F(SurroundingsTest, AFullDiskRefusesALargeCommitAndAnOpenThatHasCommitsToMakeAgain) {
  const std::string disk = file("disk");
  const std::string path = disk + "/a.quire";
  const bool was_tried = run_apart([&] {
    if (!make_disk(disk, "size=32m")) return false;
    fill(path);
    int acknowledged = 0;
    const auto fill_up = [&](bool opens_for_each) {
      for (;;) {
        const std::string item = R"({"id":"i)" + std::to_string(acknowledged) + R"(","k":1,"text":")" +
                                 std::string(1'300'000, 'x') + "\"}";
        const Result<ItemInfo> created = database_->container("items")->create(item);
        EXPECT_TRUE(created || fails_with(created, QUIRE_NO_SPACE, "full"));
        if (!created) return;
        ++acknowledged;
        if (opens_for_each) reopen(path);
      }
    };
    fill_up(false);  // the last of them are in the log
    database_.reset();
    EXPECT_TRUE(fails_with(Database::open(path), QUIRE_NO_SPACE, "full"));
    EXPECT_TRUE(mount_disk(disk, "size=48m", MS_REMOUNT));
    reopen(path);
    fill_up(true);
    EXPECT_EQ(count(), std::to_string(3 + acknowledged) + '\n');
    expect_sound();
    EXPECT_TRUE(mount_disk(disk, "size=64m", MS_REMOUNT));
    EXPECT_EQ(query("INSERT INTO items VALUES {id: '4', k: 4, text: REPLICATE('x', 1300000)}"), "");
    expect_sound();
    database_.reset();
    return true;
  });
  if (!was_tried) GTEST_SKIP() << "no disk can be mounted";
}

TEST_F(SurroundingsTest, WhoseLockFileWasDeletedGoesOnAloneUntilItCloses) {
  fill(path_);
  ASSERT_EQ(unlink((path_ + "-lock").c_str()), 0);
  EXPECT_EQ(query("INSERT INTO items VALUES {id: '4', k: 4}"), "");
  {
    auto second = Database::open(path_);
    ASSERT_TRUE(succeeds(second));
    EXPECT_EQ(rows(second->prepare("INSERT INTO items VALUES {id: '5', k: 5}")), "");
  }
  EXPECT_EQ(count(), "5\n");
  EXPECT_TRUE(succeeds(database_->backup(file("copy.quire"))));
  expect_sound();
  reopen(path_);
  EXPECT_EQ(query("INSERT INTO items VALUES {id: '6', k: 6}"), "");
  EXPECT_TRUE(std::filesystem::exists(path_ + "-lock"));
  reopen(file("copy.quire"));
  EXPECT_EQ(count(), "5\n");
}

// What expires goes by the time that it was written at; an end that was seen once may be seen again.
TEST_F(SurroundingsTest, AClockThatStepsBackKeepsWhatHasNotExpired) {
  reopen(path_);
  set_time(database_->c_handle(), 1'000'000);
  ASSERT_EQ(query("CREATE CONTAINER items PARTITION KEY (/k) WITH {defaultTtl: 60}"), "");
  ASSERT_EQ(query("INSERT INTO items VALUES {id: '1', k: 1}, {id: '2', k: 1, ttl: -1}"), "");
  set_time(database_->c_handle(), 900'000);
  EXPECT_EQ(count(), "2\n");
  EXPECT_EQ(query("INSERT INTO items VALUES {id: '3', k: 1}"), "");
  EXPECT_EQ(query("PRAGMA erase_expired"), "0\n");
  EXPECT_EQ(count(), "3\n");
  set_time(database_->c_handle(), 900'060);
  EXPECT_EQ(query("SELECT VALUE i.id FROM items i ORDER BY i.id"), "\"1\"\n\"2\"\n");
  set_time(database_->c_handle(), 1'000'060);
  EXPECT_EQ(query("SELECT VALUE i.id FROM items i"), "\"2\"\n");
  EXPECT_EQ(query("PRAGMA erase_expired"), "2\n");
  expect_sound();
}

}  // namespace
}  // namespace quire::tests
