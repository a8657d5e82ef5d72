// Two copies of the library in one process, as two plug-ins bring them: neither knows what the other has
// open.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "quire/quire.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::tests {
namespace {

class Copy {
 public:
  explicit Copy(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
  }
  ~Copy() { dlclose(library_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  int open(const std::string& path, bool read_only = false) {
    quire_options options{};
    options.struct_size = sizeof options;
    options.read_only = read_only ? 1 : 0;
    return function<decltype(quire_open)>("quire_open")(path.c_str(), &options, &database_, &error);
  }
  int close() {
    return function<decltype(quire_close)>("quire_close")(std::exchange(database_, nullptr), &error);
  }
  int compact(const std::string& path) {
    return function<decltype(quire_compact)>("quire_compact")(path.c_str(), nullptr, &error);
  }
  // The code of the step.
  int run(std::string_view sql) {
    quire_statement* statement = nullptr;
    const int code = function<decltype(quire_prepare)>("quire_prepare")(database_, sql.data(), sql.size(),
                                                                        &statement, &error);
    if (code != QUIRE_OK) return code;
    const int stepped = function<decltype(quire_step)>("quire_step")(statement, &error);
    function<decltype(quire_finalize)>("quire_finalize")(statement);
    return stepped;
  }

  quire_error error{};

 private:
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  void* library_;
  quire_database* database_ = nullptr;
};

class TwoCopiesTest : public testing::Test {
 protected:
  static std::string copied(const std::string& to) {
    std::filesystem::copy_file(QUIRE_SHARED_LIBRARY, to);
    return to;
  }
  // Another process, which finds the file as it is on the disk.
  bool is_open_for_others() {
    const pid_t child = fork();
    if (child == 0) _exit(first_.compact(path_) == QUIRE_BUSY ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return status == 0;
  }

  engine::TemporaryFolder folder_;
  std::string path_ = folder_.path("a.quire");
  Copy first_{QUIRE_SHARED_LIBRARY};
  Copy second_{copied(folder_.path("libcopy.so"))};
};

TEST_F(TwoCopiesTest, TheSecondIsRefusedAndLeavesTheLocksOfTheFirst) {
  ASSERT_EQ(first_.open(path_), QUIRE_OK) << first_.error.message;
  ASSERT_EQ(first_.run("CREATE CONTAINER things"), QUIRE_DONE) << first_.error.message;
  for (const bool read_only : {false, true}) {
    EXPECT_EQ(second_.open(path_, read_only), QUIRE_MISUSE);
    EXPECT_NE(std::string_view(second_.error.message).find("another copy"), std::string_view::npos);
  }
  EXPECT_EQ(second_.compact(path_), QUIRE_MISUSE);
  EXPECT_TRUE(is_open_for_others());
  EXPECT_EQ(first_.run("INSERT INTO things VALUES {id: '1'}"), QUIRE_DONE) << first_.error.message;
  EXPECT_EQ(first_.close(), QUIRE_OK);
}

TEST_F(TwoCopiesTest, TheSecondOpensWhatTheFirstHasClosed) {
  ASSERT_EQ(first_.open(path_), QUIRE_OK) << first_.error.message;
  ASSERT_EQ(first_.run("CREATE CONTAINER things"), QUIRE_DONE) << first_.error.message;
  ASSERT_EQ(first_.close(), QUIRE_OK);
  ASSERT_EQ(second_.open(path_), QUIRE_OK) << second_.error.message;
  EXPECT_EQ(first_.open(path_), QUIRE_MISUSE);
  EXPECT_EQ(second_.run("INSERT INTO things VALUES {id: '1'}"), QUIRE_DONE) << second_.error.message;
  EXPECT_EQ(second_.close(), QUIRE_OK);
}

}  // namespace
}  // namespace quire::tests
