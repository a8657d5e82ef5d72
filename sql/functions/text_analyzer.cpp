#include "sql/functions/text_analyzer.h"

#include <libstemmer.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "sql/functions/letter_case.h"
#include "sql/functions/stop_words.h"

namespace quire::sql {
namespace {

struct Language {
  std::string_view code;
  const char* stemmer;
};
constexpr Language kLanguages[] = {
    {"ar-SA", "arabic"},     {"ca-ES", "catalan"},   {"da-DK", "danish"},     {"de-DE", "german"},
    {"el-GR", "greek"},      {"en-US", "english"},   {"es-ES", "spanish"},    {"eu-ES", "basque"},
    {"fi-FI", "finnish"},    {"fr-FR", "french"},    {"ga-IE", "irish"},      {"hi-IN", "hindi"},
    {"hu-HU", "hungarian"},  {"hy-AM", "armenian"},  {"id-ID", "indonesian"}, {"it-IT", "italian"},
    {"lt-LT", "lithuanian"}, {"nb-NO", "norwegian"}, {"nl-NL", "dutch"},      {"pt-BR", "portuguese"},
    {"pt-PT", "portuguese"}, {"ro-RO", "romanian"},  {"ru-RU", "russian"},    {"sr-RS", "serbian"},
    {"sv-SE", "swedish"},    {"tr-TR", "turkish"},
};

// Longer words, which no language has, keep their endings and are not remembered.
constexpr size_t kLongestWord = 128;
constexpr size_t kMostRememberedStems = 1 << 16;

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Letters with their marks as one code point each where there is one, so that both ways of writing them are
// the same word; and the apostrophe that the stemmers know for the one that typesetters use.
std::string normalized(std::string_view word) {
  utf8proc_uint8_t* composed = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(word.data()), static_cast<utf8proc_ssize_t>(word.size()),
      &composed, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
  std::string text = size < 0
                         ? std::string(word)
                         : std::string(reinterpret_cast<const char*>(composed), static_cast<size_t>(size));
  constexpr std::string_view kRightQuote = "\u2019";
  for (size_t at = text.find(kRightQuote); at != std::string::npos; at = text.find(kRightQuote, at))
    text.replace(at, kRightQuote.size(), "'");
  return text;
}

}  // namespace

bool is_text_language(std::string_view code) noexcept {
  return std::ranges::find(kLanguages, code, &Language::code) != std::end(kLanguages);
}

std::string text_languages() {
  std::string list;
  for (const Language& language : kLanguages) {
    if (!list.empty()) list += ", ";
    list += language.code;
  }
  return list;
}

void TextAnalyzer::DeleteStemmer::operator()(sb_stemmer* stemmer) const noexcept {
  sb_stemmer_delete(stemmer);
}

TextAnalyzer::TextAnalyzer(std::string_view language)
    : has_english_stop_words_(language == kDefaultTextLanguage) {
  const auto* found = std::ranges::find(kLanguages, language, &Language::code);
  if (found != std::end(kLanguages)) stemmer_.reset(sb_stemmer_new(found->stemmer, "UTF_8"));
}

std::optional<std::string_view> TextAnalyzer::next() {
  while (const std::optional<std::string_view> word = words_.next()) {
    const std::string& stem = stem_of(*word);
    if (!stem.empty()) return stem;
  }
  return std::nullopt;
}

const std::string& TextAnalyzer::stem_of(std::string_view word) {
  if (word.size() > kLongestWord) {
    word_ = make_stem(word);
    return word_;
  }
  word_ = word;
  const auto found = stems_.find(word_);
  if (found != stems_.end()) return found->second;
  if (stems_.size() == kMostRememberedStems) stems_.clear();
  return stems_.emplace(word_, make_stem(word)).first->second;
}

std::string TextAnalyzer::make_stem(std::string_view word) {
  arena_.reset();
  std::string lower(to_lower(word, arena_));
  if (!is_ascii(lower)) lower = normalized(lower);
  if (has_english_stop_words_ && is_english_stop_word(lower)) return {};
  if (stemmer_ == nullptr || lower.size() > kLongestWord) return lower;
  const sb_symbol* stem = sb_stemmer_stem(stemmer_.get(), reinterpret_cast<const sb_symbol*>(lower.data()),
                                          static_cast<int>(lower.size()));
  if (stem == nullptr) return lower;  // out of memory
  return {reinterpret_cast<const char*>(stem), static_cast<size_t>(sb_stemmer_length(stemmer_.get()))};
}

}  // namespace quire::sql
