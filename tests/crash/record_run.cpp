#include "tests/crash/record_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "tests/crash/tape.h"
#include "tests/crash/workload.h"

namespace quire::tests {
namespace {

// With relaxed durability what was done is on the disk soon after.
constexpr std::chrono::milliseconds kUntilAnchored{1300};

[[noreturn]] void give_up(const std::string& what, const Error& error) {
  fmt::print("{}: {}: {}\n", what, error.name(), error.message);
  fflush(stdout);
  _exit(1);
}

template <typename T>
T must(Result<T> result, const std::string& what) {
  if (!result) give_up(what, result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

class Run {
 public:
  Run(std::string folder, const std::string& tape_path, uint64_t seed)
      : folder_(std::move(folder)), tape_(folder_, tape_path), seed_(seed) {}

  // Opens the database and lets the writers take steps, at the same time.
  void take_steps(uint64_t steps, Durability durability) {
    Options options;
    options.durability = durability_ = durability;
    options.map_size = kSmallMap;
    Database database = must(Database::open(path(), options), "open");
    if (!is_laid_out_) {
      tape_.note(kOpened, 0);
      must(lay_out(database, kWriters), "lay out");
      for (int writer = 0; writer < kWriters; ++writer) note_holdings(writer, kBegins);
      for (int writer = 0; writer < kWriters; ++writer) tape_.note(kDone, static_cast<uint64_t>(writer));
      is_laid_out_ = true;
    }
    {
      std::vector<std::jthread> threads;
      for (int writer = 0; writer < kWriters; ++writer)
        threads.emplace_back([&, writer] { write(database, writer, steps); });
    }
    must(database.close(), "close");
  }
  void compact() { must(Database::compact(path()), "compact"); }
  void note(const char* name, uint64_t number) { tape_.note(name, number); }

 private:
  std::string path() const { return folder_ + "/" + kDatabaseName; }

  void note_holdings(int writer, const char* name) {
    tape_.note(name, static_cast<uint64_t>(writer),
               fmt::format("{}", holdings_[static_cast<size_t>(writer)].fingerprint(writer)));
  }

  void write(Database& database, int writer, uint64_t steps) {
    Desk desk = must(open_desk(database, writer, folder_), "open a container");
    uint64_t& number = taken_[static_cast<size_t>(writer)];
    const uint64_t end = number + steps, middle = end - steps / 2;
    for (; number < end; ++number) {
      if (number == middle && durability_ == Durability::relaxed) std::this_thread::sleep_for(kUntilAnchored);
      const Step step = next_step(holdings_[static_cast<size_t>(writer)], seed_, writer, number);
      if (step.is_backup) tape_.note(kNoBackup, static_cast<uint64_t>(writer));
      note_holdings(writer, kBegins);
      must(step.run(desk), fmt::format("writer {}, step {}, {}", writer, number, step.what));
      tape_.note(kDone, static_cast<uint64_t>(writer));
      if (step.is_backup) note_holdings(writer, kBackup);
    }
  }

  std::string folder_;
  TapeRecorder tape_;
  uint64_t seed_;
  Durability durability_ = Durability::full;
  bool is_laid_out_ = false;
  Holdings holdings_[kWriters];
  uint64_t taken_[kWriters] = {};
};

}  // namespace

void record_run(const std::string& folder, const std::string& tape_path, uint64_t steps, uint64_t seed) {
  {
    Run run(folder, tape_path, seed);
    run.take_steps(steps, Durability::full);
    run.compact();
    run.note(kRelaxed, 1);
    run.take_steps(steps, Durability::relaxed);
    run.note(kRelaxed, 0);
    run.note(kSafe, 0);
    run.take_steps(steps / 4, Durability::full);
  }
  fflush(stdout);
  _exit(0);
}

}  // namespace quire::tests
