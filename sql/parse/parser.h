// The entry of the generated parser, defined at the end of grammar.y.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sql/parse/ast_builder.h"
#include "sql/parse/token.h"

namespace quire::sql {

// Feeds `tokens` to the grammar, whose actions call `builder`, until they end or the builder has failed.
void run_grammar(std::span<const Token> tokens, AstBuilder& builder);

// By token number: what the grammar would take after `tokens`, which it takes. The parser reduces before it
// finds an error, so this is asked of a second parser that has not seen the wrong token. `builder` is
// scratch.
std::vector<bool> tokens_taken_after(std::span<const Token> tokens, AstBuilder& builder);

}  // namespace quire::sql
