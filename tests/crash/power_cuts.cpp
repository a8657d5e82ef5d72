#include "tests/crash/power_cuts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/children.h"
#include "tests/crash/disk.h"
#include "tests/crash/file_check.h"
#include "tests/crash/record_run.h"
#include "tests/crash/restart.h"
#include "tests/crash/tape.h"
#include "tests/crash/tape_marks.h"
#include "tests/crash/workload.h"

namespace quire::tests {
namespace {

constexpr unsigned kSecondsOfALook = 30;
constexpr int kLookers = 2;
// Looking at a backup, and writing to the file, cost as much again: every so many looks.
constexpr uint64_t kLooksBetweenBackups = 5;
constexpr uint64_t kLooksBetweenWrites = 4;

// What the run was told, up to a place on the tape.
class Promises {
 public:
  void hear(const TapeEntry& note) {
    if (note.name == kOpened) is_opened_ = true;
    if (note.name == kRelaxed) is_relaxed_ = note.offset != 0;
    if (note.name == kSafe || note.name == kRelaxed)
      for (Writer& writer : writers_) writer.safe = writer.done;
    if (note.name == kBegins) writers_[note.offset].holdings.push_back(std::stoull(note.text));
    if (note.name == kDone) writers_[note.offset].done = writers_[note.offset].holdings.size();
    if (note.name == kNoBackup) backups_.erase(static_cast<int>(note.offset));
    if (note.name == kBackup) backups_[static_cast<int>(note.offset)] = std::stoull(note.text);
  }

  // An anchor that reaches the disk takes along what was done when it was written. Where a log goes on behind
  // its commit, that is what was done when the log was begun: until its half is begun anew the records count,
  // too, but no anchor need come before that.
  void see(const TapeEntry& call) {
    if (const auto commit = anchored_commit(call)) {
      anchored_file_ = call.file;
      const auto before_log = before_logs_.find({call.file, *commit});
      const Done anchored = before_log == before_logs_.end() ? done() : before_log->second;
      for (size_t number = 0; number < kWriters; ++number) writers_[number].anchored = anchored[number];
    }
    if (const auto commit = commit_before_log(call)) before_logs_[{call.file, *commit}] = done();
    if (call.kind == TapeEntry::Kind::synced && anchored_file_ == call.file) {
      anchored_file_.reset();
      for (Writer& writer : writers_) writer.safe = std::max(writer.safe, writer.anchored);
    }
  }

  bool is_opened() const { return is_opened_; }
  std::vector<MayHold> may_hold(PowerCut cut) const {
    std::vector<MayHold> all;
    for (int number = 0; number < kWriters; ++number) {
      const Writer& writer = writers_[number];
      const size_t least = is_relaxed_ && cut != PowerCut::kept ? writer.safe : writer.done;
      if (least == 0) continue;  // its container may not be there
      all.push_back(
          {number, {writer.holdings.begin() + static_cast<ptrdiff_t>(least) - 1, writer.holdings.end()}});
    }
    return all;
  }
  const std::map<int, uint64_t>& backups() const { return backups_; }

 private:
  struct Writer {
    std::vector<uint64_t> holdings;  // after each step that was begun, the state before the first among them
    size_t done = 0;                 // so many of them
    size_t safe = 0;                 // so many are on the disk for certain
    size_t anchored = 0;
  };
  using Done = std::array<size_t, kWriters>;
  Done done() const {
    Done done{};
    std::ranges::transform(writers_, done.begin(), &Writer::done);
    return done;
  }

  bool is_opened_ = false;
  bool is_relaxed_ = false;
  std::optional<uint64_t> anchored_file_;
  std::map<std::pair<uint64_t, uint64_t>, Done> before_logs_;  // by file and commit
  Writer writers_[kWriters];
  std::map<int, uint64_t> backups_;
};

// A folder with the files of an image, written anew for each look.
class Restored {
 public:
  explicit Restored(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void write(const FolderImage& image) const {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    for (const auto& [name, bytes] : image)
      std::ofstream(folder_ / name, std::ios::binary)
          .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

std::string fault_of_image(const Restored& restored, const Promises& promises, PowerCut cut, uint64_t look) {
  const std::string path = restored.path(kDatabaseName);
  std::vector<MayHold> may_hold = promises.may_hold(cut);
  if (cut != PowerCut::kept) as_after_restart(path);
  if (promises.is_opened() && !std::filesystem::exists(path)) return "the file is gone";
  std::string fault =
      fault_of_file(path, may_hold, look % kLooksBetweenWrites == 0 ? Look::write_afterwards : Look::read);
  if (!fault.empty() || look % kLooksBetweenBackups != 0) return fault;
  for (const auto& [writer, fingerprint] : promises.backups()) {
    const std::string backup = backup_path(restored.folder().string(), writer);
    if (!std::filesystem::exists(backup)) return "a backup is gone: " + backup;
    fault = fault_of_file(backup, {{writer, {fingerprint}}}, Look::read);
    if (!fault.empty()) return fmt::format("backup {}: {}", backup, fault);
  }
  return "";
}

class Looker {
 public:
  Looker(const PowerCutPlan& plan, const std::vector<TapeEntry>& tape, std::filesystem::path folder,
         uint64_t points)
      : plan_(plan), tape_(tape), restored_(std::move(folder)), states_(points * kPowerCuts) {}

  // The states whose turn among those looked at is `number` modulo the lookers.
  bool look(uint64_t number) {
    uint64_t state = 0, looked = 0;
    for (const TapeEntry& entry : tape_) {
      if (!is_kill_point(entry)) {
        promises_.hear(entry);
        continue;
      }
      for (int cut = 0; cut < kPowerCuts; ++cut, ++state) {
        if (!is_chosen(state) || looked++ % kLookers != number) continue;
        if (!look_at(entry, static_cast<PowerCut>(cut), state, looked)) return false;
      }
      promises_.see(entry);
      disk_.play(entry);
    }
    return true;
  }

 private:
  bool is_chosen(uint64_t state) const {
    if (plan_.looks == 0 || plan_.looks >= states_) return true;
    return state * plan_.looks / states_ != (state + 1) * plan_.looks / states_;
  }

  bool look_at(const TapeEntry& entry, PowerCut cut, uint64_t state, uint64_t look) {
    std::mt19937_64 random(plan_.seed * 7'919 + state);
    restored_.write(disk_.after_cut(entry, cut, random));
    alarm(kSecondsOfALook);
    const std::string fault = fault_of_image(restored_, promises_, cut, look);
    alarm(0);
    if (fault.empty()) return true;
    // As it was when it was looked at.
    std::mt19937_64 again(plan_.seed * 7'919 + state);
    restored_.write(disk_.after_cut(entry, cut, again));
    fmt::print("state {} of {} (call {} of the tape, of kind {}, cut {}): {}; see {}\n", state, states_,
               &entry - tape_.data(), static_cast<int>(entry.kind), static_cast<int>(cut), fault,
               restored_.folder().string());
    fflush(stdout);
    return false;
  }

  const PowerCutPlan& plan_;
  const std::vector<TapeEntry>& tape_;
  Restored restored_;
  uint64_t states_;
  Disk disk_;
  Promises promises_;
};

}  // namespace

bool survive_power_cuts(const PowerCutPlan& plan) {
  const TestFolder folder;
  const std::string run = folder.path("run"), tape_path = folder.path("tape");
  std::filesystem::create_directory(run);
  if (!succeeds_in_child([&] { record_run(run, tape_path, plan.steps, plan.seed); })) {
    fmt::print("the run failed\n");
    return false;
  }
  const std::vector<TapeEntry> tape = read_tape(tape_path);
  const auto points = static_cast<uint64_t>(std::ranges::count_if(tape, is_kill_point));
  const bool is_right = succeed_in_children(kLookers, [&](int number) {
    return Looker(plan, tape, folder.path(fmt::format("looker{}", number)), points)
        .look(static_cast<uint64_t>(number));
  });
  const uint64_t states = points * kPowerCuts;
  fmt::print("{} points of a power cut in one run, looked at {} of {} states{}\n", points,
             plan.looks == 0 ? states : std::min(plan.looks, states), states, is_right ? "" : ": WRONG");
  if (!is_right) folder.keep();
  return is_right;
}

}  // namespace quire::tests
