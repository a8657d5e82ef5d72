// From a text to the stems that full-text search compares: its words in lower case, without the stop words,
// each cut to its stem by the rules of its language (Snowball's, from libstemmer).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sql/functions/words.h"
#include "sql/value/arena.h"

struct sb_stemmer;

namespace quire::sql {

inline constexpr std::string_view kDefaultTextLanguage = "en-US";

// Whether it is the code of a language whose endings are known, in the case that Azure has it in.
bool is_text_language(std::string_view code) noexcept;
// All of them, for messages: "ar-SA, ca-ES, ...".
std::string text_languages();

// Belongs to one thread at a time.
class TextAnalyzer {
 public:
  // By the code in a full-text policy, "en-US". Words of a language that it does not know keep their endings.
  explicit TextAnalyzer(std::string_view language);

  void start(std::string_view text) { words_ = WordReader(text); }
  // The next stem, good until the next call; nothing at the end of the text.
  std::optional<std::string_view> next();

 private:
  struct DeleteStemmer {
    void operator()(sb_stemmer* stemmer) const noexcept;
  };

  // Empty for a stop word.
  const std::string& stem_of(std::string_view word);
  std::string make_stem(std::string_view word);

  std::unique_ptr<sb_stemmer, DeleteStemmer> stemmer_;  // null: none for the language
  bool has_english_stop_words_;
  WordReader words_{{}};
  Arena arena_;
  // Texts use the same words over and over, and finding a stem is dear.
  std::unordered_map<std::string, std::string> stems_;
  std::string word_;  // a key to look up
};

}  // namespace quire::sql
