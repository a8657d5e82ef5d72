#include "engine/container/import_input.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "engine/file/large_pages.h"

namespace quire::engine {
namespace {

constexpr size_t kBlock = size_t{1} << 20;
// Lines are read in pieces whose newlines are counted while they are near.
constexpr size_t kPiece = size_t{256} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r\n";

// In steps that a byte can count, which is what makes it a few vector instructions, four vectors at a time.
uint32_t count_newlines(std::string_view bytes) {
  constexpr size_t kVector = 16, kVectors = 4, kStep = kVectors * kVector, kMost = 255 * kStep;
  uint32_t newlines = 0;
  while (bytes.size() >= kStep) {
    const std::string_view piece = bytes.substr(0, std::min(bytes.size(), kMost) / kStep * kStep);
    std::array<uint8_t, kStep> counts{};
    for (size_t at = 0; at < piece.size(); at += kStep)
      for (size_t i = 0; i < kStep; ++i)
        counts[i] = static_cast<uint8_t>(counts[i] + (piece[at + i] == '\n' ? 1 : 0));
    newlines = std::accumulate(counts.begin(), counts.end(), newlines);
    bytes.remove_prefix(piece.size());
  }
  return newlines + static_cast<uint32_t>(std::ranges::count(bytes, '\n'));
}

}  // namespace

// ---- Bytes

Result<size_t> ImportInput::read(char* buffer, size_t room) {
  if (at_end_) return 0;
  const int64_t count = read_(buffer, room);
  if (count < 0 || static_cast<uint64_t>(count) > room)
    return fail(ErrorCode::io, "the input cannot be read");
  at_end_ = count == 0;
  bytes_read_ += static_cast<uint64_t>(count);
  return static_cast<size_t>(count);
}

Result<bool> ImportInput::fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kBlock) buffer_.resize(std::max(buffer_.size() * 2, end_ + kBlock));
  QUIRE_ASSIGN(const size_t count, read(buffer_.data() + end_, buffer_.size() - end_));
  end_ += count;
  return count > 0;
}

void ImportInput::take(size_t bytes) {
  std::string_view taken = ahead().substr(0, bytes);
  begin_ += bytes;
  place_.offset += bytes;
  if (const size_t newline = taken.rfind('\n'); newline != std::string_view::npos) {
    place_.line += static_cast<uint32_t>(
        std::count(taken.begin(), taken.begin() + static_cast<ptrdiff_t>(newline) + 1, '\n'));
    place_.column = 1;
    taken.remove_prefix(newline + 1);
  }
  // Code points: all bytes but those that continue one.
  place_.column +=
      static_cast<uint32_t>(std::ranges::count_if(taken, [](char c) { return (c & 0xC0) != 0x80; }));
}

Result<std::optional<char>> ImportInput::peek() {
  for (;;) {
    take(std::min(ahead().find_first_not_of(kBlanks), ahead().size()));
    if (!ahead().empty()) return ahead().front();
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) return std::nullopt;
  }
}

Result<void> ImportInput::start() {
  while (ahead().size() < kByteOrderMark.size()) {
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) break;
  }
  if (ahead().starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
    place_.offset += kByteOrderMark.size();
  }
  QUIRE_ASSIGN(const std::optional<char> first, peek());
  is_array_ = first == '[';
  if (is_array_) take(1);
  return {};
}

// ---- Lines

Result<void> ImportInput::pass_over_line() {
  for (;;) {
    const size_t newline = ahead().find('\n');
    take(newline == std::string_view::npos ? ahead().size() : newline + 1);
    if (newline != std::string_view::npos) return {};
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) return {};
  }
}

Result<void> ImportInput::begin_lines(ImportLines& lines) {
  if (std::exchange(is_within_line_, false)) QUIRE_TRY(pass_over_line());
  const std::string_view carried = ahead();
  // A long line leaves a long buffer behind, which is not kept.
  if (lines.buffer.size() > 2 * ImportLines::kBytes) lines.buffer = {};
  if (lines.buffer.empty()) {  // room in which a whole buffer lies on large pages
    lines.buffer.reserve(ImportLines::kBytes + kLargePage);
    prefer_large_pages(lines.buffer.data(), lines.buffer.capacity());
  }
  lines.buffer.resize(std::max({lines.buffer.size(), ImportLines::kBytes, 2 * carried.size()}));
  std::ranges::copy(carried, lines.buffer.begin());
  lines.read = carried.size();
  lines.size = 0;
  lines.start = place_;
  lines.newlines = count_newlines(carried);
  lines.is_front = false;
  lines.is_last = false;
  begin_ = end_ = 0;
  return {};
}

Result<bool> ImportInput::read_lines(ImportLines& lines) {
  char* const more = lines.buffer.data() + lines.read;
  QUIRE_ASSIGN(const size_t count, read(more, std::min(lines.buffer.size() - lines.read, kPiece)));
  lines.newlines += count_newlines({more, count});
  lines.read += count;
  if (at_end_) {
    lines.is_last = true;
    end_lines(lines, lines.read);
    return true;
  }
  if (lines.read < lines.buffer.size()) return false;
  const size_t newline = std::string_view(lines.buffer.data(), lines.read).rfind('\n');
  if (newline != std::string_view::npos) {
    end_lines(lines, newline + 1);
    return true;
  }
  if (lines.read <= longest_text_) {
    lines.buffer.resize(std::min(2 * lines.read, longest_text_ + 1));
    return false;
  }
  lines.is_front = is_within_line_ = true;
  end_lines(lines, lines.read);
  return true;
}

// What is behind `end` goes into the next stretch.
void ImportInput::end_lines(ImportLines& lines, size_t end) {
  const std::string_view carried(lines.buffer.data() + end, lines.read - end);
  if (buffer_.size() < carried.size()) buffer_.resize(carried.size());
  std::ranges::copy(carried, buffer_.begin());
  end_ = carried.size();
  lines.size = end;
  place_ = {lines.start.offset + end, lines.start.line + lines.newlines, 1};
}

LineCutter::LineCutter(const ImportLines& lines, size_t longest_text)
    : rest_(lines.buffer.data(), lines.size),
      place_(lines.start),
      longest_text_(longest_text),
      is_front_(lines.is_front) {}

bool LineCutter::next(ImportText& text) {
  while (!rest_.empty()) {
    const size_t newline = rest_.find('\n');
    const std::string_view line = rest_.substr(0, newline);
    text = {line, place_, 0, is_front_ || line.size() > longest_text_};
    const size_t taken = line.size() + (newline == std::string_view::npos ? 0 : 1);
    rest_.remove_prefix(taken);
    place_ = {place_.offset + taken, place_.line + 1, 1};
    const size_t last = line.find_last_not_of(kBlanks);
    if (!text.is_too_long && last == std::string_view::npos) continue;
    text.json = text.is_too_long ? std::string_view() : line.substr(0, last + 1);
    return true;
  }
  return false;
}

// ---- Elements

std::unexpected<Error> ImportInput::misplaced(std::string_view what) const {
  return fail(ErrorCode::invalid_json, std::string(what), place_);
}

Result<bool> ImportInput::next_element(ImportText& text) {
  QUIRE_ASSIGN(const bool has_element, begin_element());
  if (!has_element) return false;
  QUIRE_TRY(read_element(text));
  return true;
}

// Goes to the first byte of the next element; false at the end of the array, which must be the end of the
// input.
Result<bool> ImportInput::begin_element() {
  QUIRE_ASSIGN(std::optional<char> next, peek());
  if (next == ']') {
    take(1);
    QUIRE_ASSIGN(next, peek());
    if (next) return misplaced("there is something behind the end of the array");
    return false;
  }
  if (next && elements_ > 0) {
    if (*next != ',') return misplaced("a comma or ] is expected between the elements of the array");
    take(1);
    QUIRE_ASSIGN(next, peek());
  }
  if (!next) return misplaced("the array is not closed with ]");
  if (*next == ',' || *next == ']' || *next == '}')
    return misplaced("an element of the array is expected here");
  return true;
}

Result<void> ImportInput::read_element(ImportText& text) {
  text = {{}, place_, ++elements_, false};
  ValueScan scan;
  while (!scan.go_on(ahead())) {
    if (scan.done > longest_text_) {
      text.is_too_long = true;
      take(scan.done);
      scan.done = 0;
    }
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) return misplaced("the array ends within its last element");
  }
  text.is_too_long = text.is_too_long || scan.done > longest_text_;
  if (!text.is_too_long) text.json = ahead().substr(0, scan.done);
  take(scan.done);
  return {};
}

bool ImportInput::ValueScan::go_on(std::string_view bytes) {
  constexpr std::string_view kEndsScalar = ",]} \t\r\n";
  for (; done < bytes.size(); ++done) {
    const char c = bytes[done];
    if (in_string) {
      if (is_escaped)
        is_escaped = false;
      else if (c == '\\')
        is_escaped = true;
      else if (c == '"') {
        in_string = false;
        if (depth == 0) return ++done, true;
      }
    } else if (in_scalar) {
      if (kEndsScalar.contains(c)) return true;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0) {
      in_scalar = true;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return ++done, true;
    }
  }
  return false;
}

}  // namespace quire::engine
