#include "tests/crash/random_kills.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/crash/children.h"
#include "tests/crash/file_check.h"
#include "tests/crash/record_run.h"
#include "tests/crash/workload.h"

namespace quire::tests {
namespace {

constexpr int kLongestMilliseconds = 40;
constexpr uint64_t kKillsBetweenBackupLooks = 10;

// In memory that the processes share.
struct Told {
  std::atomic<uint64_t> done[kWriters];  // steps of each writer
  std::atomic<uint64_t>
      backup[kWriters];  // the fingerprint of what the writer's last backup must hold; 0: none
};

class Killing {
 public:
  explicit Killing(const KillPlan& plan) : plan_(plan), random_(plan.seed) {
    void* const shared =
        mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no shared memory for the test");
    told_ = new (shared) Told{};
  }
  ~Killing() { munmap(told_, sizeof(Told)); }

  bool run() {
    bool is_right = succeed_in_children(1, [&](int) {
      auto database = Database::open(path(), options());
      return database && lay_out(*database, kWriters).has_value();
    });
    for (uint64_t kill = 0; is_right && kill < plan_.kills; ++kill) {
      run_and_kill(kill);
      is_right = has_what_was_told(kill);
    }
    uint64_t steps = 0;
    for (const uint64_t taken : taken_) steps += taken;
    fmt::print("{} kills, {} steps survived{}\n", plan_.kills, steps,
               is_right ? "" : fmt::format("; seed {}: WRONG", plan_.seed));
    if (!is_right) folder_.keep();
    return is_right;
  }

 private:
  std::string path() const { return folder_.path(kDatabaseName); }
  static Options options() {
    Options options;
    options.map_size = kSmallMap;
    return options;
  }

  void run_and_kill(uint64_t kill_number) {
    const auto moment = std::chrono::microseconds(random_() % (kLongestMilliseconds * 1000));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) work(kill_number);
    std::this_thread::sleep_for(moment);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return;
    if (WIFSIGNALED(status))
      fmt::print("kill {}: it was ended by signal {}\n", kill_number, WTERMSIG(status));
    has_failed_ = true;
  }

  // Goes on from what the last one left until it is killed; every other time the file is compacted first.
  [[noreturn]] void work(uint64_t kill_number) {
    // What fails here fails in the check as well, or ends this process before it is killed.
    if (kill_number % 4 == 3 && !Database::compact(path())) _exit(1);
    auto database = Database::open(path(), options());
    if (!database) {
      fmt::print("open: {}\n", database.error().message);
      fflush(stdout);
      _exit(1);
    }
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < kWriters; ++writer)
      threads.emplace_back([&, writer] { write(*database, writer); });
    for (;;) pause();
  }

  void write(Database& database, int writer) {
    auto desk = open_desk(database, writer, folder_.path(""));
    Holdings& holdings = holdings_[writer];
    for (uint64_t number = taken_[writer]; desk; ++number) {
      const Step step = next_step(holdings, plan_.seed, writer, number);
      if (step.is_backup) told_->backup[writer] = 0;
      if (const auto done = step.run(*desk); !done) {
        fmt::print("writer {}, step {}, {}: {}\n", writer, number, step.what, done.error().message);
        break;
      }
      told_->done[writer] = number + 1;
      if (step.is_backup) told_->backup[writer] = holdings.fingerprint(writer);
    }
    fflush(stdout);
    _exit(1);
  }

  // Looks at the file, and finds out where each writer is.
  bool has_what_was_told(uint64_t kill_number) {
    if (has_failed_) return false;
    std::vector<MayHold> may_hold;
    Holdings next[kWriters];
    for (int writer = 0; writer < kWriters; ++writer) {
      for (; taken_[writer] < told_->done[writer]; ++taken_[writer])
        next_step(holdings_[writer], plan_.seed, writer, taken_[writer]);
      next[writer] = holdings_[writer];
      next_step(next[writer], plan_.seed, writer, taken_[writer]);
      may_hold.push_back({writer, {holdings_[writer].fingerprint(writer), next[writer].fingerprint(writer)}});
    }
    return succeed_in_children(1, [&](int) { return look(may_hold, kill_number); }) && go_on(next);
  }

  bool look(const std::vector<MayHold>& may_hold, uint64_t kill_number) {
    std::string fault = fault_of_file(path(), may_hold, Look::read);
    for (int writer = 0; fault.empty() && writer < kWriters && kill_number % kKillsBetweenBackupLooks == 0;
         ++writer)
      if (const uint64_t fingerprint = told_->backup[writer]; fingerprint != 0)
        fault = fault_of_file(backup_path(folder_.path(""), writer), {{writer, {fingerprint}}}, Look::read);
    for (const MayHold& one : may_hold) {
      auto database = Database::open(path());
      // The step under way may have been done all the same.
      if (database && look_for_holdings(*database, one.writer).fingerprint == one.fingerprints[1])
        ++told_->done[one.writer];
    }
    if (!fault.empty()) fmt::print("after kill {}: {}; see {}\n", kill_number, fault, path());
    return fault.empty();
  }

  bool go_on(Holdings (&next)[kWriters]) {
    for (int writer = 0; writer < kWriters; ++writer)
      if (told_->done[writer] > taken_[writer]) {
        holdings_[writer] = std::move(next[writer]);
        ++taken_[writer];
      }
    return true;
  }

  const KillPlan& plan_;
  std::mt19937_64 random_;
  TestFolder folder_;
  Told* told_ = nullptr;
  Holdings holdings_[kWriters];
  uint64_t taken_[kWriters] = {};
  bool has_failed_ = false;
};

}  // namespace

bool survive_random_kills(const KillPlan& plan) {
  return Killing(plan).run();
}

}  // namespace quire::tests
