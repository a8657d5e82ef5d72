// The names that the objects of a script have, form by form. The engine gives an object its members one by
// one, and looks each time whether it knows objects with as many of these names: a script whose first calls
// were watched begins with an object of each form, and of each step on the way there, and with the names'
// numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quire::engine {

class ObjectForms {
 public:
  // So an image grows by some 130 KB at most.
  static constexpr size_t kMostForms = 16, kMostNames = 32;
  using Form = std::vector<std::string>;

  // A range of texts. A form that is there already, or has too many names, is passed over.
  template <typename Names>
  void add(const Names& names) {
    if (forms_.size() == kMostForms) return;
    for (const Form& form : forms_)
      if (std::ranges::equal(form, names)) return;
    Form form;
    for (const std::string_view name : names) form.emplace_back(name);
    if (!form.empty() && form.size() <= kMostNames) forms_.push_back(std::move(form));
  }
  const std::vector<Form>& all() const noexcept { return forms_; }

 private:
  std::vector<Form> forms_;
};

}  // namespace quire::engine
