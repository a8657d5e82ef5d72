// A scalar of a document changed where it stands, rather than the document written anew: of an item of which
// one number changes, all but a few bytes stay as they are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sql/value/key_dictionary.h"
#include "sql/value/value.h"

namespace quire::sql {

// Good until the document changes by another way than this.
class DocumentEdit {
 public:
  // `document` is one of `dictionary`'s; both must outlive the edit.
  DocumentEdit(std::string& document, KeyDictionary& dictionary)
      : document_(document), dictionary_(dictionary) {}

  // To what stands under these names, one within the other. False where nothing does, where it is more than
  // kMostLevels deep, an array is on the way, or an object that has some of its names beside its values.
  bool seek(std::span<const std::string_view> names);
  // The value at hand.
  Value value() const noexcept;
  // Puts a scalar in its place; the document is then what encode_value() would make of it. False, and nothing
  // done, where the header of an object around it would have to take another form.
  bool overwrite(const Value& scalar);

 private:
  static constexpr size_t kMostLevels = 8;
  // An object on the way, and which of its members the next one is.
  struct Level {
    uint32_t start;  // in the document
    uint32_t bytes;
    uint32_t member;
  };

  std::span<const std::byte> bytes_at(uint32_t start, uint32_t size) const noexcept {
    return std::as_bytes(std::span(document_)).subspan(start, size);
  }
  bool keeps_form(const Level& level, int64_t more) const noexcept;
  void move_offsets(const Level& level, int64_t more) noexcept;

  std::string& document_;
  KeyDictionary& dictionary_;
  std::array<Level, kMostLevels> levels_{};
  size_t depth_ = 0;
  uint32_t start_ = 0, bytes_ = 0;  // of the value at hand
  std::string scalar_;
};

}  // namespace quire::sql
