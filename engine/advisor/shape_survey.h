// Which properties items have together, and which property tells the kinds of items apart: a type
// discriminator.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/advisor/path_survey.h"

namespace quire::engine {

struct TypeOfItem {
  std::string value;
  uint64_t items = 0;
  // The top-level properties that most of them have, with the share that does.
  std::vector<std::pair<std::string, double>> properties;
};

struct Discriminator {
  std::string property;
  // Properties that items have or lack by the discriminator's value.
  size_t explained = 0;
  std::vector<TypeOfItem> types;
};

class ShapeSurvey {
 public:
  void add(const WalkedItem& item);
  // The property that explains most of the others' coming and going; nothing if none does.
  std::optional<Discriminator> discriminator() const;

 private:
  // Of a short string at the top: how often each other property stands beside each value.
  struct Value {
    uint64_t items = 0;
    std::vector<uint64_t> beside;  // by the number of the property
  };
  struct Candidate {
    std::map<std::string, Value, std::less<>> values;
    uint64_t items = 0;
    bool has_too_many = false;
  };
  Discriminator judge(size_t property, const Candidate& candidate) const;

  std::vector<std::string> properties_;
  std::map<std::string, size_t, std::less<>> number_of_;
  std::vector<uint64_t> items_with_;
  std::map<size_t, Candidate> candidates_;
  uint64_t items_ = 0;
};

}  // namespace quire::engine
