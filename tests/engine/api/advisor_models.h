// Containers that are modelled well or in one way badly, made item by item, for the advisor to judge.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire::tests {

struct ModelContainer {
  std::string definition;
  std::vector<std::string> items;  // JSON
};

struct Model {
  std::string_view name;
  // The first container is the one that is judged.
  std::function<std::vector<ModelContainer>()> make;
  // Run on it before: a query and how often.
  std::vector<std::pair<std::string, int>> queries;
  // The kinds of findings besides notes; none: nothing to change.
  std::vector<std::string> expected;
  std::string path;  // of the first finding, if it matters
  std::string note;  // a note that there must be
};

std::span<const Model> models();

}  // namespace quire::tests
