// The terms that full-text search looks for, and how often they occur in a text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/functions/text_analyzer.h"
#include "sql/value/value.h"

namespace quire::sql {

// Of one word: that word. Of several: the words side by side. At a distance: words whose stems become the
// term's by that many inserted, deleted or changed letters.
struct TextTerm {
  std::vector<std::string> stems;
  uint32_t distance = 0;
  std::vector<std::u32string> letters;  // of the stems, at a distance alone
};

inline constexpr size_t kMostTermWords = 64;  // a bit each
inline constexpr uint32_t kMostTermDistance = 2;

// A string or {term, distance}; nothing if it is neither, or past the bounds above. A term may turn out to
// hold no word but stop words.
std::optional<TextTerm> read_text_term(const Value& value, TextAnalyzer& analyzer);

// What a text holds of some terms.
struct TermCounts {
  uint64_t words = 0;                 // all of its words, stop words aside
  std::vector<uint64_t> counts;       // by term
  std::vector<uint64_t> in_progress;  // by term: the phrases that the last word begins or goes on with
};

// Reads the text once, whatever the number of words in a term: a phrase in progress is a bit in a word of
// bits that shifts by one with each word of the text (Shift-And, Baeza-Yates and Gonnet 1992).
void count_terms(std::string_view text, std::span<const TextTerm> terms, TextAnalyzer& analyzer,
                 TermCounts& counts);

}  // namespace quire::sql
