// Values to JSON text, in one pass.
#include <cmath>
#include <cstring>

#include "sql/value/json.h"
#include "sql/value/json_pen.h"
#include "sql/value/member_reader.h"
#include "sql/value/number_text.h"
#include "sql/value/stored_json.h"

namespace quire::sql {
namespace {

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
        return put_number(value, pen_.room(at, kLongestNumber));
      case Kind::real:
        return put_json_real(value, pen_.room(at, kLongestNumber + 2));
      case Kind::string:
        return pen_.quoted(at, value.as_string());
      case Kind::array:
      case Kind::object:
        if (level == kMostWrittenNesting) return pen_.put(at, "null");
        if (!is_pretty && value.is_encoded())
          if (const KeyDictionary* const names = KeyDictionary::of(value.dictionary()); names != nullptr)
            return StoredJsonWriter(pen_, value, *names).write(at, level);
        return value.is_array() ? array(at, value, level + 1) : object(at, value, level + 1);
    }
    return at;
  }

 private:
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
    return pen_.put(is_pretty && !is_empty ? new_line(at, level - 1) : at, ']');
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
    return pen_.put(is_pretty && !is_empty ? new_line(at, level - 1) : at, '}');
  }

  char* new_line(char* at, size_t level) {
    const size_t length = 1 + 2 * level;
    at = pen_.room(at, length);
    *at = '\n';
    std::memset(at + 1, ' ', length - 1);
    return at + length;
  }

  char* before_item(char* at, bool& is_first, size_t level) {
    if (!is_first) at = pen_.put(at, ',');
    is_first = false;
    return is_pretty ? new_line(at, level) : at;
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
  append(out, [&](Pen& pen, char* at) { return put_number(number, pen.room(at, kLongestNumber)); });
}

void write_json_string(std::string_view text, std::string& out) {
  append(out, [&](Pen& pen, char* at) { return pen.quoted(at, text); });
}

}  // namespace quire::sql
