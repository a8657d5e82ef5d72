// The numbers that the engine has given to names of properties ("atoms"), as far as they came up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace quire::engine {

struct PropertyName {
  std::string text;
  uint32_t number;
  bool is_to_json = text == "toJSON";
};

// Those of an image, or of a run. Whoever adds a number has the engine hold it, so that it keeps its name.
class PropertyNames {
 public:
  PropertyNames() = default;
  PropertyNames(const PropertyNames&) = delete;
  PropertyNames& operator=(const PropertyNames&) = delete;

  // Null: it did not come up. Good until clear().
  const PropertyName* find(std::string_view text) const {
    const auto found = by_text_.find(text);
    return found != by_text_.end() ? found->second : nullptr;
  }
  const PropertyName* find(uint32_t number) const {
    const auto found = by_number_.find(number);
    return found != by_number_.end() ? found->second : nullptr;
  }
  // One that is not there yet.
  const PropertyName& add(std::string text, uint32_t number) {
    const PropertyName& added = names_.emplace_back(std::move(text), number);
    by_text_.emplace(added.text, &added);
    by_number_.emplace(number, &added);
    return added;
  }
  void add_all(const PropertyNames& others) {
    for (const PropertyName& name : others.names_) add(name.text, name.number);
  }
  void clear() noexcept {
    by_text_.clear();
    by_number_.clear();
    names_.clear();
  }
  size_t size() const noexcept { return names_.size(); }
  auto begin() const noexcept { return names_.begin(); }
  auto end() const noexcept { return names_.end(); }

 private:
  std::deque<PropertyName> names_;
  std::unordered_map<std::string_view, const PropertyName*> by_text_;
  std::unordered_map<uint32_t, const PropertyName*> by_number_;
};

// What a run knows: the names of its image, and those that came up since. Belongs to one sandbox.
class RunNames {
 public:
  static constexpr size_t kMost = 4096;  // of the run's own, before what goes in or out begins

  void begin(std::shared_ptr<const PropertyNames> of_image) noexcept {
    if (of_image == of_image_ && own_.size() == 0) return;  // what was found is there still
    of_image_ = std::move(of_image);
    clear();
  }
  // Null: it did not come up. Good until clear().
  const PropertyName* find(std::string_view text) {
    const PropertyName*& recent = recent_texts_[place_of(text)];
    if (recent == nullptr || std::string_view(recent->text) != text) recent = find_in_both(text);
    return recent;
  }
  const PropertyName* find(uint32_t number) {
    const PropertyName*& recent = recent_numbers_[number % kRecent];
    if (recent == nullptr || recent->number != number) recent = find_in_both(number);
    return recent;
  }
  // One that is not there yet.
  const PropertyName& add(std::string text, uint32_t number) { return own_.add(std::move(text), number); }
  bool is_full() const noexcept { return own_.size() >= kMost; }
  const PropertyNames& own() const noexcept { return own_; }
  // Forgets the run's own.
  void clear() noexcept {
    own_.clear();
    recent_texts_.fill(nullptr);
    recent_numbers_.fill(nullptr);
  }
  // All of them, for an image that is made now.
  std::shared_ptr<const PropertyNames> all() const {
    auto names = std::make_shared<PropertyNames>();
    if (of_image_ != nullptr) names->add_all(*of_image_);
    names->add_all(own_);
    return names;
  }

 private:
  // Objects that are alike ask for the same few names again and again.
  static constexpr size_t kRecent = 256;
  using Recent = std::array<const PropertyName*, kRecent>;

  static size_t place_of(std::string_view text) noexcept {
    uint64_t word = 0;
    if (text.size() >= sizeof word) {
      std::memcpy(&word, text.data(), sizeof word);
    } else {
      for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
    }
    word = (word ^ text.size()) * 0x9E3779B97F4A7C15;
    return word >> 56;
  }
  template <typename Key>
  const PropertyName* find_in_both(Key key) const {
    const PropertyName* const found = of_image_ != nullptr ? of_image_->find(key) : nullptr;
    return found != nullptr ? found : own_.find(key);
  }

  std::shared_ptr<const PropertyNames> of_image_;
  PropertyNames own_;
  Recent recent_texts_{}, recent_numbers_{};
};

}  // namespace quire::engine
