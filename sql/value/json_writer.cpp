// Values to JSON text, in one pass. The text grows in the caller's string, which is made larger ahead of the
// pen and cut to length at the end, so that single characters cost a store and not a call.
#include <algorithm>
#include <cmath>
#include <utility>

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
  // `"name":` as the dictionary keeps it. Leaves room for a number and one byte more.
  char* name(char* at, std::string_view json) {
    at = room(at, json.size() + KeyDictionary::kJsonNameStep + kLongestNumber + 1);
    size_t done = 0;
    do {
      std::memcpy(at + done, json.data() + done, KeyDictionary::kJsonNameStep);
      done += KeyDictionary::kJsonNameStep;
    } while (done < json.size());
    return at + json.size();
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
      case Kind::object:
        if (level == kMostWrittenNesting) return pen_.put(at, "null");
        if (!is_pretty && value.is_encoded()) return stored(at, value, level + 1);
        return value.is_array() ? array(at, value, level + 1) : object(at, value, level + 1);
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

  char* object(char* at, const Value& object, size_t level) {
    at = pen_.put(at, '{');
    bool is_empty = true;
    const MemberReader members(object);
    for (uint32_t i = 0; i < members.size(); ++i) {
      const Member member = members[i];
      if (member.value.is_undefined()) continue;
      at = before_item(at, is_empty, level);
      at = pen_.put(pen_.quoted(at, member.name), ':');
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

  // ---- What lies in a document, without spaces: most of all that is written. Scalars go from their bytes to
  // their text by a jump or two, arrays and objects within by their bytes, and the place stays in a register.
  // Each value is followed by a comma; the last one becomes the bracket.

  char* stored(char* at, const Value& value, size_t level) {
    const std::span<const std::byte> bytes = value.encoded_bytes();
    const Document outer =
        std::exchange(document_, {.end = reinterpret_cast<const char*>(bytes.data() + bytes.size()),
                                  .names = KeyDictionary::of(value.dictionary()),
                                  .dictionary = value.dictionary()});
    at = value.is_array() ? stored_array(at, bytes, level) : stored_object(at, bytes, level);
    document_ = outer;
    return at;
  }

  char* stored_object(char* at, std::span<const std::byte> bytes, size_t level) {
    at = pen_.put(at, '{');
    bool is_empty = true;
    const layout::Container container(bytes, true);
    layout::Container::Walk members(container);
    for (uint32_t i = 0; members.next(); ++i) {
      const std::string_view name =
          document_.names != nullptr ? document_.names->json_name(members.key()) : std::string_view();
      char* end;
      if (name.data() != nullptr) [[likely]] {
        char* const begin = pen_.name(at, name);
        end = stored_value(begin, members.slice(), level);
        if (end == begin) [[unlikely]] {
          at = begin - name.size();
          continue;
        }
      } else {
        const Member member = Value::encoded(Kind::object, bytes, document_.dictionary).member_at(i);
        if (member.value.is_undefined()) continue;
        end = write(pen_.put(pen_.quoted(at, member.name), ':'), member.value, level);
      }
      at = pen_.put(end, ',');
      is_empty = false;
    }
    return close(at, is_empty, '}');
  }

  char* stored_array(char* at, std::span<const std::byte> bytes, size_t level) {
    at = pen_.put(at, '[');
    bool is_empty = true;
    const layout::Container container(bytes, false);
    for (layout::Container::Walk elements(container); elements.next();) {
      char* const begin = pen_.room(at, kLongestNumber + 1);
      at = stored_value(begin, elements.slice(), level);
      if (at == begin) [[unlikely]]
        continue;
      at = pen_.put(at, ',');
      is_empty = false;
    }
    return close(at, is_empty, ']');
  }

  char* close(char* at, bool is_empty, char bracket) {
    if (is_empty) return pen_.put(at, bracket);
    at[-1] = bracket;
    return at;
  }

  // Where there is room for a number. Nothing where the document is damaged.
  [[gnu::always_inline]] char* stored_value(char* at, std::span<const std::byte> bytes, size_t level) {
    if (bytes.empty()) [[unlikely]]
      return at;
    const auto tag = static_cast<uint8_t>(bytes[0]);
    if (const size_t length = static_cast<uint8_t>(tag - layout::kShortString);
        length <= layout::kMostShortString && length < bytes.size())
      return text(at, {reinterpret_cast<const char*>(bytes.data() + 1), length});
    if (layout::is_decimal_tag(tag) && layout::decimal_bytes(tag) < bytes.size())
      return put_decimal(layout::load_decimal_integer(bytes.data()), layout::decimal_places(tag), at);
    if (level < kMostWrittenNesting) {
      if (layout::is_object_tag(tag)) return stored_object(at, bytes, level + 1);
      if (layout::is_array_tag(tag)) return stored_array(at, bytes, level + 1);
    }
    return write(at, decode_value(bytes, document_.dictionary), level);
  }

  [[gnu::always_inline]] char* text(char* at, std::string_view text) {
    static_assert(kPlainStep + 2 <= kLongestNumber);
    if (text.size() <= kPlainStep && document_.end - text.data() >= ptrdiff_t{kPlainStep} &&
        copy_short_plain(text, at + 1)) [[likely]] {
      at[0] = at[1 + text.size()] = '"';
      return at + text.size() + 2;
    }
    return pen_.quoted(at, text);
  }

  // The one that is being written: what lies in it has its names.
  struct Document {
    const char* end = nullptr;
    const KeyDictionary* names = nullptr;
    DictionaryNumber dictionary = 0;
  };

  Pen& pen_;
  Document document_;
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
