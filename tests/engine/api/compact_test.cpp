// A compacted copy takes the file's place, and only when nobody has it open.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/engine/api/database_fixture.h"
#include "tests/file_bytes.h"

namespace quire::tests {
namespace {

class CompactTest : public DatabaseTest {
 protected:
  // A file of some free pages: most of what was loaded is deleted.
  std::string make_file() {
    const std::string path = file("a.quire");
    reopen(path);
    Container container = make("c", "/pk");
    std::stringstream lines;
    for (int i = 0; i < 20'000; ++i)
      lines << R"({"id":")" << i << R"(","pk":)" << i % 7 << R"(,"text":")" << std::string(100, 'x')
            << "\"}\n";
    EXPECT_TRUE(succeeds(container.import(lines)));
    query("CREATE INDEX texts ON c (text)");
    query("DELETE FROM c WHERE c.pk != 3");
    return path;
  }
  std::string everything() {
    return query("SELECT VALUE c FROM c") + query("SELECT VALUE COUNT(1) FROM c WHERE c.text > 'a'");
  }
};

TEST_F(CompactTest, APathIsToldWithTheReason) {
  EXPECT_TRUE(fails_with(Database::compact(""), QUIRE_CANNOT_OPEN, "the path of the database is empty"));
  std::string path = file("none");
  while (path.size() < 2000) path += "/none";
  EXPECT_TRUE(fails_with(Database::compact(path), QUIRE_CANNOT_OPEN, "...': there is no such file"));
  EXPECT_TRUE(fails_with(database_->backup(path), QUIRE_CANNOT_OPEN, "...: No such file"));
  path.append(5000, 'x');
  EXPECT_TRUE(fails_with(Database::open(path), QUIRE_CANNOT_OPEN, "the path is too long"));
}

// Or they could not open it any more.
TEST_F(CompactTest, TheFileStaysItsOwners) {
  if (geteuid() != 0) GTEST_SKIP() << "to give a file to somebody takes root";
  constexpr uid_t kSomebody = 65534;
  const std::string path = make_file();
  reopen(":memory:");
  ASSERT_EQ(chown(path.c_str(), kSomebody, kSomebody), 0);
  ASSERT_TRUE(succeeds(Database::compact(path)));
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kSomebody);
  EXPECT_EQ(status.st_gid, kSomebody);
}

TEST_F(CompactTest, TheFileShrinksAndHoldsTheSame) {
  const std::string path = make_file();
  const std::string before = everything();
  chmod(path.c_str(), 0640);
  reopen(":memory:");
  const auto done = Database::compact(path);
  ASSERT_TRUE(succeeds(done));
  EXPECT_LT(done->bytes_after * 2, done->bytes_before);
  EXPECT_EQ(std::filesystem::file_size(path), done->bytes_after);
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  chmod(path.c_str(), 0600);
  for (const char* name : {"backup.quire", "recovered.quire"}) {
    const std::string copy = file(name);
    if (name[0] == 'b') {
      reopen(path);
      EXPECT_TRUE(succeeds(database_->backup(copy)));
    } else {
      EXPECT_TRUE(succeeds(Database::recover(path, copy)));
    }
    ASSERT_EQ(stat(copy.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(path + "-compact"));
  reopen(path);
  EXPECT_EQ(everything(), before);
  EXPECT_EQ(query("INSERT INTO c VALUES {'id': 'new', 'pk': 1}"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.pk = 1"), "\"new\"\n");
}

TEST_F(CompactTest, TellsHowFarItIsAndEndsWhenToldTo) {
  const std::string path = make_file();
  const std::string before = everything();
  reopen(":memory:");
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
      names.insert(entry.path().filename());
    return names;
  };
  const auto files_before = files();
  const auto bytes_before = file_bytes(path);
  int calls = 0;
  EXPECT_TRUE(fails_with(Database::compact(path,
                                           [&](uint64_t done, uint64_t all) {
                                             EXPECT_LE(done, all);
                                             EXPECT_EQ(all, 2 * bytes_before.size());
                                             ++calls;
                                             return false;
                                           }),
                         QUIRE_INTERRUPTED, "the compaction was interrupted"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(files(), files_before);
  EXPECT_EQ(file_bytes(path), bytes_before);
  ASSERT_TRUE(succeeds(Database::compact(path, [&](uint64_t, uint64_t) { return ++calls > 0; })));
  EXPECT_GT(calls, 1);
  reopen(path);
  EXPECT_EQ(everything(), before);
}

TEST_F(CompactTest, ABackupEndsWhenItIsInterruptedAndLeavesNoFile) {
  make_file();
  const std::string copy = file("copy.quire");
  bool goes_on = false;
  database_->set_progress([&](uint64_t, uint64_t) { return goes_on; });
  EXPECT_TRUE(fails_with(database_->backup(copy), QUIRE_INTERRUPTED, "the copy was interrupted"));
  goes_on = true;
  database_->set_progress([&](uint64_t, uint64_t) {
    database_->interrupt();
    return true;
  });
  EXPECT_TRUE(fails_with(database_->backup(copy), QUIRE_INTERRUPTED, "the copy was interrupted"));
  database_->set_progress(nullptr);
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(copy).parent_path()))
    EXPECT_EQ(entry.path().string().find("copy"), std::string::npos) << entry.path();
  const std::string before = everything();
  ASSERT_TRUE(succeeds(database_->backup(copy)));
  reopen(copy);
  EXPECT_EQ(everything(), before);
}

TEST_F(CompactTest, ALeftOverCopyIsNoHindrance) {
  const std::string path = make_file();
  reopen(":memory:");
  std::ofstream(path + "-compact") << "half a file";
  ASSERT_TRUE(succeeds(Database::compact(path)));
  ASSERT_TRUE(succeeds(Database::compact(path)));
  reopen(path);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c"), "2857\n");
}

// A process that compacts is killed sooner or later, from before it begins until after it has ended.
TEST_F(CompactTest, KilledAtAnyMomentItLeavesAWholeFile) {
  const std::string path = make_file();
  const std::string before = everything();
  reopen(":memory:");
  std::filesystem::copy_file(path, file("original"));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(succeeds(Database::compact(path)));
  const std::chrono::duration<double, std::micro> whole = std::chrono::steady_clock::now() - start;
  constexpr int kKills = 16;
  for (int i = 0; i < kKills; ++i) {
    std::filesystem::copy_file(file("original"), path, std::filesystem::copy_options::overwrite_existing);
    const pid_t child = fork();
    if (child == 0) {
      static_cast<void>(Database::compact(path));
      _exit(0);
    }
    usleep(static_cast<useconds_t>(whole.count() * i / (kKills - 4)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    reopen(path);
    ASSERT_EQ(everything(), before) << i;
    ASSERT_EQ(database_->check().value(), "[]") << i;
    reopen(":memory:");
  }
  // The last moment before the copy takes the file's place.
  std::filesystem::copy_file(path, path + "-compact", std::filesystem::copy_options::overwrite_existing);
  std::fstream(path + "-lock", std::ios::in | std::ios::out | std::ios::binary).write("\0\0\0\0", 4);
  reopen(path);
  EXPECT_EQ(everything(), before);
  reopen(":memory:");
  EXPECT_TRUE(succeeds(Database::compact(path)));
}

TEST_F(CompactTest, AFileThatIsOpenIsLeftAlone) {
  const std::string path = make_file();
  EXPECT_TRUE(fails_with(Database::compact(path), QUIRE_BUSY, "is open"));
  reopen(":memory:");
  EXPECT_TRUE(succeeds(Database::compact(path)));
}

TEST_F(CompactTest, AFileThatAnotherProcessHasOpenIsLeftAlone) {
  const std::string path = make_file();
  reopen(":memory:");
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 'x';
    const auto opened = Database::open(path);
    const bool is_open = opened && write(ready[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1;
    _exit(is_open ? 0 : 1);
  }
  char byte = 'x';
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(fails_with(Database::compact(path), QUIRE_BUSY, "is open"));
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (const int end : {ready[0], ready[1], done[0], done[1]}) close(end);
  EXPECT_TRUE(succeeds(Database::compact(path)));
}

TEST_F(CompactTest, WhatIsNoDatabaseIsLeftAlone) {
  EXPECT_TRUE(fails_with(Database::compact(file("nothing.quire")), QUIRE_CANNOT_OPEN));
  EXPECT_TRUE(fails_with(Database::compact(file("")), QUIRE_CANNOT_OPEN) ||
              fails_with(Database::compact(file("")), QUIRE_NOT_A_DATABASE));
  std::ofstream(file("text.quire")) << std::string(10'000, 'x');
  EXPECT_TRUE(fails_with(Database::compact(file("text.quire")), QUIRE_NOT_A_DATABASE));
  std::ofstream(file("empty.quire")) << "";
  EXPECT_TRUE(fails_with(Database::compact(file("empty.quire")), QUIRE_NOT_A_DATABASE));
  EXPECT_EQ(std::filesystem::file_size(file("text.quire")), 10'000u);
  EXPECT_FALSE(std::filesystem::exists(file("text.quire-lock")));
}

}  // namespace
}  // namespace quire::tests
