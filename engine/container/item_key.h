// The key of an item in <c>/items: the EPK (16 bytes a component of the partition key; none without one),
// then the id.
//
//   short form, up to 510 bytes:   EPK | id
//   long form, exactly 511 bytes:  EPK | the id's first bytes | 128-bit hash of the whole id
//
// Two long ids may, in theory, share a key: who finds a record by a long form compares the id in the
// document.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/catalog/container_definition.h"
#include "engine/container/effective_partition_key.h"
#include "engine/file/table.h"
#include "sql/value/value.h"

namespace quire::engine {

inline constexpr size_t kLongestItemId = 1023;
// Of a longer id a message tells the beginning, so that there is room for the reason.
inline constexpr size_t kLongestShownId = 255;
inline constexpr size_t kIdHashBytes = 16;

// On the stack or in place: building one allocates nothing. Order of the bytes is order in the table.
class ItemKey {
 public:
  ItemKey() = default;
  // Of the room for the longest key a copy takes what this one has.
  ItemKey(const ItemKey& other) noexcept { *this = other; }
  ItemKey& operator=(const ItemKey& other) noexcept {
    if (this == &other) return *this;
    size_ = other.size_;
    std::memcpy(bytes_, other.bytes_, size_);
    return *this;
  }
  // `components`: one for each path of the container; checked by check_partition_key. `id`: checked by
  // check_item_id.
  ItemKey(std::span<const sql::Value> components, std::string_view id,
          PartitionHash hash = effective_partition_key) {
    assign(components, id, hash);
  }
  void assign(std::span<const sql::Value> components, std::string_view id, PartitionHash hash);

  Bytes bytes() const noexcept { return {bytes_, size_}; }
  // The EPK of the first `components` components.
  Bytes epk(size_t components) const noexcept { return {bytes_, components * kEpkBytes}; }

 private:
  size_t size_ = 0;
  char bytes_[kLongestTableKey];
};

// The items in so many parts of about the same size, by the first 30 bits of their EPK, which has no more
// that change: the keys of a part are from its start to before that of the next. part < parts.
std::string start_of_part(uint32_t part, uint32_t parts);

// Whether a key stands for an id that had to be hashed.
inline bool is_long_form(Bytes key) noexcept {
  return key.size() == kLongestTableKey;
}

// The id of a key as far as it is there, for messages and for short forms.
inline std::string_view id_of_key(Bytes key, size_t components) noexcept {
  const size_t epk = components * kEpkBytes;
  return key.size() < epk ? std::string_view() : key.substr(epk);
}

// The rules for ids: a string of 1..1023 bytes without / \ ? #. invalid_id, saying which rule.
Result<void> check_item_id(const sql::Value& id);

// A random (version 4) UUID, 36 characters.
struct Uuid {
  char text[36];
  std::string_view view() const noexcept { return {text, sizeof text}; }
};
Uuid make_uuid();

}  // namespace quire::engine
