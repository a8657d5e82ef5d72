#include "shell/background_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace quire::shell {

BackgroundFile::BackgroundFile(const std::string& path) : file_(path) {
  if (!file_.is_open()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // There is no other thread to be had: this one writes.
  }
}

BackgroundFile::~BackgroundFile() {
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
  }
  end_thread();
}

void BackgroundFile::end_thread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundFile::run() {
  std::string text;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      text.clear();
      text.swap(waiting_);
    }
    changed_.notify_all();
    if (write_now(text)) continue;
    const int reason = errno != 0 ? errno : EIO;
    const std::lock_guard lock(mutex_);
    error_ = reason;
    break;
  }
  changed_.notify_all();
}

bool BackgroundFile::write_now(std::string_view text) {
  // Small, as an import's temporary file is written (engine/container/import_spill.h): twice as fast as 1 MB.
  constexpr size_t kWrittenAtOnce = size_t{16} << 10;
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kWrittenAtOnce)))
    if (!file_.write(text.substr(0, kWrittenAtOnce))) return false;
  return true;
}

bool BackgroundFile::wait(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return error_ != 0 || waiting_.empty(); });
  if (error_ != 0) errno = error_;
  return error_ == 0;
}

bool BackgroundFile::write(std::string& text) {
  if (!thread_.joinable()) {
    const bool is_written = write_now(text);
    text.clear();
    return is_written;
  }
  {
    std::unique_lock lock(mutex_);
    if (!wait(lock)) return false;
    waiting_.swap(text);
  }
  changed_.notify_all();
  text.clear();
  return true;
}

bool BackgroundFile::finish() {
  end_thread();
  if (error_ != 0) errno = error_;
  return error_ == 0 && file_.finish();
}

}  // namespace quire::shell
