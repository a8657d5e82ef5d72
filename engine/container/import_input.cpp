#include "engine/container/import_input.h"

#include <algorithm>
#include <cstring>

namespace quire::engine {
namespace {

constexpr size_t kBlock = size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

// ---- Bytes

Result<bool> ImportInput::fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kBlock) buffer_.resize(std::max(buffer_.size() * 2, end_ + kBlock));
  const size_t room = buffer_.size() - end_;
  const int64_t count = read_(buffer_.data() + end_, room);
  if (count < 0 || static_cast<uint64_t>(count) > room)
    return fail(ErrorCode::io, "the input cannot be read");
  at_end_ = count == 0;
  end_ += static_cast<size_t>(count);
  bytes_read_ += static_cast<uint64_t>(count);
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
  is_started_ = true;
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

Result<bool> ImportInput::next(ImportText& text) {
  if (!is_started_) QUIRE_TRY(start());
  return is_array_ ? next_element(text) : next_line(text);
}

// ---- Lines

Result<std::optional<size_t>> ImportInput::find_newline() {
  for (size_t searched = 0;;) {
    const size_t newline = ahead().find('\n', searched);
    if (newline != std::string_view::npos) return newline;
    searched = ahead().size();
    if (searched > longest_text_) return std::nullopt;
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) return std::nullopt;
  }
}

Result<void> ImportInput::pass_over_line() {
  for (;;) {
    const size_t newline = ahead().find('\n');
    take(newline == std::string_view::npos ? ahead().size() : newline + 1);
    if (newline != std::string_view::npos) return {};
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) return {};
  }
}

Result<bool> ImportInput::next_line(ImportText& text) {
  for (;;) {
    QUIRE_ASSIGN(const std::optional<size_t> newline, find_newline());
    if (ahead().empty()) return false;
    const size_t length = newline.value_or(ahead().size());
    text = {ahead().substr(0, length), place_, 0, length > longest_text_};
    if (text.is_too_long) {
      text.json = {};
      QUIRE_TRY(pass_over_line());
      return true;
    }
    // A line is taken without looking at its bytes again: the next one starts at column 1.
    const size_t taken = length + (newline ? 1 : 0);
    begin_ += taken;
    place_ = {place_.offset + taken, place_.line + 1, 1};
    const size_t last = text.json.find_last_not_of(kBlanks);
    if (last == std::string_view::npos) continue;
    text.json = text.json.substr(0, last + 1);
    return true;
  }
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
    is_array_ = false;  // a further call finds no line either
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
