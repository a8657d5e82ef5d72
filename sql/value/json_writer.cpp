// Values to JSON text, in one pass. The text grows in the caller's string, which is made larger ahead of the
// pen and cut to length at the end, so that single characters cost a store and not a call.
#include <charconv>
#include <cmath>

#include "sql/value/json.h"
#include "sql/value/json_string.h"
#include "sql/value/member_reader.h"
#include "sql/value/number_text.h"
#include "sql/value/short_bytes.h"

namespace quire::sql {
namespace {

// Documents nest to kMostNesting and queries add a bounded number of levels; only a value made wrongly could
// come here, and its inner part writes as null.
constexpr size_t kMostWrittenNesting = 1024;

class Pen {
 public:
  explicit Pen(std::string& out) : out_(out), used_(out.size()) {}
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;
  ~Pen() { out_.resize(used_); }

  void put(char c) {
    *room(1) = c;
    ++used_;
  }
  void put(std::string_view text) {
    copy_bytes(room(text.size()), text.data(), text.size());
    used_ += text.size();
  }
  void number(const Value& value) {
    char* at = room(kLongestNumber);
    used_ += static_cast<size_t>(put_number(value, at) - at);
  }
  void quoted(std::string_view text) {
    char* at = room(text.size() + 2);
    *at++ = '"';
    const char* from = text.data();
    const char* const end = from + text.size();
    const size_t plain = plain_prefix(from, end);
    copy_bytes(at, from, plain);
    at += plain;
    if (plain == text.size()) [[likely]] {
      *at = '"';
      used_ += plain + 2;
      return;
    }
    used_ += 1 + plain;
    escaped(from + plain, end);
    put('"');
  }
  void new_line(size_t level) {
    const size_t length = 1 + 2 * level;
    char* at = room(length);
    *at = '\n';
    std::memset(at + 1, ' ', length - 1);
    used_ += length;
  }

 private:
  void escaped(const char* from, const char* end) {
    while (from != end) {
      const size_t plain = plain_prefix(from, end);
      char* const begin = room(plain + kLongestEscape);
      std::memcpy(begin, from, plain);
      char* at = begin + plain;
      from += plain;
      if (from != end) at = put_json_escape(*from++, at);
      used_ += static_cast<size_t>(at - begin);
    }
  }
  char* room(size_t bytes) {
    if (out_.size() - used_ < bytes) [[unlikely]]
      grow(bytes);
    return out_.data() + used_;
  }
  void grow(size_t bytes) {
    const size_t wanted = std::max(out_.capacity(), 2 * used_ + bytes + 64);
    out_.resize_and_overwrite(wanted, [](char*, size_t size) { return size; });
  }

  std::string& out_;
  size_t used_;
};

template <bool is_pretty>
class JsonWriter {
 public:
  explicit JsonWriter(Pen& pen) : pen_(pen) {}

  void write(const Value& value, size_t level) {
    switch (value.kind()) {
      case Kind::undefined:
        return;
      case Kind::null:
        pen_.put("null");
        return;
      case Kind::boolean:
        pen_.put(value.as_boolean() ? std::string_view("true") : "false");
        return;
      case Kind::integer:
        pen_.number(value);
        return;
      case Kind::real:
        real(value);
        return;
      case Kind::string:
        pen_.quoted(value.as_string());
        return;
      case Kind::array:
        level < kMostWrittenNesting ? array(value, level + 1) : pen_.put("null");
        return;
      case Kind::object:
        level < kMostWrittenNesting ? object(value, level + 1) : pen_.put("null");
        return;
    }
  }

 private:
  void real(const Value& value) {
    const bool is_finite = std::isfinite(value.as_real());
    if (!is_finite) pen_.put('"');
    pen_.number(value);
    if (!is_finite) pen_.put('"');
  }

  void array(const Value& array, size_t level) {
    pen_.put('[');
    bool is_empty = true;
    const uint32_t count = array.size();
    for (uint32_t i = 0; i < count; ++i) {
      const Value element = array.element(i);
      if (element.is_undefined()) continue;
      before_item(is_empty, level);
      write(element, level);
    }
    if (is_pretty && !is_empty) pen_.new_line(level - 1);
    pen_.put(']');
  }

  void object(const Value& object, size_t level) {
    pen_.put('{');
    bool is_empty = true;
    const MemberReader members(object);
    for (uint32_t i = 0; i < members.size(); ++i) {
      const MemberReader::Written member = members.written(i);
      if (member.value.is_undefined()) continue;
      before_item(is_empty, level);
      if (member.is_json) [[likely]] {
        pen_.put(member.name);
      } else {
        pen_.quoted(member.name);
        pen_.put(':');
      }
      if (is_pretty) pen_.put(' ');
      write(member.value, level);
    }
    if (is_pretty && !is_empty) pen_.new_line(level - 1);
    pen_.put('}');
  }

  void before_item(bool& is_first, size_t level) {
    if (!is_first) pen_.put(',');
    is_first = false;
    if (is_pretty) pen_.new_line(level);
  }

  Pen& pen_;
};

bool has_only_finite_numbers(const Value& value, size_t level) {
  if (value.kind() == Kind::real) return std::isfinite(value.as_real());
  if (level == kMostWrittenNesting || !(value.is_built() || value.is_encoded())) return true;
  // JSON has no other numbers, so documents hold none.
  if (value.is_encoded()) return true;
  if (value.is_array()) {
    for (const Value& element : value.built_elements())
      if (!has_only_finite_numbers(element, level + 1)) return false;
  } else {
    for (const Member& member : value.built_members())
      if (!has_only_finite_numbers(member.value, level + 1)) return false;
  }
  return true;
}

}  // namespace

void write_json(const Value& value, std::string& out) {
  Pen pen(out);
  JsonWriter<false>(pen).write(value, 0);
}

void write_pretty_json(const Value& value, std::string& out) {
  Pen pen(out);
  JsonWriter<true>(pen).write(value, 0);
}

bool has_only_finite_numbers(const Value& value) {
  return has_only_finite_numbers(value, 0);
}

void write_number(const Value& number, std::string& out) {
  Pen(out).number(number);
}

void write_json_string(std::string_view text, std::string& out) {
  Pen(out).quoted(text);
}

}  // namespace quire::sql
