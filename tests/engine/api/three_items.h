// A file with three items, and children of this process that do something with it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {

class ThreeItemsTest : public DatabaseTest {
 protected:
  ThreeItemsTest() : path_(file("a.quire")) {}

  // In a process of its own, which may give up rights and limits. False where it could not be tried.
  static bool run_apart(const std::function<bool()>& work) {
    constexpr int kSkipped = 77;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const bool was_tried = work();
      std::fflush(nullptr);
      _exit(HasFailure() ? 1 : was_tried ? 0 : kSkipped);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    const int code = WEXITSTATUS(status);
    EXPECT_TRUE(code == 0 || code == kSkipped);
    return code != kSkipped;
  }

  void fill(const std::string& path) {
    reopen(path);
    make("items", "/k");
    EXPECT_EQ(query("INSERT INTO items VALUES {id: '1', k: 1}, {id: '2', k: 2}, {id: '3', k: 3}"), "");
  }
  std::string count() { return query("SELECT VALUE COUNT(1) FROM items"); }
  void expect_sound() { EXPECT_EQ(database_->check().value(), "[]"); }

  std::string path_;
};

}  // namespace quire::tests
