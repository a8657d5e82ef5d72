// Opening: what is accepted, what is refused and how, and that a refused file is left as it was.
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/file/environment.h"
#include "tests/engine/file/temporary_folder.h"
#include "tests/file_bytes.h"

namespace quire::engine {
namespace {

using testing::HasSubstr;

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Makes a table "t" with so many rows of 1,000 bytes.
Result<void> fill(Environment& environment, int rows) {
  return environment.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const Table table, transaction.create_table("t"));
    for (int i = 0; i < rows; ++i)
      QUIRE_TRY(transaction.put(table, std::to_string(i), std::string(1000, 'x')));
    return {};
  });
}

class Open : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.quire");
};

TEST_F(Open, MakesAFileAndFindsItAgain) {
  uint32_t number = 0;
  {
    auto environment = value_of(Environment::open(path_));
    number = environment->database_number();
    ASSERT_TRUE(succeeds(fill(*environment, 10)));
  }
  auto environment = value_of(Environment::open(path_, {.must_exist = true}));
  EXPECT_EQ(environment->database_number(), number);
  const Table table = value_of(environment->open_table("t")).value();
  const ReadTransaction snapshot = value_of(environment->begin_read());
  EXPECT_EQ(value_of(snapshot.count(table)), 10);
}

// As a program that becomes a service goes elsewhere.
TEST_F(Open, ItsFolderIsThatOfTheFileWhereverTheProcessGoes) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path(""));
  const auto environment = value_of(Environment::open("a.quire"));
  std::filesystem::current_path("/");
  EXPECT_EQ(std::filesystem::path(environment->folder() + "/"),
            std::filesystem::canonical(folder_.path("")) / "");
  std::filesystem::current_path(before);
  EXPECT_FALSE(value_of(Environment::open(Environment::kInMemory))->folder().empty());
}

TEST_F(Open, TakesAnEmptyFileAsNew) {
  write_file(path_, "");
  EXPECT_TRUE(succeeds(Environment::open(path_)));
}

// What a power cut may leave of a file that was being made: its first two pages, or parts of them.
TEST_F(Open, MakesAnewWhatWasNotMadeToTheEnd) {
  const std::string path = folder_.path("made.quire");
  MDB_env* environment = nullptr;
  ASSERT_EQ(mdb_env_create(&environment), 0);
  ASSERT_EQ(mdb_env_open(environment, path.c_str(), MDB_NOSUBDIR, 0600), 0);
  mdb_env_close(environment);
  const auto pages = std::filesystem::file_size(path);
  std::string first(pages, '\0');
  std::ifstream(path, std::ios::binary).read(first.data(), static_cast<std::streamsize>(pages));
  const auto half = pages / 2;
  const std::string zeros(half, '\0');
  for (const std::string& bytes : {first, first.substr(0, half), first.substr(0, 512), zeros, zeros + zeros,
                                   first.substr(0, half) + zeros, zeros + first.substr(half)}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    std::filesystem::remove(path + "-lock");
    const auto opened = Environment::open(path);
    EXPECT_TRUE(succeeds(opened)) << bytes.size();
  }
  // Of anything more it is not known whose it is.
  std::ofstream(path, std::ios::binary | std::ios::trunc) << zeros << zeros << zeros;
  EXPECT_TRUE(fails_with(Environment::open(path), ErrorCode::not_a_database));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "hello" << zeros;
  EXPECT_TRUE(fails_with(Environment::open(path), ErrorCode::not_a_database));
}

TEST_F(Open, RefusesAnEmptyFileReadOnly) {
  write_file(path_, "");
  EXPECT_TRUE(fails_with(Environment::open(path_, {.read_only = true}), ErrorCode::not_a_database, "empty"));
}

TEST_F(Open, RefusesWhatIsNotThere) {
  EXPECT_TRUE(
      fails_with(Environment::open(path_, {.must_exist = true}), ErrorCode::cannot_open, "no such file"));
  EXPECT_TRUE(
      fails_with(Environment::open(path_, {.read_only = true}), ErrorCode::cannot_open, "no such file"));
  EXPECT_TRUE(
      fails_with(Environment::open(folder_.path("no/such/a.quire")), ErrorCode::cannot_open, "folder"));
  EXPECT_TRUE(fails_with(Environment::open(""), ErrorCode::cannot_open));
  EXPECT_TRUE(fails_with(Environment::open(folder_.path("")), ErrorCode::cannot_open, "folder"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Open, RefusesOtherFilesAndLeavesThemAlone) {
  for (const std::string& bytes :
       {std::string("hello, world\n"), std::string(100'000, '\xAB'), std::string(200'000, '\0'),
        std::string("SQLite format 3\0 and so on", 26)}) {
    write_file(path_, bytes);
    EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::not_a_database, "not a Quire file"));
    EXPECT_EQ(tests::file_bytes(path_), bytes);
    EXPECT_FALSE(std::filesystem::exists(path_ + "-lock"));
  }
  EXPECT_TRUE(fails_with(Environment::open("/dev/null"), ErrorCode::not_a_database));
}

TEST_F(Open, RefusesAnLmdbFileOfOthers) {
  MDB_env* environment = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi table = 0;
  mdb_env_create(&environment);
  ASSERT_EQ(mdb_env_open(environment, path_.c_str(), MDB_NOSUBDIR, 0644), 0);
  ASSERT_EQ(mdb_txn_begin(environment, nullptr, 0, &transaction), 0);
  mdb_dbi_open(transaction, nullptr, 0, &table);
  MDB_val key{1, const_cast<char*>("k")}, record{1, const_cast<char*>("v")};
  mdb_put(transaction, table, &key, &record, 0);
  ASSERT_EQ(mdb_txn_commit(transaction), 0);
  mdb_env_close(environment);
  const std::string before = tests::file_bytes(path_);
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::not_a_database, "not one of Quire's"));
  EXPECT_EQ(tests::file_bytes(path_), before);
}

// Writes the version into the "format" row of table "meta".
void set_version(const std::string& path, uint32_t version) {
  auto environment = value_of(Environment::open(path));
  std::string row("quire\0\0\0", 8);
  row.append(reinterpret_cast<const char*>(&version), sizeof version);
  ASSERT_TRUE(succeeds(environment->write(
      [&](WriteTransaction& transaction) { return transaction.put(environment->meta(), "format", row); })));
}

TEST_F(Open, RefusesANewerFormat) {
  set_version(path_, kFormatVersion + 1);
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::newer_format,
                         "format " + std::to_string(kFormatVersion + 1)));
  EXPECT_TRUE(fails_with(Environment::open(path_, {.read_only = true}), ErrorCode::newer_format));
}

TEST_F(Open, UpgradesAnOlderFormatButNotReadOnly) {
  set_version(path_, 0);
  EXPECT_TRUE(
      fails_with(Environment::open(path_, {.read_only = true}), ErrorCode::read_only, "older format"));
  EXPECT_TRUE(succeeds(Environment::open(path_)));
  EXPECT_TRUE(succeeds(Environment::open(path_, {.read_only = true})));
}

TEST_F(Open, RefusesATruncatedFile) {
  {
    ASSERT_TRUE(succeeds(fill(*value_of(Environment::open(path_)), 1000)));
  }
  const auto whole = std::filesystem::file_size(path_);
  for (const auto size :
       {whole - 4096, whole / 2, uintmax_t{12'288}, uintmax_t{8192}, uintmax_t{4096}, uintmax_t{600}}) {
    std::filesystem::resize_file(path_, size);
    EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::truncated, "truncated")) << size;
    EXPECT_EQ(std::filesystem::file_size(path_), size);
  }
  std::filesystem::resize_file(path_, 20);
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::not_a_database));
}

// Pages taken and given back within one transaction are never written: the file may end before its last page.
TEST_F(Open, TakesAFileThatEndsInFreePages) {
  {
    auto environment = value_of(Environment::open(path_));
    ASSERT_TRUE(succeeds(fill(*environment, 10)));
    const Table table = value_of(environment->open_table("t")).value();
    const auto replace_rows = [&](WriteTransaction& transaction) -> Result<void> {
      for (int i = 0; i < 10; ++i)
        QUIRE_TRY(transaction.put(table, std::to_string(i), std::string(900, 'y')));
      return {};
    };
    // LMDB gives a page back within its transaction once it reuses pages of earlier ones.
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(succeeds(environment->write(replace_rows)));
    ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(replace_rows(transaction));
      QUIRE_TRY(transaction.put(table, "big", std::string(1 << 20, 'x')));
      QUIRE_TRY(transaction.erase(table, "big"));
      return {};
    })));
    const FileFacts facts = value_of(environment->facts());
    ASSERT_LT(facts.file_bytes, facts.used_bytes);
  }
  EXPECT_TRUE(succeeds(Environment::open(path_)));
}

TEST_F(Open, ReadOnlyReadsButDoesNotWrite) {
  {
    ASSERT_TRUE(succeeds(fill(*value_of(Environment::open(path_)), 3)));
  }
  const std::string before = tests::file_bytes(path_);
  {
    auto environment = value_of(Environment::open(path_, {.read_only = true}));
    EXPECT_TRUE(fails_with(fill(*environment, 1), ErrorCode::read_only, "read-only"));
    EXPECT_TRUE(fails_with(environment->begin_write(), ErrorCode::read_only));
    const Table table = value_of(environment->open_table("t")).value();
    EXPECT_EQ(value_of(value_of(environment->begin_read()).count(table)), 3);
  }
  EXPECT_EQ(tests::file_bytes(path_), before);
}

TEST_F(Open, TheSameFileTwiceInAProcessIsShared) {
  auto first = value_of(Environment::open(path_));
  ASSERT_TRUE(succeeds(fill(*first, 1)));
  std::filesystem::create_hard_link(path_, folder_.path("b.quire"));
  auto second = value_of(Environment::open(folder_.path("b.quire")));
  const Table table = value_of(second->open_table("t")).value();
  ASSERT_TRUE(succeeds(second->write([&](WriteTransaction& t) { return t.put(table, "k", "v"); })));
  first.reset();
  EXPECT_EQ(value_of(value_of(second->begin_read()).get(table, "k")), "v");
  auto reader = value_of(Environment::open(path_, {.read_only = true}));
  EXPECT_TRUE(fails_with(fill(*reader, 1), ErrorCode::read_only));
}

TEST_F(Open, AFileOpenReadOnlyInTheProcessIsNotOpenedForWriting) {
  {
    (void)value_of(Environment::open(path_));
  }
  auto reader = value_of(Environment::open(path_, {.read_only = true}));
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::misuse, "read-only"));
  reader.reset();
  EXPECT_TRUE(succeeds(Environment::open(path_)));
}

TEST_F(Open, InMemoryDatabasesAreTheirOwnAndLeaveNothing) {
  auto first = value_of(Environment::open(Environment::kInMemory));
  auto second = value_of(Environment::open(Environment::kInMemory));
  EXPECT_TRUE(succeeds(fill(*first, 1)));
  EXPECT_EQ(value_of(second->open_table("t")), std::nullopt);
  // Other processes may be making theirs: this one's files must have lost their names.
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string file = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (file.find("/quire-") != std::string::npos) {
      EXPECT_TRUE(file.ends_with(" (deleted)")) << file;
    }
  }
}

// As the tests may run as root, who is denied nothing: as another user from here on.
class OpenAsNobody : public Open {
 protected:
  void SetUp() override {
    {
      ASSERT_TRUE(succeeds(fill(*value_of(Environment::open(path_)), 3)));
    }
    std::filesystem::permissions(folder_.path(""), std::filesystem::perms(0755));
    std::filesystem::remove(path_ + "-lock");
  }
  void TearDown() override {
    if (is_nobody_) {
      EXPECT_EQ(seteuid(0), 0);
    }
  }
  void become_nobody() {
    if (geteuid() != 0) return;
    ASSERT_EQ(seteuid(65534), 0);
    is_nobody_ = true;
  }

 private:
  bool is_nobody_ = false;
};

TEST_F(OpenAsNobody, WithoutPermission) {
  chmod(path_.c_str(), 0444);
  become_nobody();
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::permission, "permission"));
}

TEST_F(OpenAsNobody, AFolderThatCannotBeWritten) {
  chmod(folder_.path("").c_str(), 0555);
  become_nobody();
  EXPECT_TRUE(fails_with(Environment::open(folder_.path("new.quire")), ErrorCode::permission));
}

TEST_F(OpenAsNobody, ReadsWithoutALockFileOnlyWhatNobodyMayWrite) {
  chmod(folder_.path("").c_str(), 0555);
  chmod(path_.c_str(), 0644);
  become_nobody();
  EXPECT_TRUE(fails_with(Environment::open(path_, {.read_only = true}), ErrorCode::permission, "lock file"));
  if (geteuid() == 65534) {
    ASSERT_EQ(seteuid(0), 0);
    chmod(path_.c_str(), 0444);
    ASSERT_EQ(seteuid(65534), 0);
  } else {
    chmod(path_.c_str(), 0444);
  }
  auto environment = value_of(Environment::open(path_, {.read_only = true}));
  const Table table = value_of(environment->open_table("t")).value();
  EXPECT_EQ(value_of(value_of(environment->begin_read()).count(table)), 3);
}

}  // namespace
}  // namespace quire::engine
