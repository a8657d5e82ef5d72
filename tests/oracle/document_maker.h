// Random documents: paths that are missing, mixed types, nested arrays and objects, extreme numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/oracle/choices.h"

namespace quire::sql::oracle {

inline constexpr std::string_view kNumbers[] = {"0",
                                                "1",
                                                "2",
                                                "3",
                                                "-1",
                                                "0.5",
                                                "-2.5",
                                                "1e3",
                                                "9007199254740993",
                                                "9007199254740992",
                                                "-9223372036854775808",
                                                "1e308",
                                                "0.1"};
inline constexpr std::string_view kStrings[] = {"a",   "b",       "ab", "",     "A",
                                                "aXb", "\\u00e9", "10", "true", "2024-01-31T00:00:00Z"};
inline constexpr std::string_view kNames[] = {"k", "a", "b", "n", "s", "list", "o"};

class DocumentMaker {
 public:
  explicit DocumentMaker(Choices& choices) : choices_(choices) {}

  std::string document(size_t number);
  // So many, from number 0 on, and that list again, until there are so many copies of it.
  std::vector<std::string> documents(size_t count, size_t copies = 1);
  // Any JSON, nested so deep at most.
  std::string value(size_t depth);
  std::string array(size_t size, size_t depth);

 private:
  std::string value_for(std::string_view name);
  std::string string();
  std::string object(size_t depth);

  Choices& choices_;
};

}  // namespace quire::sql::oracle
