#include "tests/crash/children.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace quire::tests {

TestFolder::TestFolder() {
  const bool has_memory = access("/dev/shm", W_OK) == 0;
  folder_ =
      (has_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/quire-crash-XXXXXX";
  if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder for the test");
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  if (!is_kept_) std::filesystem::remove_all(folder_, ignored);
}

bool succeed_in_children(int children, const std::function<bool(int number)>& work) {
  std::vector<pid_t> processes;
  fflush(stdout);
  for (int number = 0; number < children; ++number) {
    const pid_t child = fork();
    if (child == 0) {
      const bool is_right = work(number);
      fflush(stdout);
      // Not _exit: a leak is found at the end.
      exit(is_right ? 0 : 1);
    }
    processes.push_back(child);
  }
  bool is_right = true;
  for (const pid_t process : processes) {
    int status = 0;
    if (waitpid(process, &status, 0) != process || !WIFEXITED(status)) {
      fmt::print("a process was ended by signal {}\n", WTERMSIG(status));
      is_right = false;
    } else if (WEXITSTATUS(status) != 0) {
      is_right = false;
    }
  }
  return is_right;
}

bool succeeds_in_child(const std::function<void()>& work) {
  return succeed_in_children(1, [&](int) {
    work();
    return true;
  });
}

}  // namespace quire::tests
