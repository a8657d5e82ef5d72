#include "tests/bench/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests/bench/must.h"

extern char** environ;

namespace quire::bench {
namespace {

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

pid_t start(const std::vector<std::string>& command, SpawnActions& actions) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  must(posix_spawnp(&child, arguments[0], actions.get(), nullptr, arguments.data(), environ) == 0,
       "cannot run " + command[0]);
  return child;
}

void must_have_succeeded(int status, const std::string& program) {
  must(WIFEXITED(status) && WEXITSTATUS(status) == 0, program + " failed");
}

uint64_t anonymous_memory_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  constexpr std::string_view kRow = "RssAnon:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(kRow)) return std::strtoull(line.c_str() + kRow.size(), nullptr, 10) * 1024;
  return 0;
}

}  // namespace

std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  must(pipe2(ends, O_CLOEXEC) == 0, "cannot make a pipe");
  SpawnActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  const pid_t child = start(command, actions);
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  must_have_succeeded(status, command[0]);
  return output;
}

void run_into(const std::string& path, const std::vector<std::string>& command) {
  SpawnActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  const pid_t child = start(command, actions);
  int status = 0;
  waitpid(child, &status, 0);
  must_have_succeeded(status, command[0]);
}

bool is_installed(const std::string& program) {
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "" : variable;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    if (access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0) return true;
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
  }
  return false;
}

uint64_t peak_anonymous_memory_of(const std::vector<std::string>& command) {
  SpawnActions actions;
  const pid_t child = start(command, actions);
  uint64_t peak = 0;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    peak = std::max(peak, anonymous_memory_of(child));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  must_have_succeeded(status, command[0]);
  return peak;
}

}  // namespace quire::bench
