// A Value: one JSON value, or undefined, in 16 bytes that are copied like a number. It owns nothing. Strings,
// arrays and objects point into a document (usually in the file's map), into an arena, or into the text of a
// query; whoever hands out a Value says how long it lives.
//
//   byte  0..7   payload: int64, IEEE double, or a pointer
//         8..11  length: bytes of a string; bytes of an encoded array or object; members of a built one
//        12..13  dictionary: the number of the key dictionary that an encoded array or object was written
//        with 14      kind 15      form: for arrays and objects, see below; for booleans, the value
//
// Arrays and objects come in forms that read alike. *Encoded*: bytes of a binary document (document.h), read
// where they lie. *Built*: an array of Values or Members in an arena, as made by a constructor in a query;
// its members may be encoded again, by any dictionary. *Extended*, of objects alone: an encoded one and the
// members that follow its own, as an item and its system properties do, so that nobody copies the item's.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sql/value/resolved_key.h"

namespace quire::sql {

enum class Kind : uint8_t { undefined, null, boolean, integer, real, string, array, object };

struct Member;
struct ExtendedObject;

class Value {
 public:
  constexpr Value() noexcept = default;  // undefined

  static constexpr Value undefined() noexcept { return {}; }
  static constexpr Value null() noexcept { return {0, 0, 0, Kind::null, 0}; }
  static constexpr Value boolean(bool b) noexcept {
    return {0, 0, 0, Kind::boolean, b ? uint8_t{1} : uint8_t{0}};
  }
  static constexpr Value integer(int64_t n) noexcept {
    return {static_cast<uint64_t>(n), 0, 0, Kind::integer, 0};
  }
  static constexpr Value real(double d) noexcept { return {std::bit_cast<uint64_t>(d), 0, 0, Kind::real, 0}; }
  // A double that is integral and within +-2^53 becomes an integer, so that results print and compare alike.
  static Value number(double d) noexcept;
  // Borrows `text`, which must be valid UTF-8 and shorter than 4 GiB.
  static Value string(std::string_view text) noexcept {
    return {reinterpret_cast<uint64_t>(text.data()), static_cast<uint32_t>(text.size()), 0, Kind::string, 0};
  }
  // Borrow their argument.
  static Value array(std::span<const Value> elements) noexcept {
    return {reinterpret_cast<uint64_t>(elements.data()), static_cast<uint32_t>(elements.size()), 0,
            Kind::array, kBuilt};
  }
  static Value object(std::span<const Member> members) noexcept;
  static Value extended(const ExtendedObject& object) noexcept;
  // `bytes` starts at the value's tag byte and ends with the value. For document.h alone.
  static Value encoded(Kind kind, std::span<const std::byte> bytes, DictionaryNumber dictionary) noexcept {
    return {reinterpret_cast<uint64_t>(bytes.data()), static_cast<uint32_t>(bytes.size()), dictionary, kind,
            kEncoded};
  }

  constexpr Kind kind() const noexcept { return kind_; }
  constexpr bool is_undefined() const noexcept { return kind_ == Kind::undefined; }
  constexpr bool is_defined() const noexcept { return kind_ != Kind::undefined; }
  constexpr bool is_null() const noexcept { return kind_ == Kind::null; }
  constexpr bool is_boolean() const noexcept { return kind_ == Kind::boolean; }
  constexpr bool is_number() const noexcept { return kind_ == Kind::integer || kind_ == Kind::real; }
  constexpr bool is_string() const noexcept { return kind_ == Kind::string; }
  constexpr bool is_array() const noexcept { return kind_ == Kind::array; }
  constexpr bool is_object() const noexcept { return kind_ == Kind::object; }
  constexpr bool is_true() const noexcept { return kind_ == Kind::boolean && form_ != 0; }
  constexpr bool is_false() const noexcept { return kind_ == Kind::boolean && form_ == 0; }

  // The caller has checked the kind.
  constexpr bool as_boolean() const noexcept { return form_ != 0; }
  constexpr int64_t as_integer() const noexcept { return static_cast<int64_t>(payload_); }
  constexpr double as_real() const noexcept { return std::bit_cast<double>(payload_); }
  // Any number as a double (an int64 past 2^53 rounds).
  constexpr double as_double() const noexcept {
    return kind_ == Kind::integer ? static_cast<double>(as_integer()) : as_real();
  }
  std::string_view as_string() const noexcept { return {reinterpret_cast<const char*>(payload_), length_}; }

  constexpr bool is_encoded() const noexcept {
    return (kind_ == Kind::array || kind_ == Kind::object) && form_ == kEncoded;
  }
  constexpr bool is_built() const noexcept {
    return (kind_ == Kind::array || kind_ == Kind::object) && form_ == kBuilt;
  }
  constexpr bool is_extended() const noexcept { return kind_ == Kind::object && form_ == kExtended; }
  std::span<const std::byte> encoded_bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(payload_), length_};
  }
  constexpr DictionaryNumber dictionary() const noexcept { return dictionary_; }
  std::span<const Value> built_elements() const noexcept {
    return {reinterpret_cast<const Value*>(payload_), length_};
  }
  std::span<const Member> built_members() const noexcept;
  const ExtendedObject& extended_object() const noexcept {
    return *reinterpret_cast<const ExtendedObject*>(payload_);
  }

  // How many elements or members; 0 for any other kind.
  uint32_t size() const noexcept;
  // The element at `index` of an array, else undefined.
  Value element(uint64_t index) const noexcept;
  // The member of an object by its name; undefined if there is none or this is no object.
  Value member(std::string_view name) const noexcept;
  // The same with the name's number looked up beforehand: the hot path of `c.a.b`.
  Value member(const ResolvedKey& key) const noexcept;
  // Where that member's value lies in the document, its tag first, without a look at it. Empty if there is
  // none, or where it takes a search by name.
  std::span<const std::byte> member_bytes(const ResolvedKey& key) const noexcept;
  // Whether it is an object with a member whose number is between these two, both included; of a document
  // whose dictionary has both. Names that stand inline have no number.
  bool has_member_between(const ResolvedKey& first, const ResolvedKey& last) const noexcept;
  // The member at a place in source order, in constant time; index < size(). In a damaged document it may be
  // without name and undefined.
  Member member_at(uint32_t index) const noexcept;

 private:
  // Look-ups that compare names: all forms but encoded, other dictionaries, names that stand inline.
  Value member_by_name(std::string_view name) const noexcept;

  static constexpr uint8_t kEncoded = 0;
  static constexpr uint8_t kBuilt = 1;
  static constexpr uint8_t kExtended = 2;

  constexpr Value(uint64_t payload, uint32_t length, DictionaryNumber dictionary, Kind kind,
                  uint8_t form) noexcept
      : payload_(payload), length_(length), dictionary_(dictionary), kind_(kind), form_(form) {}

  uint64_t payload_ = 0;
  uint32_t length_ = 0;
  DictionaryNumber dictionary_ = 0;
  Kind kind_ = Kind::undefined;
  uint8_t form_ = 0;
};
static_assert(sizeof(Value) == 16);

// A named value of an object. The name of an encoded member lives in its dictionary or in the document.
struct Member {
  std::string_view name;
  Value value;
};

// `own` is an encoded object without the names of `more`.
struct ExtendedObject {
  Value own;
  std::span<const Member> more;
};

inline Value Value::object(std::span<const Member> members) noexcept {
  return {reinterpret_cast<uint64_t>(members.data()), static_cast<uint32_t>(members.size()), 0, Kind::object,
          kBuilt};
}
inline Value Value::extended(const ExtendedObject& object) noexcept {
  return {reinterpret_cast<uint64_t>(&object), 0, 0, Kind::object, kExtended};
}
inline std::span<const Member> Value::built_members() const noexcept {
  return {reinterpret_cast<const Member*>(payload_), length_};
}

}  // namespace quire::sql

#include "sql/value/value_access.h"  // the bodies of size, element and member, for the loops that inline them
