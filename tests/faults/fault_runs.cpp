#include "tests/faults/fault_runs.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "tests/crash/children.h"
#include "tests/crash/system_calls.h"
#include "tests/faults/allocations.h"
#include "tests/faults/scripted_work.h"

namespace quire::tests {
namespace {

constexpr unsigned kSecondsOfARun = 60;

// What fails, and what the database may say then.
struct FaultKind {
  std::string name;
  quire_durability durability;
  // From the place on, one or all; before the work begins.
  std::function<void(uint64_t place, bool goes_on)> begin;
  // How many places there were.
  std::function<uint64_t()> end;
  std::span<const int> answers;
};

// One run of the work.
class FaultRun {
 public:
  FaultRun(const FaultKind& kind, std::string folder) : kind_(kind), folder_(std::move(folder)) {}

  // Empty: all was as it must be.
  std::string run(uint64_t place, bool goes_on) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    Bench bench;
    bench.path = folder_ + "/faults.quire";
    bench.backup_path = folder_ + "/backup.quire";
    bench.recovered_path = folder_ + "/recovered.quire";
    bench.durability = kind_.durability;
    kind_.begin(place, goes_on);
    for (const WorkStep& step : work_steps()) {
      quire_error error{};
      if (step.run(bench, step, &error) == QUIRE_OK) continue;
      places_ = kind_.end();
      if (!failed_.empty())
        return fmt::format("'{}' fails without a fault: {}; it was '{}' that failed", step.what,
                           error.message, failed_);
      failed_ = fmt::format("{}: {}", step.what, error.message);
      if (std::ranges::find(kind_.answers, error.code) == kind_.answers.end())
        return fmt::format("'{}' fails with {}: {}", step.what, quire_code_name(error.code), error.message);
      if (std::string fault = take_again(bench, step); !fault.empty()) return fault;
    }
    if (failed_.empty()) places_ = kind_.end();
    bench.close();
    return fault_of_work(bench);
  }
  uint64_t places() const { return places_; }
  // The step that failed, and how.
  const std::string& failed() const { return failed_; }

 private:
  // Without the fault; where the database says that it must be opened again, after that.
  std::string take_again(Bench& bench, const WorkStep& step) {
    quire_error error{};
    if (step.run(bench, step, &error) == QUIRE_OK) return "";
    const std::string first = error.message;
    if (error.code == QUIRE_IO && bench.database != nullptr && bench.open_again(&error) == QUIRE_OK &&
        step.run(bench, step, &error) == QUIRE_OK)
      return "";
    return fmt::format("'{}' fails again, without a fault: {}; {}", step.what, first, error.message);
  }

  const FaultKind& kind_;
  std::string folder_;
  std::string failed_;  // the step
  uint64_t places_ = 0;
};

// Where the runs are, in memory that the processes share.
struct Place {
  std::atomic<uint64_t> at;
  std::atomic<uint64_t> all;
  std::atomic<uint64_t> runs;
};

// Runs from `place->at` on, until the work has no such place, or a fault was found.
bool run_from(const FaultKind& kind, const FaultPlan& plan, const std::string& folder, Place& place) {
  const auto step = [&] {
    const uint64_t last = std::min(plan.last, place.all.load());
    return plan.runs == 0 ? 1 : std::max<uint64_t>(1, (last - std::min(last, plan.first) + 1) / plan.runs);
  };
  for (;; place.at += step()) {
    if (place.at > std::min(plan.last, place.all.load())) return true;
    // Every third fault goes on until the step has failed.
    const bool goes_on = place.at % 3 == 2;
    alarm(kSecondsOfARun);
    FaultRun run(kind, folder);
    const std::string fault = run.run(place.at, goes_on);
    alarm(0);
    ++place.runs;
    if (fault.empty()) continue;
    fmt::print("{}, place {}{}, {}: {}\n", kind.name, place.at.load(), goes_on ? " and on" : "", run.failed(),
               fault);
    return false;
  }
}

// The C library loads what it unwinds a thread with when the first one is ended, and aborts where it cannot.
void end_a_thread() {
  pthread_t thread;
  const auto end = [](void*) -> void* { pthread_exit(nullptr); };
  if (pthread_create(&thread, nullptr, end, nullptr) == 0) pthread_join(thread, nullptr);
}

bool survive(const FaultKind& kind, const FaultPlan& plan) {
  const TestFolder folder;
  end_a_thread();
  void* const shared =
      mmap(nullptr, sizeof(Place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory for the test");
  Place& place = *new (shared) Place{};
  // How many places there are.
  bool is_right = succeed_in_children(1, [&](int) {
    FaultRun run(kind, folder.path("count"));
    const std::string fault = run.run(UINT64_MAX, false);
    if (!fault.empty()) fmt::print("{}\n", fault);
    place.all = run.places();
    return fault.empty();
  });
  place.at = plan.first;
  // A process that dies ends the test; it says where.
  if (is_right &&
      !succeed_in_children(1, [&](int) { return run_from(kind, plan, folder.path("run"), place); })) {
    fmt::print("{} at place {} of {}: WRONG\n", kind.name, place.at.load(), place.all.load());
    is_right = false;
  }
  fmt::print("{}: {} places, {} runs\n", kind.name, place.all.load(), place.runs.load());
  munmap(shared, sizeof(Place));
  return is_right;
}

// Has the calls of one kind fail.
class CallFaults final : public CallObserver {
 public:
  CallFaults(SystemCall kind, int code) : kind_(kind), code_(code) {}
  void begin(uint64_t place, bool goes_on) {
    count_ = 0;
    first_ = place;
    last_ = goes_on ? UINT64_MAX : place;
    observe_system_calls(this);
  }
  uint64_t end() {
    observe_system_calls(nullptr);
    return count_;
  }
  int fault(SystemCall kind) override {
    if (kind != kind_) return 0;
    ++count_;
    return count_ >= first_ && count_ <= last_ ? code_ : 0;
  }

 private:
  SystemCall kind_;
  int code_;
  uint64_t count_ = 0, first_ = 0, last_ = 0;
};

constexpr int kOutOfMemory[] = {QUIRE_OUT_OF_MEMORY};
// A call that fails may be one whose failure has a meaning of its own, as that of a folder that cannot be
// written to.
constexpr int kCallAnswers[] = {QUIRE_IO, QUIRE_NO_SPACE, QUIRE_OUT_OF_MEMORY, QUIRE_CANNOT_OPEN,
                                QUIRE_PERMISSION};

}  // namespace

bool survive_memory_faults(const FaultPlan& plan) {
  const FaultKind kind{
      .name = "memory",
      .durability = QUIRE_NONE,
      .begin = [](uint64_t place, bool goes_on) { fail_allocations(place, goes_on ? UINT64_MAX : place); },
      .end = [] { return stop_failing_allocations(); },
      .answers = kOutOfMemory};
  return survive(kind, plan);
}

bool survive_call_faults(const FaultPlan& plan) {
  struct Row {
    const char* name;
    SystemCall call;
    int code;
  };
  constexpr Row kRows[] = {
      {"open: too many files", SystemCall::open, EMFILE}, {"write: disk full", SystemCall::write, ENOSPC},
      {"write: I/O error", SystemCall::write, EIO},       {"sync: I/O error", SystemCall::sync, EIO},
      {"truncate: I/O error", SystemCall::truncate, EIO}, {"rename: I/O error", SystemCall::rename, EIO},
      {"mmap: no memory", SystemCall::map, ENOMEM}};
  bool is_right = true;
  for (const Row& row : kRows) {
    CallFaults faults(row.call, row.code);
    const FaultKind kind{.name = row.name,
                         .durability = QUIRE_FULL,
                         .begin = [&](uint64_t place, bool goes_on) { faults.begin(place, goes_on); },
                         .end = [&] { return faults.end(); },
                         .answers = kCallAnswers};
    is_right = survive(kind, plan) && is_right;
  }
  return is_right;
}

}  // namespace quire::tests
