// Full-text search. FULLTEXTCONTAINS and its kin say whether a text holds words; FULLTEXTSCORE says how well
// a text answers, by BM25. Each function has a second form, which the binder puts in its place, with the code
// of the text's language before its arguments.
#include "sql/functions/full_text.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sql/functions/families.h"
#include "sql/functions/text_terms.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;
using Constants = std::span<const std::optional<Value>>;

// What a call site keeps: the words that it has met, and the terms where they are constant.
struct SearchState final : CallState {
  explicit SearchState(std::string_view language) : analyzer(language) {}

  TextAnalyzer analyzer;
  std::optional<std::vector<TextTerm>> terms;
  TermCounts counts;
};

// Nothing if one of them is no term.
std::optional<std::vector<TextTerm>> read_terms(Arguments values, TextAnalyzer& analyzer) {
  std::vector<TextTerm> terms;
  for (const Value& value : values) {
    auto term = read_text_term(value, analyzer);
    if (!term) return std::nullopt;
    terms.push_back(std::move(*term));
  }
  return terms;
}

template <bool kHasLanguage>
Result<std::unique_ptr<CallState>> prepare_search(Constants constants) {
  const bool names_language = kHasLanguage && constants[0] && constants[0]->is_string();
  auto state =
      std::make_unique<SearchState>(names_language ? constants[0]->as_string() : kDefaultTextLanguage);
  std::vector<Value> terms;
  for (const auto& constant : constants.subspan(kHasLanguage ? 2 : 1)) {
    if (!constant) return state;
    terms.push_back(*constant);
  }
  state->terms = read_terms(terms, state->analyzer);
  return state;
}

// Whether the text holds all of the terms, or any. A term of nothing but stop words is passed over, as those
// are in texts; if none is left, there is nothing to find.
Value search(SearchState& state, std::string_view text, Arguments values, bool wants_all) {
  std::optional<std::vector<TextTerm>> read;
  if (!state.terms) read = read_terms(values, state.analyzer);
  const std::optional<std::vector<TextTerm>>& terms = state.terms ? state.terms : read;
  if (!terms) return Value::undefined();
  count_terms(text, *terms, state.analyzer, state.counts);
  bool found_all = true;
  bool found_any = false;
  for (size_t i = 0; i < terms->size(); ++i) {
    if ((*terms)[i].stems.empty()) continue;
    const bool is_found = state.counts.counts[i] > 0;
    found_all = found_all && is_found;
    found_any = found_any || is_found;
  }
  return Value::boolean(found_any && (found_all || !wants_all));
}

template <bool kHasLanguage, bool kWantsAll>
Value contains_terms(CallContext& context, Arguments arguments) {
  constexpr size_t text = kHasLanguage ? 1 : 0;
  const auto call = [&](SearchState& state) {
    return search(state, arguments[text].as_string(), arguments.subspan(text + 1), kWantsAll);
  };
  if (context.state != nullptr) return call(static_cast<SearchState&>(*context.state));
  SearchState state(kHasLanguage ? arguments[0].as_string() : kDefaultTextLanguage);
  return call(state);
}

// BM25 (Robertson and Zaragoza 2009), with the idf of Lucene, which is never negative.
class Bm25 final : public Relevance {
 public:
  Bm25(std::string_view language) : analyzer_(language) {}

  bool add_term(const Value& value) {
    if (value.is_array()) {  // the older way of giving several
      for (uint32_t i = 0; i < value.size(); ++i)
        if (value.element(i).is_array() || !add_term(value.element(i))) return false;
      return true;
    }
    auto term = read_text_term(value, analyzer_);
    if (term) terms_.push_back(std::move(*term));
    holding_.assign(terms_.size(), 0);
    return term.has_value();
  }

  void add_item(const Value& text) override {
    ++items_;
    if (!text.is_string()) return;
    count_terms(text.as_string(), terms_, analyzer_, counts_);
    words_ += counts_.words;
    for (size_t i = 0; i < terms_.size(); ++i) holding_[i] += counts_.counts[i] > 0 ? 1 : 0;
  }

  double score(std::string_view text) {
    constexpr double kSaturation = 1.2;  // how soon more of a term says no more
    constexpr double kLengthWeight = 0.75;
    count_terms(text, terms_, analyzer_, counts_);
    const double mean_words =
        static_cast<double>(words_) / static_cast<double>(std::max<uint64_t>(items_, 1));
    const double relative_length = mean_words > 0 ? static_cast<double>(counts_.words) / mean_words : 1;
    const double halfway = kSaturation * (1 - kLengthWeight + kLengthWeight * relative_length);
    double sum = 0;
    for (size_t i = 0; i < terms_.size(); ++i) {
      const auto count = static_cast<double>(counts_.counts[i]);
      const auto holding = static_cast<double>(holding_[i]);
      const double rarity = std::log1p((static_cast<double>(items_) - holding + 0.5) / (holding + 0.5));
      sum += rarity * count * (kSaturation + 1) / (count + halfway);
    }
    return sum;
  }

 private:
  TextAnalyzer analyzer_;
  std::vector<TextTerm> terms_;
  TermCounts counts_;
  uint64_t items_ = 0;
  uint64_t words_ = 0;             // in all texts
  std::vector<uint64_t> holding_;  // by term: how many texts have it
};

Value score(CallContext& context, Arguments arguments) {
  return Value::number(static_cast<Bm25&>(*context.state).score(arguments[1].as_string()));
}

// The plain rows of what ORDER BY RANK takes apart are for look-up and documentation; no call of them is
// bound.
Value not_called(CallContext&, Arguments) {
  return Value::undefined();
}

constexpr Function kFullTextRows[] = {
    {"FULLTEXTCONTAINS", "sd", contains_terms<false, true>, "FULLTEXTCONTAINS(text, term)",
     "Whether a text holds a word or phrase, or {term, distance}: one spelt like it", Volatility::pure,
     prepare_search<false>},
    {"FULLTEXTCONTAINSALL", "sd*", contains_terms<false, true>, "FULLTEXTCONTAINSALL(text, term, ...)",
     "Whether a text holds all of the words and phrases", Volatility::pure, prepare_search<false>},
    {"FULLTEXTCONTAINSANY", "sd*", contains_terms<false, false>, "FULLTEXTCONTAINSANY(text, term, ...)",
     "Whether a text holds any of the words and phrases", Volatility::pure, prepare_search<false>},
    {"FULLTEXTSCORE", "sd*", not_called, "FULLTEXTSCORE(text, term, ...)",
     "How well a text answers (BM25); only in ORDER BY RANK"},
    {"RRF", "dd*", not_called, "RRF(score, score, ... [, weights])",
     "Joins the orders of several scores to one; only in ORDER BY RANK"},
};

constexpr Function in_language(const Function& row, std::string_view parameters, FunctionBody body,
                               FunctionPrepare prepare) {
  return {row.name, parameters, body, row.signature, row.summary, row.volatility, prepare};
}

// In the order of kFullTextRows.
constexpr Function kFullTextRowsInLanguage[] = {
    in_language(kFullTextRows[0], "ssd", contains_terms<true, true>, prepare_search<true>),
    in_language(kFullTextRows[1], "ssd*", contains_terms<true, true>, prepare_search<true>),
    in_language(kFullTextRows[2], "ssd*", contains_terms<true, false>, prepare_search<true>),
    in_language(kFullTextRows[3], "ssd*", score, nullptr),
};

}  // namespace

std::span<const Function> full_text_functions() noexcept {
  return kFullTextRows;
}

bool is_full_text_score(const Function& function) noexcept {
  return function.name == kFullTextRows[3].name;
}

bool is_rank_fusion(const Function& function) noexcept {
  return function.name == kFullTextRows[4].name;
}

const Function* full_text_in_language(const Function& function) noexcept {
  const auto* found = std::ranges::find(kFullTextRowsInLanguage, function.name, &Function::name);
  return found == std::end(kFullTextRowsInLanguage) ? nullptr : found;
}

Result<std::unique_ptr<Relevance>> Relevance::prepare(Constants constants) {
  auto scorer = std::make_unique<Bm25>(constants[0]->as_string());
  for (const auto& term : constants.subspan(2))
    if (!term || !scorer->add_term(*term))
      return fail(ErrorCode::invalid_argument,
                  "a term of FULLTEXTSCORE must be a string of at most 64 words or {term, distance} with a "
                  "distance from 0 to 2");
  return scorer;
}

}  // namespace quire::sql
