#include "engine/container/import_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace quire::engine {
namespace {

constexpr size_t kBlock = size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

Result<bool> ImportInput::fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kBlock) buffer_.resize(std::max(buffer_.size() * 2, end_ + kBlock));
  const int64_t count = read_(buffer_.data() + end_, buffer_.size() - end_);
  if (count < 0 || static_cast<uint64_t>(count) > buffer_.size() - end_)
    return fail(ErrorCode::io, "the input cannot be read");
  at_end_ = count == 0;
  end_ += static_cast<size_t>(count);
  bytes_read_ += static_cast<uint64_t>(count);
  return count > 0;
}

void ImportInput::take(size_t bytes) {
  for (size_t i = begin_; i < begin_ + bytes; ++i) {
    ++column_;
    if (buffer_[i] != '\n') continue;
    ++line_;
    column_ = 1;
  }
  begin_ += bytes;
}

Result<std::optional<char>> ImportInput::peek() {
  while (true) {
    while (begin_ < end_ && is_blank(buffer_[begin_])) take(1);
    if (begin_ < end_) return buffer_[begin_];
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) return std::nullopt;
  }
}

Result<void> ImportInput::start() {
  is_started_ = true;
  while (end_ - begin_ < kByteOrderMark.size()) {
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) break;
  }
  if (std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with(kByteOrderMark))
    begin_ += kByteOrderMark.size();
  QUIRE_ASSIGN(const std::optional<char> first, peek());
  is_array_ = first == '[';
  if (is_array_) take(1);
  return {};
}

Result<bool> ImportInput::next(ImportText& text) {
  if (!is_started_) QUIRE_TRY(start());
  return is_array_ ? next_element(text) : next_line(text);
}

Result<bool> ImportInput::next_line(ImportText& text) {
  while (true) {
    size_t searched = 0;
    const char* newline = nullptr;
    while (true) {
      newline = begin_ + searched < end_ ? static_cast<const char*>(std::memchr(buffer_.data() + begin_ + searched, '\n',
                                                                                end_ - begin_ - searched))
                                         : nullptr;
      if (newline != nullptr) break;
      searched = end_ - begin_;
      if (searched > longest_text_) break;
      QUIRE_ASSIGN(const bool has_more, fill());
      if (!has_more) break;
    }
    const size_t length = newline != nullptr ? static_cast<size_t>(newline - buffer_.data()) - begin_ : end_ - begin_;
    if (length == 0 && newline == nullptr) return false;
    const uint64_t line = line_;
    const uint64_t column = column_;
    const size_t start = begin_;
    begin_ += length + (newline != nullptr ? 1 : 0);
    ++line_;
    column_ = 1;
    if (length > longest_text_) {
      // The rest of the line is passed over, so that the next call starts on a line of its own.
      for (bool is_inside = newline == nullptr; is_inside;) {
        const auto* end = static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_));
        is_inside = end == nullptr;
        begin_ = is_inside ? end_ : static_cast<size_t>(end - buffer_.data()) + 1;
        if (!is_inside) break;
        QUIRE_ASSIGN(const bool has_more, fill());
        if (!has_more) break;
      }
      return fail(ErrorCode::too_large,
                  fmt::format("the line is longer than {} bytes, more than an item may have", longest_text_),
                  {0, static_cast<uint32_t>(line), 1});
    }
    std::string_view json(buffer_.data() + start, length);
    while (!json.empty() && is_blank(json.back())) json.remove_suffix(1);
    if (json.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    text = {json, line, column};
    return true;
  }
}

Error ImportInput::misplaced(std::string_view what) const {
  return {ErrorCode::invalid_json, std::string(what),
          {bytes_read_ - (end_ - begin_), static_cast<uint32_t>(line_), static_cast<uint32_t>(column_)}};
}

Result<bool> ImportInput::next_element(ImportText& text) {
  QUIRE_ASSIGN(std::optional<char> next, peek());
  if (!next) return std::unexpected(misplaced("the array is not closed with ]"));
  if (*next == ']') {
    take(1);
    QUIRE_ASSIGN(const std::optional<char> after, peek());
    if (after) return std::unexpected(misplaced("there is something behind the end of the array"));
    is_array_ = false;  // a further call finds no line either
    return false;
  }
  if (!is_first_element_) {
    if (*next != ',') return std::unexpected(misplaced("a comma or ] is expected between the elements of the array"));
    take(1);
    QUIRE_ASSIGN(next, peek());
  }
  if (!next || *next != '{') return std::unexpected(misplaced("each element of the array must be an object"));
  is_first_element_ = false;
  const uint64_t line = line_;
  const uint64_t column = column_;
  scanned_ = depth_ = 0;
  in_string_ = is_escaped_ = false;
  size_t length = scan_value();
  while (length == 0) {
    if (end_ - begin_ > longest_text_)
      return std::unexpected(
          misplaced(fmt::format("the element is longer than {} bytes, more than an item may have", longest_text_)));
    QUIRE_ASSIGN(const bool has_more, fill());
    if (!has_more) return std::unexpected(misplaced("the array ends within an element"));
    length = scan_value();
  }
  const size_t start = begin_;
  take(length);
  text = {{buffer_.data() + start, length}, line, column};
  return true;
}

// Counts brackets outside of strings; what is within them the JSON reader judges.
size_t ImportInput::scan_value() {
  for (; begin_ + scanned_ < end_; ++scanned_) {
    const char c = buffer_[begin_ + scanned_];
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (in_string_) {
      is_escaped_ = c == '\\';
      in_string_ = c != '"';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 0) {
      return scanned_ + 1;
    }
  }
  return 0;
}

}  // namespace quire::engine
