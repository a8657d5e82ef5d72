// quire-transfer: accounts, threads, processes, random kills; the sum is kept.
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/transfer/bank.h"
#include "tests/transfer/worker.h"

namespace {

using namespace quire::transfer;
using Clock = std::chrono::steady_clock;

struct Arguments {
  uint64_t seconds = 20;
  int processes = 3;
  int threads = 3;
  uint64_t seed = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
};

// A worker that runs now.
struct Worker {
  pid_t process = 0;
  std::string name;
};

// The parent opens the file only in processes of their own: a fork must not inherit an open database.
class Bank {
 public:
  explicit Bank(const Arguments& arguments) : arguments_(arguments), random_(arguments.seed) {
    std::string folder = (std::filesystem::temp_directory_path() / "quire-transfer-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for the test");
    folder_ = folder;
    void* const shared =
        mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no shared memory for the test");
    acknowledged_ = new (shared) Acknowledged{};
  }
  ~Bank() {
    for (const Worker& worker : workers_) kill_and_wait(worker.process);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  bool run() {
    bool is_right = in_a_process([](quire::Database& database) {
      make_bank(database);
      return true;
    });
    const auto end = Clock::now() + std::chrono::seconds(arguments_.seconds);
    for (int worker = 0; worker < arguments_.processes; ++worker) start(worker);
    while (is_right && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(pick(20, 400)));
      is_right = pick(1, 10) == 1 ? kill_all() : kill_one(pick(0, arguments_.processes - 1));
      is_right = is_right && acknowledged_->has_failed == 0;
    }
    is_right = kill_all() && is_right && check_the_end();
    fmt::print(
        "{} transfers in the ledger, {} kills, {} looks at the sum, {} writes given up at their deadline{}\n",
        entries_, kills_, acknowledged_->looks.load(), acknowledged_->given_up.load(),
        is_right ? "" : fmt::format("; seed {}: WRONG", arguments_.seed));
    return is_right;
  }

 private:
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  std::string path() const { return (folder_ / "bank.quire").string(); }

  void start(int number) {
    workers_.resize(static_cast<size_t>(arguments_.processes));
    Worker& worker = workers_[static_cast<size_t>(number)];
    worker.name = fmt::format("w{}", ++starts_);
    for (auto& transfers : acknowledged_->transfers[number]) transfers = 0;
    worker.process = fork();
    if (worker.process == 0)
      run_worker({.path = path(),
                  .name = worker.name,
                  .number = number,
                  .threads = arguments_.threads,
                  .seed = arguments_.seed + starts_ * 100,
                  .durability = starts_ % 2 == 0 ? quire::Durability::full : quire::Durability::relaxed},
                 *acknowledged_);
  }

  static int kill_and_wait(pid_t process) {
    int status = 0;
    if (process > 0 && kill(process, SIGKILL) == 0) waitpid(process, &status, 0);
    return status;
  }

  // False if it had ended by itself, or if the ledger lacks what it was told is done.
  bool end_worker(int number) {
    Worker& worker = workers_[static_cast<size_t>(number)];
    const int status = kill_and_wait(std::exchange(worker.process, 0));
    ++kills_;
    if (WIFEXITED(status)) {
      fmt::print("worker {} ended by itself with {}\n", worker.name, WEXITSTATUS(status));
      return false;
    }
    return true;
  }
  bool has_what_it_was_told(int number) {
    return in_a_process([&](quire::Database& database) {
      for (int thread = 0; thread < arguments_.threads; ++thread) {
        const uint64_t told = acknowledged_->transfers[number][thread];
        const std::string sql = fmt::format("SELECT VALUE COUNT(1) FROM ledger l WHERE l.worker = '{}-{}'",
                                            workers_[static_cast<size_t>(number)].name, thread);
        const auto there = number_from(database, sql);
        if (!there || (static_cast<uint64_t>(*there) >= told && static_cast<uint64_t>(*there) <= told + 1))
          continue;
        fmt::print("the ledger has {} transfers of a thread that was told of {}\n", *there, told);
        return false;
      }
      return fault_of_sum(database).empty();
    });
  }

  bool kill_one(int number) {
    if (!end_worker(number) || !has_what_it_was_told(number)) return false;
    start(number);
    return true;
  }
  // All at once: nobody is left who has the file open.
  bool kill_all() {
    for (const Worker& worker : workers_)
      if (worker.process > 0) kill(worker.process, SIGKILL);
    bool is_right = true;
    for (int number = 0; number < arguments_.processes; ++number) is_right = end_worker(number) && is_right;
    for (int number = 0; number < arguments_.processes; ++number)
      is_right = has_what_it_was_told(number) && is_right;
    for (int number = 0; is_right && number < arguments_.processes; ++number) start(number);
    return is_right;
  }

  bool check_the_end() {
    for (const Worker& worker : workers_) kill_and_wait(worker.process);
    workers_.clear();
    const bool is_right = in_a_process([&](quire::Database& database) {
      const std::string fault = fault_in_the_end(database);
      if (!fault.empty()) fmt::print("{}\n", fault);
      acknowledged_->transfers[0][0] =
          static_cast<uint64_t>(number_from(database, "SELECT VALUE COUNT(1) FROM ledger l").value_or(0));
      return fault.empty();
    });
    entries_ = acknowledged_->transfers[0][0];
    return is_right;
  }

  template <typename Work>
  bool in_a_process(const Work& work) {
    const pid_t child = fork();
    if (child == 0) {
      quire::Database database = open_bank(path());
      const bool is_right = work(database);
      fflush(stdout);
      _exit(is_right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  const Arguments& arguments_;
  std::mt19937_64 random_;
  std::filesystem::path folder_;
  Acknowledged* acknowledged_ = nullptr;
  std::vector<Worker> workers_;
  uint64_t starts_ = 0, kills_ = 0, entries_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Transfers between accounts by threads of processes that are killed at random; the sum is kept");
  app.add_option("--seconds", arguments.seconds, "how long (20)");
  app.add_option("--processes", arguments.processes, "how many at a time (3)")
      ->check(CLI::Range(1, kMostWorkers));
  app.add_option("--threads", arguments.threads, "of each (3)")->check(CLI::Range(1, kMostThreads));
  app.add_option("--seed", arguments.seed, "of the random choices");
  CLI11_PARSE(app, argc, argv);
  return Bank(arguments).run() ? 0 : 1;
}
