#include "shell/line_batches.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace quire::shell {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 16;

}  // namespace

bool LineBatches::fill() {
  if (at_ < buffer_.size()) return true;
  buffer_.resize(kBatchBytes);
  at_ = 0;
  const int64_t bytes = source_.read(buffer_.data(), buffer_.size());
  buffer_.resize(static_cast<size_t>(std::max<int64_t>(0, bytes)));
  if (bytes < 0) static_cast<void>(fail(source_.failure()));
  return bytes > 0;
}

bool LineBatches::begin_batch() {
  lines_left_ = lines_of_batch_;
  return fill();
}

char LineBatches::first() const {
  std::string_view ahead = std::string_view(buffer_).substr(at_);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (lines_read_ == 0 && ahead.starts_with(kByteOrderMark)) ahead.remove_prefix(kByteOrderMark.size());
  const size_t found = ahead.find_first_not_of(" \t\r\n");
  return found == std::string_view::npos ? '\0' : ahead[found];
}

int64_t LineBatches::read(char* buffer, size_t capacity) {
  if (lines_left_ == 0) return 0;
  if (!fill()) return failure().empty() ? 0 : -1;
  const size_t available = std::min(capacity, buffer_.size() - at_);
  const char* const start = buffer_.data() + at_;
  size_t taken = 0;
  while (taken < available && lines_left_ > 0) {
    const void* const end = std::memchr(start + taken, '\n', available - taken);
    taken = end == nullptr ? available : static_cast<size_t>(static_cast<const char*>(end) - start) + 1;
    if (end == nullptr) break;
    ++lines_read_;
    --lines_left_;
  }
  std::memcpy(buffer, start, taken);
  at_ += taken;
  return static_cast<int64_t>(taken);
}

}  // namespace quire::shell
