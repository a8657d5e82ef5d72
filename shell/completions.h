// What a word at the prompt may become: dot-commands, modes, keywords, functions, containers, and the
// properties that items really have.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shell/session.h"

namespace quire::shell {

class Completions {
 public:
  explicit Completions(Session& session) : session_(session) {}

  // Whole words to put in the place of `word`, which `before` stands before.
  std::vector<std::string> of(std::string_view before, std::string_view word);

 private:
  std::vector<std::string> containers() const;
  // "address.city" and the like, of the containers that the text names, or of that in use.
  std::vector<std::string> paths(std::string_view text) const;
  bool is_path(const std::string& path) const;

  Session& session_;
};

}  // namespace quire::shell
