// A dot-command's line as words: separated by blanks, or held together by single or double quotes.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace quire::shell {

// The error says what is wrong with the line.
std::expected<std::vector<std::string>, std::string> split_words(std::string_view line);

// Options of a command's words: `--name value` for each name in `with_value`, `--name` for each in `flags`;
// behind a `--` no word is an option.
struct Option {
  std::string name;
  std::string value;
};
struct ParsedArguments {
  std::vector<std::string> positional;
  std::vector<Option> options;

  bool has(std::string_view name) const;
  std::vector<std::string> values(std::string_view name) const;
};
std::expected<ParsedArguments, std::string> parse_arguments(const std::vector<std::string>& words,
                                                            const std::vector<std::string_view>& with_value,
                                                            const std::vector<std::string_view>& flags);

}  // namespace quire::shell
