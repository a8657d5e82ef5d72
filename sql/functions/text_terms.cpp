#include "sql/functions/text_terms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "sql/functions/integers.h"

namespace quire::sql {
namespace {

std::u32string letters_of(std::string_view text) {
  std::u32string letters;
  while (!text.empty()) {
    utf8proc_int32_t code_point = 0;
    const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                   static_cast<utf8proc_ssize_t>(text.size()), &code_point);
    letters.push_back(size > 0 ? static_cast<char32_t>(code_point) : U'\uFFFD');
    text.remove_prefix(size > 0 ? static_cast<size_t>(size) : 1);
  }
  return letters;
}

// Whether at most `most` insertions, deletions and changes of letters make one of the other: Levenshtein's
// table, but only the cells so near its diagonal that they can matter.
bool is_within_distance(std::u32string_view a, std::u32string_view b, uint32_t most) {
  const size_t longer = std::max(a.size(), b.size());
  if (longer - std::min(a.size(), b.size()) > most) return false;
  constexpr size_t kWidth = 2 * kMostTermDistance + 1;
  const uint32_t too_far = most + 1;
  // Cell k of a row i is the distance of a's first i letters and b's first i + k - most.
  std::array<uint32_t, kWidth + 1> row;
  row.fill(too_far);
  for (uint32_t k = most; k <= 2 * most; ++k) row[k] = k - most;
  for (size_t i = 1; i <= a.size(); ++i) {
    uint32_t left = too_far;
    for (uint32_t k = 0; k <= 2 * most; ++k) {
      uint32_t cell = too_far;
      if (i + k >= most && i + k - most <= b.size()) {
        const size_t j = i + k - most;
        cell = std::min(row[k + 1], left) + 1;
        cell = std::min(cell, j == 0 ? static_cast<uint32_t>(i) : row[k] + (a[i - 1] == b[j - 1] ? 0 : 1));
        cell = std::min(cell, too_far);
      }
      left = row[k] = cell;
    }
  }
  return row[b.size() + most - a.size()] <= most;
}

// The places in the term where this stem may stand, a bit each.
uint64_t places_of(std::string_view stem, const TextTerm& term) {
  uint64_t places = 0;
  if (term.distance == 0) {
    for (size_t i = 0; i < term.stems.size(); ++i) places |= uint64_t{term.stems[i] == stem} << i;
    return places;
  }
  const std::u32string letters = letters_of(stem);
  for (size_t i = 0; i < term.letters.size(); ++i)
    places |= uint64_t{is_within_distance(letters, term.letters[i], term.distance)} << i;
  return places;
}

std::optional<TextTerm> term_of(std::string_view text, uint32_t distance, TextAnalyzer& analyzer) {
  TextTerm term{{}, distance, {}};
  analyzer.start(text);
  while (const std::optional<std::string_view> stem = analyzer.next()) {
    if (term.stems.size() == kMostTermWords) return std::nullopt;
    term.stems.emplace_back(*stem);
    if (distance > 0) term.letters.push_back(letters_of(*stem));
  }
  return term;
}

}  // namespace

std::optional<TextTerm> read_text_term(const Value& value, TextAnalyzer& analyzer) {
  if (value.is_string()) return term_of(value.as_string(), 0, analyzer);
  if (!value.is_object() || !value.member("term").is_string()) return std::nullopt;
  const Value distance = value.member("distance");
  if (distance.is_undefined()) return term_of(value.member("term").as_string(), 0, analyzer);
  const std::optional<int64_t> number =
      distance.is_number() ? integer_from(distance.as_double()) : std::nullopt;
  if (!number || *number < 0 || *number > kMostTermDistance) return std::nullopt;
  return term_of(value.member("term").as_string(), static_cast<uint32_t>(*number), analyzer);
}

void count_terms(std::string_view text, std::span<const TextTerm> terms, TextAnalyzer& analyzer,
                 TermCounts& counts) {
  counts.words = 0;
  counts.counts.assign(terms.size(), 0);
  counts.in_progress.assign(terms.size(), 0);
  analyzer.start(text);
  while (const std::optional<std::string_view> stem = analyzer.next()) {
    ++counts.words;
    for (size_t i = 0; i < terms.size(); ++i) {
      const size_t size = terms[i].stems.size();
      if (size == 0) continue;
      uint64_t& in_progress = counts.in_progress[i];
      in_progress = (in_progress << 1 | 1) & places_of(*stem, terms[i]);
      counts.counts[i] += in_progress >> (size - 1) & 1;
    }
  }
}

}  // namespace quire::sql
