// The bytes of a binary document, and how they are read where they lie. All integers are little-endian and
// unaligned. This header and document_writer.cpp alone know them; a change to them is a change of the file
// format.
//
// A value is a tag byte and what follows it:
//
//   00..3F   integer 0..63                      40..7F   string of 0..63 bytes, which follow
//   80       null                               81, 82   false, true
//   84..87   integer, 1, 2, 4, 8 bytes, signed  88       double, 8 bytes
//   8C..8E   string: length in 1, 2, 4 bytes, then its bytes (UTF-8)
//   C0..DF   decimal: an integer, divided by a power of ten. C0 | power - 1 (0..7) << 2 | bytes - 1 (0..3),
//            then that many bytes, signed
//
//   array    A0 small   | count 1 | offsets 2 x (count + 1) | values ...
//            A1 large   | count 4 | offsets 4 x (count + 1) | values ...
//            A4 narrow  | count 1 | offsets 1 x (count + 1) | values ...
//   object   B0, B1, B4: the same, with keys 2 x count between the count and the offsets
//            B2, B3, B6: the same, and at least one key is FFFF
//            B8 small, BC narrow: the keys take 1 byte each
//
// A key is a number of the container's dictionary. FFFF says that the name stands inline: as a string value
// right before the member's value. Offsets count from the tag byte; offset[i] is where value i starts,
// offset[count] where the container ends. Values lie in source order without gaps, so that offset[0] is the
// length of the header. Small: at most 255 entries and 65,535 bytes; narrow: at most 255 bytes.
//
//   {"a": 7, "b": "xy"}   BC 02 | 00 01 | 07 08 0B | 07 | 42 78 79
//
// Reading trusts nothing. A value is confined to the slice between two neighbouring offsets, which must rise
// and stay within the container's own slice. So a walk over hostile bytes touches each byte at most once a
// level, levels shrink, and every walk ends; what does not fit reads as undefined.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sql/value/key_search.h"

namespace quire::sql::layout {

static_assert(std::endian::native == std::endian::little, "the file format is little-endian");

constexpr uint8_t kMostTagInteger = 0x3F;
constexpr uint8_t kShortString = 0x40;
constexpr uint8_t kMostShortString = 0x3F;  // bytes
constexpr uint8_t kNull = 0x80;
constexpr uint8_t kFalse = 0x81;
constexpr uint8_t kTrue = 0x82;
constexpr uint8_t kInteger1 = 0x84;
constexpr uint8_t kInteger2 = 0x85;
constexpr uint8_t kInteger4 = 0x86;
constexpr uint8_t kInteger8 = 0x87;
constexpr uint8_t kReal = 0x88;
constexpr uint8_t kString1 = 0x8C;
constexpr uint8_t kString2 = 0x8D;
constexpr uint8_t kString4 = 0x8E;
constexpr uint8_t kDecimal = 0xC0;
constexpr uint8_t kDecimalTags = 0x20;
constexpr uint8_t kArray = 0xA0;
constexpr uint8_t kObject = 0xB0;
constexpr uint8_t kLargeBit = 0x01;
constexpr uint8_t kInlineBit = 0x02;  // objects: some names stand inline
constexpr uint8_t kNarrowBit = 0x04;
constexpr uint8_t kShortKeysBit = 0x08;  // objects

constexpr uint32_t kMostSmallCount = 0xFF;
constexpr uint32_t kMostSmallBytes = 0xFFFF;
constexpr uint32_t kMostNarrowBytes = 0xFF;
constexpr uint16_t kMostShortKey = 0xFF;

template <typename T>
inline T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A double has these exactly, and any integer of four bytes: dividing rounds once, to the nearest double.
constexpr double kPowersOfTen[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
constexpr int kMostPlaces = 8;

constexpr bool is_decimal_tag(uint8_t tag) noexcept {
  return static_cast<uint8_t>(tag - kDecimal) < kDecimalTags;
}
constexpr uint8_t decimal_tag(int places, size_t bytes) noexcept {
  return static_cast<uint8_t>(kDecimal | static_cast<size_t>(places - 1) << 2 | (bytes - 1));
}
// Of the integer, behind the tag.
inline size_t decimal_bytes(uint8_t tag) noexcept {
  return (tag & 3) + size_t{1};
}
inline int decimal_places(uint8_t tag) noexcept {
  return ((tag - kDecimal) >> 2) + 1;
}
// `at` is the tag; the caller has checked that its bytes are there.
inline int32_t load_decimal_integer(const std::byte* at) noexcept {
  const auto high = [at](size_t byte) { return static_cast<int32_t>(static_cast<int8_t>(at[byte])); };
  switch (decimal_bytes(static_cast<uint8_t>(at[0]))) {
    case 1:
      return high(1);
    case 2:
      return load<int16_t>(at + 1);
    case 3:
      return high(3) * 0x10000 + load<uint16_t>(at + 1);
    default:
      return load<int32_t>(at + 1);
  }
}
inline double load_decimal(const std::byte* at) noexcept {
  return load_decimal_integer(at) / kPowersOfTen[decimal_places(static_cast<uint8_t>(at[0]))];
}

namespace tags {

constexpr bool is_array_form(int form) noexcept {
  return form == 0 || form == kLargeBit || form == kNarrowBit;
}
constexpr bool is_object_form(int form) noexcept {
  const int size = form & (kLargeBit | kNarrowBit);
  const int keys = form & (kShortKeysBit | kInlineBit);
  if (keys == (kShortKeysBit | kInlineBit)) return false;
  return size == 0 || size == kNarrowBit || (size == kLargeBit && keys != kShortKeysBit);
}
// A bit for each of the sixteen forms, so that a tag takes one look.
constexpr uint32_t bits_of(bool (*is_form)(int)) noexcept {
  uint32_t bits = 0;
  for (int form = 0; form < 16; ++form) bits |= static_cast<uint32_t>(is_form(form)) << form;
  return bits;
}
constexpr uint32_t kArrayForms = bits_of(is_array_form);
constexpr uint32_t kObjectForms = bits_of(is_object_form);

}  // namespace tags

constexpr bool is_array_tag(uint8_t tag) noexcept {
  return (tag & 0xF0) == kArray && (tags::kArrayForms >> (tag & 0x0F) & 1) != 0;
}
constexpr bool is_object_tag(uint8_t tag) noexcept {
  return (tag & 0xF0) == kObject && (tags::kObjectForms >> (tag & 0x0F) & 1) != 0;
}
// `tag` is an object's.
constexpr bool has_inline_names(uint8_t tag) noexcept {
  return (tag & kInlineBit) != 0;
}

// The header of an encoded array or object, with all its bounds checked; a damaged one reads as empty.
class Container {
 public:
  // `bytes` is the container's slice, its tag first.
  Container(std::span<const std::byte> bytes, bool is_object) noexcept
      : bytes_(bytes.data()), size_(static_cast<uint32_t>(bytes.size())) {
    if (size_ < 2) return;
    tag_ = static_cast<uint8_t>(bytes_[0]);
    uint64_t count;
    if ((tag_ & kLargeBit) == 0) [[likely]] {
      count = static_cast<uint8_t>(bytes_[1]);
      offset_bytes_ = (tag_ & kNarrowBit) != 0 ? 1 : 2;
      keys_ = 2;
    } else {
      if (size_ < 5) return;
      count = load<uint32_t>(bytes_ + 1);
      offset_bytes_ = 4;
      keys_ = 5;
    }
    const uint64_t key_bytes = !is_object ? 0 : has_short_keys() ? count : 2 * count;
    const uint64_t offsets = keys_ + key_bytes;
    const uint64_t values = offsets + offset_bytes_ * (count + 1);
    if (values > size_) [[unlikely]]
      return;
    count_ = static_cast<uint32_t>(count);
    offsets_ = static_cast<uint32_t>(offsets);
    values_ = static_cast<uint32_t>(values);
  }

  uint32_t count() const noexcept { return count_; }
  uint32_t header_size() const noexcept { return values_; }
  bool has_inline_names() const noexcept { return layout::has_inline_names(tag_); }
  uint16_t key(uint32_t index) const noexcept {
    const std::byte* const keys = bytes_ + keys_;
    return has_short_keys() ? load<uint8_t>(keys + index) : load<uint16_t>(keys + 2 * size_t{index});
  }
  // Where in the bytes a key ends (index < count()), and its value's offset begins.
  uint32_t end_of_key(uint32_t index) const noexcept {
    return keys_ + (has_short_keys() ? 1 : 2) * (index + 1);
  }
  uint32_t place_of_offset(uint32_t index) const noexcept { return offsets_ + offset_bytes_ * index; }
  uint32_t offset_bytes() const noexcept { return offset_bytes_; }
  // The index of the first member with this key; count() if there is none.
  uint32_t find(uint16_t key) const noexcept {
    const std::byte* const keys = bytes_ + keys_;
    const std::byte* const end = bytes_ + size_;
    if (!has_short_keys()) return find_key_number(keys, count_, end, key);
    return key <= kMostShortKey ? find_short_key(keys, count_, end, static_cast<uint8_t>(key)) : count_;
  }
  // Whether some key is one of [first, last].
  bool has_key_between(uint16_t first, uint16_t last) const noexcept {
    const std::byte* const keys = bytes_ + keys_;
    const std::byte* const end = bytes_ + size_;
    if (!has_short_keys()) return has_key_number_between(keys, count_, end, first, last);
    return first <= kMostShortKey &&
           has_short_key_between(keys, count_, end, static_cast<uint8_t>(first),
                                 static_cast<uint8_t>(std::min(last, kMostShortKey)));
  }

  // Where the container ends, counted from its tag.
  uint32_t extent() const noexcept {
    if (count_ == 0) return values_;
    const std::byte* const at = bytes_ + offsets_ + size_t{offset_bytes_} * count_;
    if (offset_bytes_ == 1) return load<uint8_t>(at);
    return offset_bytes_ == 2 ? load<uint16_t>(at) : load<uint32_t>(at);
  }

  // All values one after the other, each as slice() gives it, with the keys beside them.
  class Walk {
   public:
    explicit Walk(const Container& container) noexcept
        : bytes_(container.bytes_),
          size_(container.size_),
          values_(container.values_),
          left_(container.count_),
          width_(container.offset_bytes_),
          shift_(32 - 8 * container.offset_bytes_),
          key_bytes_(container.offsets_ == container.keys_ ? 0
                     : container.has_short_keys()          ? 1
                                                           : 2),
          key_mask_(container.has_short_keys() ? kMostShortKey : 0xFFFF) {
      if (left_ == 0) return;  // there may be no bytes at all
      key_at_ = bytes_ + container.keys_;
      offset_end_ = bytes_ + container.offsets_ + container.offset_bytes_;
      const std::byte* const first = bytes_ + container.offsets_;
      end_ = width_ == 1 ? load<uint8_t>(first) : width_ == 2 ? load<uint16_t>(first) : load<uint32_t>(first);
    }

    // To the next value; false behind the last one.
    bool next() noexcept {
      if (left_ == 0) return false;
      --left_;
      begin_ = end_;
      offset_end_ += width_;
      // The offset in the highest bytes of four: at least as many lie before the end of the second one.
      end_ = load<uint32_t>(offset_end_ - sizeof(uint32_t)) >> shift_;
      key_ = load<uint16_t>(key_at_) & key_mask_;
      key_at_ += key_bytes_;
      return true;
    }
    // Of an object. (Of an array, anything.)
    uint16_t key() const noexcept { return static_cast<uint16_t>(key_); }
    std::span<const std::byte> slice() const noexcept {
      if (begin_ < values_ || end_ <= begin_ || end_ > size_) [[unlikely]]
        return {};
      return {bytes_ + begin_, end_ - begin_};
    }

   private:
    const std::byte* bytes_;
    uint32_t size_, values_, left_;
    uint32_t width_, shift_;
    uint32_t key_bytes_, key_mask_;
    const std::byte* key_at_ = nullptr;
    const std::byte* offset_end_ = nullptr;
    uint32_t begin_ = 0, end_ = 0, key_ = 0;
  };

  // The bytes between two neighbouring offsets, never empty unless the document is damaged; index < count().
  std::span<const std::byte> slice(uint32_t index) const noexcept {
    const std::byte* const at = bytes_ + offsets_ + size_t{offset_bytes_} * index;
    uint32_t begin;
    uint32_t end;
    if (offset_bytes_ == 2) [[likely]] {
      const auto both = load<uint32_t>(at);
      begin = both & 0xFFFF;
      end = both >> 16;
    } else if (offset_bytes_ == 1) {
      const auto both = load<uint16_t>(at);
      begin = both & 0xFF;
      end = both >> 8;
    } else {
      const auto both = load<uint64_t>(at);
      begin = static_cast<uint32_t>(both);
      end = static_cast<uint32_t>(both >> 32);
    }
    if (begin < values_ || end <= begin || end > size_) [[unlikely]]
      return {};
    return {bytes_ + begin, end - begin};
  }

 private:
  bool has_short_keys() const noexcept { return (tag_ & kShortKeysBit) != 0; }

  const std::byte* bytes_;
  uint32_t size_;
  uint32_t count_ = 0;
  uint32_t keys_ = 0;
  uint32_t offsets_ = 0;
  uint32_t values_ = 0;
  uint32_t offset_bytes_ = 2;
  uint8_t tag_ = 0;
};

// The bytes that a string value takes in all, tag and length included; 0 if no string fits in `bytes`.
inline size_t string_extent(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return 0;
  const auto tag = static_cast<uint8_t>(bytes[0]);
  size_t extent = 0;
  if (tag >= kShortString && tag <= kShortString + kMostShortString)
    extent = 1 + size_t{static_cast<uint8_t>(tag - kShortString)};
  else if (tag == kString1 && bytes.size() >= 2)
    extent = 2 + size_t{load<uint8_t>(bytes.data() + 1)};
  else if (tag == kString2 && bytes.size() >= 3)
    extent = 3 + size_t{load<uint16_t>(bytes.data() + 1)};
  else if (tag == kString4 && bytes.size() >= 5)
    extent = 5 + size_t{load<uint32_t>(bytes.data() + 1)};
  return extent <= bytes.size() ? extent : 0;
}

}  // namespace quire::sql::layout
