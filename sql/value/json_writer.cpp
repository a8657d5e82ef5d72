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

// Where the text goes. Who writes keeps the place of the next byte himself, in a register, and asks for room.
class Pen {
 public:
  explicit Pen(std::string& out) : out_(out), used_(out.size()), end_(out.data() + used_) {}
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;
  // What was written when room last had to be made stays; with finish, all of it.
  ~Pen() { out_.resize(used_); }

  char* begin() const noexcept { return end_; }
  void finish(const char* at) noexcept { used_ = static_cast<size_t>(at - out_.data()); }

  // `at`, or the same place where so many bytes fit.
  char* room(char* at, size_t bytes) {
    return static_cast<size_t>(end_ - at) >= bytes ? at : grow(at, bytes);
  }
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
  char* number(char* at, const Value& value) { return put_number(value, room(at, kLongestNumber)); }
  char* quoted(char* at, std::string_view text) {
    at = room(at, text.size() + 2);
    *at++ = '"';
    const size_t plain = copy_plain(text.data(), text.size(), at);
    at += plain;
    if (plain != text.size()) [[unlikely]]
      at = escaped(at, text.substr(plain));
    *at = '"';
    return at + 1;
  }
  char* new_line(char* at, size_t level) {
    const size_t length = 1 + 2 * level;
    at = room(at, length);
    *at = '\n';
    std::memset(at + 1, ' ', length - 1);
    return at + length;
  }

 private:
  // From a byte on that takes an escape; leaves room for the closing quote.
  char* escaped(char* at, std::string_view text) {
    while (!text.empty()) {
      at = room(at, kLongestEscape + text.size() + 1);
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
    const size_t wanted = std::max(out_.capacity(), 2 * used_ + bytes + 64);
    out_.resize_and_overwrite(wanted, [](char*, size_t size) { return size; });
    end_ = out_.data() + wanted;
    return out_.data() + used_;
  }

  std::string& out_;
  size_t used_;
  char* end_;
};

template <bool is_pretty>
class JsonWriter {
 public:
  explicit JsonWriter(Pen& pen) : pen_(pen) {}

  char* write(char* at, const Value& value, size_t level) {
    switch (value.kind()) {
      case Kind::undefined:
        return at;
      case Kind::null:
        return pen_.put(at, "null");
      case Kind::boolean:
        return pen_.put(at, value.as_boolean() ? std::string_view("true") : "false");
      case Kind::integer:
        return pen_.number(at, value);
      case Kind::real:
        return real(at, value);
      case Kind::string:
        return pen_.quoted(at, value.as_string());
      case Kind::array:
        return level < kMostWrittenNesting ? array(at, value, level + 1) : pen_.put(at, "null");
      case Kind::object:
        return level < kMostWrittenNesting ? object(at, value, level + 1) : pen_.put(at, "null");
    }
    return at;
  }

 private:
  char* real(char* at, const Value& value) {
    const bool is_finite = std::isfinite(value.as_real());
    if (!is_finite) at = pen_.put(at, '"');
    at = pen_.number(at, value);
    return is_finite ? at : pen_.put(at, '"');
  }

  char* array(char* at, const Value& array, size_t level) {
    at = pen_.put(at, '[');
    bool is_empty = true;
    const ElementReader elements(array);
    for (uint32_t i = 0; i < elements.size(); ++i) {
      const Value element = elements[i];
      if (element.is_undefined()) continue;
      at = before_item(at, is_empty, level);
      at = write(at, element, level);
    }
    return pen_.put(is_pretty && !is_empty ? pen_.new_line(at, level - 1) : at, ']');
  }

  // Most values are members: the reading and the writing of one are inlined here, so that a tag leads to its
  // text by one jump and the place stays in a register.
  [[gnu::flatten]] char* object(char* at, const Value& object, size_t level) {
    at = pen_.put(at, '{');
    bool is_empty = true;
    const MemberReader members(object);
    for (uint32_t i = 0; i < members.size(); ++i) {
      const MemberReader::Written member = members.written(i);
      if (member.value.is_undefined()) continue;
      at = before_item(at, is_empty, level);
      at = member.is_json ? pen_.put(at, member.name) : pen_.put(pen_.quoted(at, member.name), ':');
      if (is_pretty) at = pen_.put(at, ' ');
      at = write(at, member.value, level);
    }
    return pen_.put(is_pretty && !is_empty ? pen_.new_line(at, level - 1) : at, '}');
  }

  char* before_item(char* at, bool& is_first, size_t level) {
    if (!is_first) at = pen_.put(at, ',');
    is_first = false;
    return is_pretty ? pen_.new_line(at, level) : at;
  }

  Pen& pen_;
};

template <typename Write>
void append(std::string& out, const Write& write) {
  Pen pen(out);
  pen.finish(write(pen, pen.begin()));
}

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
  append(out, [&](Pen& pen, char* at) { return JsonWriter<false>(pen).write(at, value, 0); });
}

void write_pretty_json(const Value& value, std::string& out) {
  append(out, [&](Pen& pen, char* at) { return JsonWriter<true>(pen).write(at, value, 0); });
}

bool has_only_finite_numbers(const Value& value) {
  return has_only_finite_numbers(value, 0);
}

void write_number(const Value& number, std::string& out) {
  append(out, [&](Pen& pen, char* at) { return pen.number(at, number); });
}

void write_json_string(std::string_view text, std::string& out) {
  append(out, [&](Pen& pen, char* at) { return pen.quoted(at, text); });
}

}  // namespace quire::sql
