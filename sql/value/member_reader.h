// The members of an object and the elements of an array in source order, for loops over all of them: the
// header is checked and the dictionary found once, not for each.
#pragma once

#include <algorithm>
#include <span>

#include "sql/value/document_layout.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/value.h"

namespace quire::sql {

// The members that lie in a document, and those behind them in an arena: for an object that is not extended,
// one or the other are all.
class MemberParts {
 protected:
  // `object` is an object.
  explicit MemberParts(const Value& object) noexcept
      : own_(object.is_extended() ? object.extended_object().own : object),
        container_(own_.is_encoded() ? own_.encoded_bytes() : std::span<const std::byte>(), true),
        dictionary_(own_.is_encoded() ? KeyDictionary::of(own_.dictionary()) : nullptr),
        more_(object.is_extended() ? object.extended_object().more
              : object.is_built()  ? object.built_members()
                                   : std::span<const Member>()) {}

  uint32_t count() const noexcept { return container_.count() + static_cast<uint32_t>(more_.size()); }
  // Of the document; without name and undefined where that is damaged.
  Member stored(uint32_t index) const noexcept {
    const std::span<const std::byte> slice = container_.slice(index);
    const KeyNumber key = container_.key(index);
    if (key == kInlineKey) [[unlikely]] {
      const size_t extent = layout::string_extent(slice);
      if (extent == 0) return {};
      return {decode_value(slice, 0).as_string(), decode_value(slice.subspan(extent), own_.dictionary())};
    }
    const std::string_view name = dictionary_ ? dictionary_->name(key) : std::string_view();
    if (name.data() == nullptr) return {};
    return {name, decode_value(slice, own_.dictionary())};
  }

  Value own_;
  layout::Container container_;
  const KeyDictionary* dictionary_;
  std::span<const Member> more_;
};

class MemberReader : MemberParts {
 public:
  // `object` is an object.
  explicit MemberReader(const Value& object) noexcept : MemberParts(object) {}

  uint32_t size() const noexcept { return count(); }
  // index < size(). Without name and undefined where the document is damaged.
  Member operator[](uint32_t index) const noexcept {
    return index < container_.count() ? stored(index) : more_[index - container_.count()];
  }
};

// The same one after the other.
class MemberWalk : MemberParts {
 public:
  // `object` is an object.
  explicit MemberWalk(const Value& object) noexcept : MemberParts(object), walk_(container_) {}

  uint32_t size() const noexcept { return count(); }
  // False behind the last one. `member` is without name and undefined where the document is damaged.
  bool next(Member& member) noexcept {
    if (!walk_.next()) {
      if (next_ == count()) return false;
      member = more_[next_++ - container_.count()];
      return true;
    }
    const std::string_view name = dictionary_ ? dictionary_->name(walk_.key()) : std::string_view();
    if (name.data() != nullptr) [[likely]]
      member = {name, decode_value(walk_.slice(), own_.dictionary())};
    else
      member = stored(next_);
    ++next_;
    return true;
  }

 private:
  layout::Container::Walk walk_;
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
  // Those from `first` on, as many as `out` takes; first + out.size() <= size().
  void read(uint32_t first, std::span<Value> out) const noexcept {
    if (array_.is_built()) {
      std::ranges::copy(array_.built_elements().subspan(first, out.size()), out.begin());
      return;
    }
    const DictionaryNumber dictionary = array_.dictionary();
    for (Value& element : out) {
      const std::span<const std::byte> slice = container_.slice(first++);
      // Objects for the most part: what a tag of theirs says takes one look.
      if (!slice.empty() && layout::is_object_tag(static_cast<uint8_t>(slice[0])))
        element = Value::encoded(Kind::object, slice, dictionary);
      else
        element = decode_value(slice, dictionary);
    }
  }
  // The same where all of them are numbers; else false.
  bool read_numbers(uint32_t first, std::span<double> out) const noexcept {
    const bool is_built = array_.is_built();
    for (double& number : out) {
      const uint32_t index = first++;
      if (!is_built && load_decimal(container_.slice(index), number)) continue;
      const Value element = (*this)[index];
      if (!element.is_number()) return false;
      number = element.as_double();
    }
    return true;
  }

 private:
  // What most elements of vectors are. False for all else.
  static bool load_decimal(std::span<const std::byte> slice, double& number) noexcept {
    if (slice.empty()) return false;
    const auto tag = static_cast<uint8_t>(slice[0]);
    if (tag == layout::kReal && slice.size() > sizeof(double)) {
      number = layout::load<double>(slice.data() + 1);
      return true;
    }
    if (!layout::is_decimal_tag(tag) || slice.size() <= layout::decimal_bytes(tag)) return false;
    number = layout::load_decimal(slice.data());
    return true;
  }

  Value array_;
  layout::Container container_;
};

}  // namespace quire::sql
