#include "shell/arguments.h"

#include <algorithm>

namespace quire::shell {

std::expected<std::vector<std::string>, std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  size_t at = 0;
  while (true) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    if (at == line.size()) return words;
    std::string word;
    while (at < line.size() && line[at] != ' ' && line[at] != '\t') {
      const char quote = line[at];
      if (quote != '\'' && quote != '"') {
        word += line[at++];
        continue;
      }
      const size_t end = line.find(quote, at + 1);
      if (end == std::string_view::npos) return std::unexpected("a quotation mark is not closed");
      word += line.substr(at + 1, end - at - 1);
      at = end + 1;
    }
    words.push_back(std::move(word));
  }
}

bool ParsedArguments::has(std::string_view name) const {
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return option.name == name; });
}

std::vector<std::string> ParsedArguments::values(std::string_view name) const {
  std::vector<std::string> found;
  for (const Option& option : options)
    if (option.name == name) found.push_back(option.value);
  return found;
}

std::expected<ParsedArguments, std::string> parse_arguments(const std::vector<std::string>& words,
                                                            const std::vector<std::string_view>& with_value,
                                                            const std::vector<std::string_view>& flags) {
  const auto is_in = [](const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  ParsedArguments parsed;
  bool takes_options = true;
  for (size_t i = 0; i < words.size(); ++i) {
    if (takes_options && words[i] == "--") {
      takes_options = false;
      continue;
    }
    if (!takes_options || !words[i].starts_with("--")) {
      parsed.positional.push_back(words[i]);
      continue;
    }
    std::string name = words[i].substr(2);
    std::string value;
    const size_t equals = name.find('=');
    const bool has_value = equals != std::string::npos;
    if (has_value) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (is_in(flags, name)) {
      if (has_value) return std::unexpected("--" + name + " takes no value");
    } else if (!is_in(with_value, name)) {
      return std::unexpected("there is no option --" + name);
    } else if (!has_value) {
      if (i + 1 == words.size()) return std::unexpected("--" + name + " needs a value");
      value = words[++i];
    }
    parsed.options.push_back({std::move(name), std::move(value)});
  }
  return parsed;
}

}  // namespace quire::shell
