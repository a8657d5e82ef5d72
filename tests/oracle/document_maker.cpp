#include "tests/oracle/document_maker.h"

#include <fmt/format.h>

namespace quire::sql::oracle {

std::string DocumentMaker::document(size_t number) {
  std::string text = fmt::format(R"({{"id":"{}")", number);
  for (const std::string_view name : kNames)
    if (!choices_.one_in(4)) text += fmt::format(R"(,"{}":{})", name, value_for(name));
  return text + "}";
}

std::vector<std::string> DocumentMaker::documents(size_t count, size_t copies) {
  std::vector<std::string> made;
  while (made.size() < count) made.push_back(document(made.size()));
  while (made.size() < count * copies) made.push_back(made[made.size() - count]);
  return made;
}

std::string DocumentMaker::value_for(std::string_view name) {
  if (choices_.one_in(6)) return value(name == "k" ? 0 : 2);  // no partition key is an array or an object
  if (name == "n") return std::string(choices_.one_of(kNumbers));
  if (name == "k" || name == "s") return string();
  if (name == "list") return array(choices_.pick(4), 2);
  return name == "o" ? object(2) : value(1);
}

std::string DocumentMaker::string() {
  return fmt::format("\"{}\"", choices_.one_of(kStrings));
}

std::string DocumentMaker::value(size_t depth) {
  switch (choices_.pick(depth > 0 ? 8 : 6)) {
    case 0:
    case 1:
      return std::string(choices_.one_of(kNumbers));
    case 2:
    case 3:
      return string();
    case 4:
      return choices_.one_in(2) ? "true" : "false";
    case 5:
      return "null";
    case 6:
      return array(choices_.pick(4), depth - 1);
    default:
      return object(depth - 1);
  }
}

std::string DocumentMaker::array(size_t size, size_t depth) {
  std::string text = "[";
  for (size_t left = size; left > 0; --left) text += value(depth) + (left > 1 ? "," : "");
  return text + "]";
}

std::string DocumentMaker::object(size_t depth) {
  std::string text = "{";
  for (const std::string_view name : {"x", "y", "n"})
    if (!choices_.one_in(2))
      text += fmt::format(R"({}"{}":{})", text.size() > 1 ? "," : "", name, value(depth));
  return text + "}";
}

}  // namespace quire::sql::oracle
