// The names that the objects of a script have, form by form. The engine gives an object its members one by
// one, and looks each time whether it knows objects with as many of these names: a script whose first calls
// were watched begins with an object of each form, and of each step on the way there, and with the names'
// numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace quire::engine {

class ObjectForms {
 public:
  // Of one form, and of all together; names in bytes.
  static constexpr size_t kMostForms = 16, kMostNames = 32, kMostNamesOfAll = 128, kLongestName = 64;
  // By which an image may grow for them: a form of 32 names takes some 30 KB.
  static constexpr size_t kMostMemory = size_t{256} << 10;
  using Form = std::vector<std::string>;

  // A range of texts. A form that is there already, or for which there is no room, is passed over.
  template <typename Names>
  void add(const Names& names) {
    const auto is_too_long = [](std::string_view name) { return name.size() > kLongestName; };
    const auto count = static_cast<size_t>(std::ranges::distance(names));
    if (forms_.size() == kMostForms || count == 0 || count > std::min(kMostNames, names_left_)) return;
    for (const Form& form : forms_)
      if (std::ranges::equal(form, names)) return;
    if (std::ranges::any_of(names, is_too_long)) return;
    Form& form = forms_.emplace_back();
    for (const std::string_view name : names) form.emplace_back(name);
    names_left_ -= count;
  }
  const std::vector<Form>& all() const noexcept { return forms_; }

 private:
  std::vector<Form> forms_;
  size_t names_left_ = kMostNamesOfAll;
};

}  // namespace quire::engine
