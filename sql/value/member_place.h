// Where the objects of a column have a member. Those of a container, and the elements of its arrays, look
// alike: their first bytes, tag, count and keys, are those of the object before, and then the member's offset
// stands where it stood there. One comparison then takes the place of a look at the header and of a search.
#pragma once

#include <cstring>

#include "sql/value/document_layout.h"
#include "sql/value/resolved_key.h"
#include "sql/value/value.h"

namespace quire::sql {

// For one key of one dictionary.
class MemberPlace {
 public:
  // The slice of the first member with this key, of an encoded object whose bytes are given; without data()
  // if there is none, and else empty where the object is damaged.
  std::span<const std::byte> find(std::span<const std::byte> object, KeyNumber key) noexcept {
    if (object.size() < kFrontBytes || object.size() < values_ || !looks_alike(object.data())) [[unlikely]]
      return search(object, key);
    const std::byte* const at = object.data() + offset_at_;
    uint32_t begin, end;
    if (offset_bytes_ == 2) {
      begin = layout::load<uint16_t>(at), end = layout::load<uint16_t>(at + 2);
    } else if (offset_bytes_ == 1) {
      begin = layout::load<uint8_t>(at), end = layout::load<uint8_t>(at + 1);
    } else {
      begin = layout::load<uint32_t>(at), end = layout::load<uint32_t>(at + 4);
    }
    if (begin < values_ || end <= begin || end > object.size()) [[unlikely]]
      return object.first(0);
    return object.subspan(begin, end - begin);
  }

 private:
  static constexpr size_t kFrontBytes = 16;

  bool looks_alike(const std::byte* object) const noexcept {
    const uint64_t different = ((layout::load<uint64_t>(object) ^ front_[0]) & mask_[0]) |
                               ((layout::load<uint64_t>(object + 8) ^ front_[1]) & mask_[1]);
    return different == 0;
  }

  std::span<const std::byte> search(std::span<const std::byte> bytes, KeyNumber key) noexcept {
    const layout::Container object(bytes, true);
    const uint32_t index = object.find(key);
    if (index == object.count()) return {};
    remember(bytes, object, index);
    const std::span<const std::byte> slice = object.slice(index);
    return slice.empty() ? bytes.first(0) : slice;
  }

  // Up to the key: behind it there may be others. What does not fit is searched for each time.
  void remember(std::span<const std::byte> bytes, const layout::Container& object, uint32_t index) noexcept {
    const size_t compared = object.end_of_key(index);
    if (compared > kFrontBytes || bytes.size() < kFrontBytes) return;
    std::memcpy(front_, bytes.data(), kFrontBytes);
    std::memset(mask_, 0, kFrontBytes);
    std::memset(mask_, 0xFF, compared);
    offset_bytes_ = object.offset_bytes();
    offset_at_ = object.place_of_offset(index);
    values_ = object.header_size();
  }

  uint64_t front_[2] = {};
  uint64_t mask_[2] = {~uint64_t{0}, ~uint64_t{0}};  // no object begins with a zero
  uint32_t offset_bytes_ = 0;
  uint32_t offset_at_ = 0;
  uint32_t values_ = 0;
};

// root.member(key), by the place that this key had in other roots.
inline Value member_at_place(const Value& root, const ResolvedKey& key, MemberPlace& place) noexcept {
  if (root.is_object() && root.is_encoded() && root.dictionary() == key.dictionary && key.is_known)
      [[likely]] {
    const std::span<const std::byte> slice = place.find(root.encoded_bytes(), key.number);
    if (slice.data() != nullptr) return decode_value(slice, key.dictionary);
  }
  return root.member(key);
}

}  // namespace quire::sql
