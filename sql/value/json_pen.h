// Where JSON text goes: the end of the caller's string, which is made larger ahead of the pen and cut to
// length at the end, so that single characters cost a store and not a call. Who writes keeps the place of the
// next byte himself, in a register, and asks for room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "sql/value/json_string.h"
#include "sql/value/short_bytes.h"

namespace quire::sql {

// Documents nest to kMostNesting and queries add a bounded number of levels; only a value made wrongly could
// come here, and its inner part writes as null.
constexpr size_t kMostWrittenNesting = 1024;

class Pen {
 public:
  explicit Pen(std::string& out) : out_(out), used_(out.size()) { take(out.capacity()); }
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;
  // What was written when room last had to be made stays; with finish, all of it.
  ~Pen() { out_.resize(used_); }

  char* begin() const noexcept { return out_.data() + used_; }
  void finish(const char* at) noexcept { used_ = static_cast<size_t>(at - out_.data()); }

  // `at`, or the same place where so many bytes fit.
  char* room(char* at, size_t bytes) {
    return static_cast<size_t>(end_ - at) >= bytes ? at : grow(at, bytes);
  }
  // The same for kEnough bytes.
  static constexpr size_t kEnough = 128;
  char* enough(char* at) { return at < enough_before_ ? at : grow(at, kEnough + 1); }
  char* put(char* at, std::string_view text) {
    at = room(at, text.size());
    copy_bytes(at, text.data(), text.size());
    return at + text.size();
  }
  char* put(char* at, char c) {
    at = room(at, 1);
    *at = c;
    return at + 1;
  }
  // Leaves room for `behind` bytes more.
  char* quoted(char* at, std::string_view text, size_t behind = 0) {
    at = room(at, text.size() + 2 + behind);
    *at++ = '"';
    const size_t plain = copy_plain(text.data(), text.size(), at);
    at += plain;
    if (plain != text.size()) [[unlikely]]
      at = escaped(at, text.substr(plain), behind);
    *at = '"';
    return at + 1;
  }

 private:
  // From a byte on that takes an escape; leaves room for the closing quote and what is behind it.
  char* escaped(char* at, std::string_view text, size_t behind) {
    while (!text.empty()) {
      at = room(at, kLongestEscape + text.size() + 1 + behind);
      at = put_json_escape(text[0], at);
      text.remove_prefix(1);
      const size_t plain = copy_plain(text.data(), text.size(), at);
      at += plain;
      text.remove_prefix(plain);
    }
    return at;
  }
  [[gnu::noinline]] char* grow(const char* at, size_t bytes) {
    finish(at);
    take(std::max(out_.capacity(), 2 * used_ + bytes + 64));
    return out_.data() + used_;
  }
  void take(size_t bytes) {
    out_.resize_and_overwrite(bytes, [](char*, size_t size) { return size; });
    end_ = out_.data() + bytes;
    enough_before_ = out_.data() + (bytes > kEnough ? bytes - kEnough : 0);
  }

  std::string& out_;
  size_t used_;
  char* end_;
  const char* enough_before_;
};

}  // namespace quire::sql
