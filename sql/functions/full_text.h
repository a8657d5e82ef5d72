// What the binder and the executor know of the full-text functions besides their rows: their forms for a
// language, and the statistics that a relevance score rests on.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sql/error.h"
#include "sql/functions/function.h"

namespace quire::sql {

// FULLTEXTSCORE and RRF mean something in ORDER BY RANK alone, where the binder looks for them.
bool is_full_text_score(const Function& function) noexcept;
bool is_rank_fusion(const Function& function) noexcept;

// The form of a full-text function that takes the text's language before its other arguments; null if it is
// no function of full text.
const Function* full_text_in_language(const Function& function) noexcept;

// Scores texts by BM25. It is the state of a call of FULLTEXTSCORE's form for a language, and must be shown
// every text of the container before the first call.
class Relevance : public CallState {
 public:
  // The arguments of that form (language, text, terms); the text is passed over. invalid_argument if a term
  // is none.
  static Result<std::unique_ptr<Relevance>> prepare(std::span<const std::optional<Value>> constants);

  // An item of the container, with or without a text.
  virtual void add_item(const Value& text) = 0;
};

}  // namespace quire::sql
