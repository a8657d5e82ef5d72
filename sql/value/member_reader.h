// The members of an object and the elements of an array in source order, for loops over all of them: the
// header is checked and the dictionary found once, not for each.
#pragma once

#include "sql/value/document_layout.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/value.h"

namespace quire::sql {

class MemberReader {
 public:
  // `object` is an object.
  explicit MemberReader(const Value& object) noexcept
      : object_(object),
        container_(object.is_encoded() ? object.encoded_bytes() : std::span<const std::byte>(), true),
        dictionary_(object.is_encoded() ? KeyDictionary::of(object.dictionary()) : nullptr) {}

  uint32_t size() const noexcept {
    return object_.is_encoded() ? container_.count() : static_cast<uint32_t>(object_.built_members().size());
  }
  // index < size(). Without name and undefined where the document is damaged.
  Member operator[](uint32_t index) const noexcept {
    if (object_.is_built()) return object_.built_members()[index];
    const std::span<const std::byte> slice = container_.slice(index);
    const KeyNumber key = container_.key(index);
    if (key == kInlineKey) [[unlikely]] {
      const size_t extent = layout::string_extent(slice);
      if (extent == 0) return {};
      return {decode_value(slice, 0).as_string(), decode_value(slice.subspan(extent), object_.dictionary())};
    }
    const std::string_view name = dictionary_ ? dictionary_->name(key) : std::string_view();
    if (name.data() == nullptr) return {};
    return {name, decode_value(slice, object_.dictionary())};
  }

 private:
  Value object_;
  layout::Container container_;
  const KeyDictionary* dictionary_;
};

// The same one after the other.
class MemberWalk {
 public:
  // `object` is an object.
  explicit MemberWalk(const Value& object) noexcept
      : object_(object),
        container_(object.is_encoded() ? object.encoded_bytes() : std::span<const std::byte>(), true),
        walk_(container_),
        dictionary_(object.is_encoded() ? KeyDictionary::of(object.dictionary()) : nullptr) {}

  uint32_t size() const noexcept {
    return object_.is_encoded() ? container_.count() : static_cast<uint32_t>(object_.built_members().size());
  }
  // False behind the last one. `member` is without name and undefined where the document is damaged.
  bool next(Member& member) noexcept {
    if (object_.is_built()) {
      if (next_ == size()) return false;
      member = object_.built_members()[next_++];
      return true;
    }
    if (!walk_.next()) return false;
    const std::string_view name = dictionary_ ? dictionary_->name(walk_.key()) : std::string_view();
    if (name.data() != nullptr) [[likely]]
      member = {name, decode_value(walk_.slice(), object_.dictionary())};
    else
      member = object_.member_at(next_);
    ++next_;
    return true;
  }

 private:
  Value object_;
  layout::Container container_;
  layout::Container::Walk walk_;
  const KeyDictionary* dictionary_;
  uint32_t next_ = 0;
};

class ElementReader {
 public:
  // Any other value than an array has none.
  explicit ElementReader(const Value& array) noexcept
      : array_(array),
        container_(
            array.is_array() && array.is_encoded() ? array.encoded_bytes() : std::span<const std::byte>(),
            false) {}

  uint32_t size() const noexcept {
    if (!array_.is_array()) return 0;
    return array_.is_encoded() ? container_.count() : static_cast<uint32_t>(array_.built_elements().size());
  }
  // index < size(). Undefined where the document is damaged.
  Value operator[](uint32_t index) const noexcept {
    if (array_.is_built()) return array_.built_elements()[index];
    return decode_value(container_.slice(index), array_.dictionary());
  }

 private:
  Value array_;
  layout::Container container_;
};

}  // namespace quire::sql
