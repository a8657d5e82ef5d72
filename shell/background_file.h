// A PackedFile that a thread of its own packs and writes, while the caller makes what comes next.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "shell/packed_file.h"

namespace quire::shell {

// For one thread.
class BackgroundFile {
 public:
  explicit BackgroundFile(const std::string& path);
  // What was not finished is left undone.
  ~BackgroundFile();
  BackgroundFile(const BackgroundFile&) = delete;
  BackgroundFile& operator=(const BackgroundFile&) = delete;

  bool is_open() const { return file_.is_open(); }
  bool is_standard_output() const { return file_.is_standard_output(); }
  // Takes the text over and leaves an empty one; waits while there is one that the thread has not begun with.
  // False, as errno says, if one of those before could not be written.
  bool write(std::string& text);
  bool finish();

 private:
  void run();
  bool write_now(std::string_view text);
  // Until nothing waits for the thread, or it has failed; then errno is set.
  bool wait(std::unique_lock<std::mutex>& lock);
  void end_thread();

  PackedFile file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::string waiting_;
  bool is_ending_ = false;
  int error_ = 0;
  std::thread thread_;
};

}  // namespace quire::shell
