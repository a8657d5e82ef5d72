// JSON of what lies in a document, without spaces: most of all that is written. It is written by its bytes,
// without a Value for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sql/value/json_pen.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/value.h"

namespace quire::sql {

class StoredJsonWriter {
 public:
  // `value` is an encoded array or object, whose names these are.
  StoredJsonWriter(Pen& pen, const Value& value, const KeyDictionary& names) noexcept;

  // At `at`, `level` levels deep in what is written; returns past it.
  char* write(char* at, size_t level);

 private:
  struct Bytes {
    const char* at;
    size_t size;
    uint8_t tag() const noexcept { return static_cast<uint8_t>(*at); }
    std::span<const std::byte> span() const noexcept {
      return {reinterpret_cast<const std::byte*>(at), size};
    }
  };
  // What writes a value is called where there is room for any scalar but a long string, and leaves room for a
  // comma. Nothing is written where the document is damaged.
  char* value(char* at, Bytes bytes);
  char* other_value(char* at, Bytes bytes);
  char* short_text(char* at, Bytes bytes) const;
  char* text(char* at, Bytes bytes) const;
  static int32_t last_bytes(const char* end, size_t bytes) noexcept;
  static char* decimal(char* at, Bytes bytes);
  static char* integer(char* at, Bytes bytes);
  static char* small_integer(char* at, uint8_t integer);
  static char* literal(char* at, uint8_t tag);
  char* scalar(char* at, Bytes bytes);
  char* object(char* at, Bytes bytes);
  char* array(char* at, Bytes bytes);
  template <typename Offset, typename Key>
  char* container(char* at, Bytes bytes);
  static char* put_long_name(char* at, std::string_view name);
  char* inline_member(char* at, Bytes bytes);

  Pen& pen_;
  Value value_;
  const char* whole_steps_before_;  // from what lies there on kPlainStep bytes may be read
  const KeyDictionary& names_;
  size_t level_ = 0;
};

}  // namespace quire::sql
