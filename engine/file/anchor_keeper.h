// Moves the anchor of a file (anchor.h) on when writers do not: what was written is on the disk soon after,
// also where nobody writes any more. One with a log it gives up then, which is begun again where it is worth
// it. Has what is pending (small_commits.h) applied meanwhile, and others open the file who wait for it.
// Internal to engine/file.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace quire::engine {

class FileState;

class AnchorKeeper {
 public:
  // How old a commit may be that is not on the disk.
  static constexpr std::chrono::milliseconds kLongest{1000};

  // How long somebody waits who wants to open the file.
  static constexpr std::chrono::milliseconds kBetweenLooks{20};

  explicit AnchorKeeper(FileState& state) : state_(state) {}

  // A commit was not synced; the anchor should be moved at once, or soon. Cheap; begins a thread the first
  // time.
  void note_commit(bool is_urgent);
  // The anchor, one with a log, has been moved: there is time until it has to be given up.
  void note_moved() noexcept { is_moved_ = true; }
  // Whether the thread has begun. By the holder of the write lock.
  bool is_at_work() noexcept;
  // Ends the thread. Before anything of the file's state goes.
  void stop() noexcept;

 private:
  void run(const std::stop_token& stop);
  // Until it is time to move on, or somebody waits to open the file.
  void wait(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  // Until there is work. A process that has written once holds a snapshot, which would keep the pages of all
  // that others write from being used again.
  void rest(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  // False: others were writing all the time, or there is more to do later.
  bool move_on(bool is_urgent) const;
  // Runs `act` as the holder of the write lock; false as above, or as it says.
  template <typename Act>
  bool while_writing(const Act& act) const;

  FileState& state_;
  std::atomic<bool> has_work_ = false;
  std::atomic<bool> is_urgent_ = false;
  std::atomic<bool> is_moved_ = false;
  std::mutex mutex_;  // guards the beginning of the thread, and waking it
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace quire::engine
