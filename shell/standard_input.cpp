#include "shell/standard_input.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "shell/interrupt.h"

namespace quire::shell {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;
// What is longer is no line of a script, but data: it must not fill the memory before it is an error.
constexpr size_t kLongestLine = size_t{1} << 24;

}  // namespace

StandardInput::StandardInput(int descriptor) : descriptor_(descriptor), buffer_(kBufferBytes) {}

bool StandardInput::is_terminal() const {
  return isatty(descriptor_) == 1;
}

int64_t StandardInput::fill() {
  at_ = 0;
  end_ = 0;
  const int64_t count = read_until_interrupted(descriptor_, buffer_.data(), buffer_.size());
  if (count > 0) end_ = static_cast<size_t>(count);
  if (count < 0 && errno != EINTR) failure_ = errno;
  return count;
}

int64_t StandardInput::read_lines(char* buffer, size_t capacity, uint64_t& lines) {
  if (lines == 0) return 0;
  if (at_ == end_)
    if (const int64_t count = fill(); count <= 0) return count;
  const size_t most = std::min(capacity, end_ - at_);
  size_t count = 0;
  while (count < most && lines > 0)
    if (buffer_[at_ + count++] == '\n') --lines;
  std::memcpy(buffer, buffer_.data() + at_, count);
  at_ += count;
  return static_cast<int64_t>(count);
}

std::optional<std::string> StandardInput::read_line() {
  std::string line;
  while (true) {
    if (at_ == end_ && fill() <= 0) return line.empty() ? std::nullopt : std::optional(line);
    const auto first = buffer_.begin() + static_cast<ptrdiff_t>(at_);
    const auto last = buffer_.begin() + static_cast<ptrdiff_t>(end_);
    const auto line_end = std::find(first, last, '\n');
    line.append(first, line_end);
    at_ += static_cast<size_t>(line_end - first);
    if (line.size() > kLongestLine) return line;
    if (line_end == last) continue;
    ++at_;
    return line;
  }
}

int StandardInput::read_byte() {
  if (at_ == end_ && fill() <= 0) return -1;
  return static_cast<unsigned char>(buffer_[at_++]);
}

bool StandardInput::has_more() const {
  if (at_ < end_) return true;
  pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, 0) == 1;
}

}  // namespace quire::shell
