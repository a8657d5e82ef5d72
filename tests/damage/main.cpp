// Damages a file again and again, and uses each in a process of its own.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/damage/mutation.h"
#include "tests/damage/probe.h"
#include "tests/damage/sample_file.h"
#include "tests/file_bytes.h"

namespace quire::tests {
namespace {

struct Settings {
  uint64_t files = 1000;
  uint64_t first = 0;
  uint64_t seed = 1;
  uint32_t processes = 2;
  bool is_trusted = false;
  std::string keep;  // a folder for files that were bad
  std::string file;  // to be used, in this process, in the place of damaged ones
};

constexpr int kItems = 900;
// Of the processor, since others may have it for long; and of the clock, for what waits.
constexpr unsigned kMostSeconds = 10;
constexpr unsigned kMostSecondsOfTheClock = 120;
constexpr int kBadProbe = 3;

class Folder {
 public:
  Folder() {
    const bool has_memory = std::filesystem::is_directory("/dev/shm");
    std::string path = has_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    path += "/quire-damage-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Run {
 public:
  explicit Run(const Settings& settings) : settings_(settings) {}

  int run() {
    if (!make_sample(sample_, SampleState::closed) || !make_sample(left_open_, SampleState::left_open))
      return 1;
    for (uint64_t i = settings_.first; i < settings_.first + settings_.files; ++i) {
      if (running_.size() >= settings_.processes) await();
      start(i);
    }
    while (!running_.empty()) await();
    fmt::print("{} damaged files: {} crashes, {} hangs, {} bad answers\n", settings_.files, crashes_, hangs_,
               bad_);
    return crashes_ + hangs_ + bad_ == 0 ? 0 : 1;
  }

 private:
  // In a process of its own, so that those that follow are forked from one without threads.
  bool make_sample(std::string& bytes, SampleState state) const {
    const std::filesystem::path path = folder_.path() / "sample.quire";
    const pid_t child = fork();
    if (child == 0) _exit(make_sample_file(path.string(), kItems, state) ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    bytes = file_bytes(path);
    std::filesystem::remove(path);
    std::filesystem::remove(path.string() + "-lock");
    return status == 0 && !bytes.empty();
  }
  // One in four is damaged after a crash.
  const std::string& sample_of(uint64_t number) const { return number % 4 == 3 ? left_open_ : sample_; }

  std::filesystem::path place(uint64_t number) const { return folder_.path() / std::to_string(number); }
  uint64_t seed_of(uint64_t number) const { return settings_.seed * 1'000'003 + number; }

  void start(uint64_t number) {
    const std::filesystem::path place = this->place(number);
    std::filesystem::create_directory(place);
    std::string bytes = sample_of(number);
    mutate(bytes, seed_of(number));
    std::ofstream(place / "a.quire", std::ios::binary) << bytes;
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      if (freopen((place / "errors").c_str(), "w", stderr) == nullptr) _exit(kBadProbe);
      const rlimit busy{kMostSeconds, kMostSeconds + 1};
      setrlimit(RLIMIT_CPU, &busy);
      alarm(kMostSecondsOfTheClock);
      _exit(probe_file((place / "a.quire").string(), settings_.is_trusted) ? 0 : kBadProbe);
    }
    running_[child] = number;
  }

  void await() {
    int status = 0;
    const pid_t child = wait(&status);
    const auto found = running_.find(child);
    if (found == running_.end()) return;
    if (status != 0) tell(found->second, status);
    std::filesystem::remove_all(place(found->second));
    running_.erase(found);
  }

  void tell(uint64_t number, int status) {
    const bool is_hang = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM);
    const bool is_bad = WIFEXITED(status) && WEXITSTATUS(status) == kBadProbe;
    ++(is_hang ? hangs_ : is_bad ? bad_ : crashes_);
    std::string bytes = sample_of(number);
    const std::string done = mutate(bytes, seed_of(number));
    fmt::print("file {} ({}): {}\n", number, done,
               is_hang               ? "more than 10 seconds"
               : is_bad              ? "a bad answer"
               : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                     : "stopped by a sanitizer");
    fmt::print("{}\n", file_bytes(place(number) / "errors").substr(0, 6000));
    if (settings_.keep.empty()) return;
    std::filesystem::create_directories(settings_.keep);
    std::ofstream(std::filesystem::path(settings_.keep) / fmt::format("{}.quire", number), std::ios::binary)
        << bytes;
  }

  const Settings& settings_;
  Folder folder_;
  std::string sample_, left_open_;
  std::map<pid_t, uint64_t> running_;
  uint64_t crashes_ = 0, hangs_ = 0, bad_ = 0;
};

}  // namespace
}  // namespace quire::tests

int main(int argc, char** argv) {
  quire::tests::Settings settings;
  CLI::App app{"Damages a database file in many ways, and uses each in a process of its own."};
  app.add_option("--files", settings.files, "how many");
  app.add_option("--first", settings.first, "the number of the first");
  app.add_option("--seed", settings.seed, "other numbers give other files");
  app.add_option("--processes", settings.processes, "at once");
  app.add_flag("--trusted", settings.is_trusted, "open the files by default, not as files from a stranger");
  app.add_option("--keep", settings.keep, "a folder for the files that were bad");
  app.add_option("--file", settings.file,
                 "use this one file, in this process: one that was kept, under a debugger");
  CLI11_PARSE(app, argc, argv);
  if (!settings.file.empty()) return quire::tests::probe_file(settings.file, settings.is_trusted) ? 0 : 1;
  return quire::tests::Run(settings).run();
}
