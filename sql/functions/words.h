// The words of a text, as full-text search counts them.
#pragma once

#include <optional>
#include <string_view>

namespace quire::sql {

// Hands out words by Unicode's rules of word boundaries (UAX 29), as far as search needs them: runs of
// letters, digits and their marks; an apostrophe or a full stop between letters joins them ("don't", "e.g"),
// a comma or a full stop between digits too ("1,000.5"). Chinese characters and Hiragana, which are written
// without spaces, are a word each.
class WordReader {
 public:
  explicit WordReader(std::string_view text) noexcept : rest_(text) {}

  // A part of the text; nothing at its end.
  std::optional<std::string_view> next() noexcept;

 private:
  std::string_view rest_;
};

}  // namespace quire::sql
