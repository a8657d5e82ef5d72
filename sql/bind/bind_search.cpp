// Functions that search by likeness. What they mean without options is in the policies of the container that
// their first argument comes from. ORDER BY RANK sorts by what they give.
#include <algorithm>

#include "sql/bind/binder.h"
#include "sql/bind/container_policy.h"
#include "sql/functions/full_text.h"
#include "sql/functions/letter_case.h"
#include "sql/functions/text_analyzer.h"
#include "sql/functions/vector_functions.h"

namespace quire::sql {
namespace {

// The built-in function that an expression calls; null if it calls none.
const Function* named_function(const Expression& expression) {
  const bool is_call = expression.kind == ExpressionKind::call && !expression.is_udf;
  return is_call ? find_function(expression.text) : nullptr;
}

bool is_ascending(const OrderItem& item) {
  return item.has_direction && !item.descending;
}

}  // namespace

const Collection* Binder::collection_of(const BoundExpression& path, Scope& scope) {
  return path.kind == BoundKind::path ? collection_at(path.slot, scope) : nullptr;
}

const Collection* Binder::collection_at(SlotNumber slot, Scope& scope) {
  for (Scope* at = &scope; at != nullptr; at = at->outer())
    for (const BoundSource& source : at->query().sources)
      if (source.slot == slot && source.kind == BoundSourceKind::collection)
        return source_.collection(source.collection_name);
  return nullptr;
}

Result<void> Binder::apply_policy(BoundExpression& call, Scope& scope) {
  if (is_vector_distance(*call.function)) {
    QUIRE_TRY(check_vector_options(call));
    apply_vector_policy(call, scope);
  }
  if (full_text_in_language(*call.function) != nullptr) apply_text_policy(call, scope);
  return {};
}

// What is written wrong there would give another distance, or none, without a word.
Result<void> Binder::check_vector_options(const BoundExpression& call) const {
  constexpr std::string_view kDistance = "distanceFunction";
  if (call.operands.size() < 4 || call.operands[3]->kind != BoundKind::constant) return {};
  const BoundExpression& options = *call.operands[3];
  for (uint32_t i = 0; options.constant.is_object() && i < options.constant.size(); ++i) {
    const Member option = options.constant.member_at(i);
    if (option.name != kDistance && equals_but_for_case(option.name, kDistance))
      return refuse(ErrorCode::semantic, options.span,
                    "the options of VECTORDISTANCE have no '" + std::string(option.name) +
                        "'; did you mean distanceFunction?");
    const bool is_known = option.name != kDistance ||
                          (option.value.is_string() && is_distance_function(option.value.as_string()));
    if (!is_known)
      return refuse(ErrorCode::semantic, options.span,
                    "the distanceFunction of VECTORDISTANCE is 'cosine', 'dotproduct' or 'euclidean'");
  }
  return {};
}

void Binder::apply_vector_policy(BoundExpression& call, Scope& scope) {
  // Either vector may be the container's.
  for (const BoundExpression* vector : call.operands.first(2)) {
    const Collection* collection = collection_of(*vector, scope);
    if (collection == nullptr) continue;
    const std::string measure = distance_function_of(*collection, vector->steps);
    if (!measure.empty()) call.function = &vector_distance_by(measure);
  }
}

void Binder::apply_text_policy(BoundExpression& call, Scope& scope) {
  const BoundExpression& text = *call.operands[0];
  const Collection* collection = collection_of(text, scope);
  std::string language;
  if (collection != nullptr) language = text_language_of(*collection, text.steps);
  if (language.empty()) language = kDefaultTextLanguage;
  const std::span<BoundExpression*> operands =
      statement_.arena->make_array<BoundExpression*>(call.operands.size() + 1);
  operands[0] = make_constant(Value::string(keep(language)), text.span);
  std::ranges::copy(call.operands, operands.begin() + 1);
  call.operands = operands;
  call.function = full_text_in_language(*call.function);
}

BoundOrderItem Binder::natural_order(BoundExpression* expression) {
  if (expression->kind != BoundKind::call || !is_vector_distance(*expression->function))
    return {expression, false};
  BoundExpression* closeness = statement_.arena->make<BoundExpression>();
  *closeness = *expression;
  closeness->function = &vector_closeness(*expression->function);
  return {closeness, true, true};
}

// The best comes first, with ASC the worst.
Result<void> Binder::bind_rank(const Query& query, BoundQuery& bound, Scope& scope) {
  const OrderItem& item = query.order_by.front();
  if (bound.is_grouped)
    return refuse(ErrorCode::semantic, item.expression->span,
                  "ORDER BY RANK sorts items; it does not go with GROUP BY or aggregates");
  if (options_.strict && item.has_direction)
    return refuse(ErrorCode::not_in_strict_mode, item.expression->span,
                  "Azure Cosmos DB takes no ASC or DESC in ORDER BY RANK: the best comes first");
  if (options_.strict && query.distinct)
    return refuse(ErrorCode::not_in_strict_mode, item.expression->span,
                  "Azure Cosmos DB does not allow DISTINCT with ORDER BY RANK");
  const Function* function = named_function(*item.expression);
  if (function != nullptr && is_rank_fusion(*function)) return bind_rank_fusion(item, bound, scope);
  QUIRE_ASSIGN(BoundExpression * score, bind_score(*item.expression, scope));
  bound.order_by.push_back({score, !is_ascending(item), true});
  return {};
}

Result<void> Binder::bind_rank_fusion(const OrderItem& item, BoundQuery& bound, Scope& scope) {
  const Expression& call = *item.expression;
  QUIRE_TRY(check_arity(*named_function(call), call));
  BoundFusion fusion{nullptr, !is_ascending(item)};
  std::span<Expression* const> scores = call.operands;
  if (scores.back()->kind != ExpressionKind::call) {
    QUIRE_ASSIGN(fusion.weights, bind(*scores.back(), scope));
    if (fusion.weights->kind != BoundKind::constant && fusion.weights->kind != BoundKind::parameter)
      return refuse(ErrorCode::semantic, scores.back()->span,
                    "the weights of RRF must be an array of constants or a parameter");
    scores = scores.first(scores.size() - 1);
  }
  if (scores.size() < 2)
    return refuse(ErrorCode::wrong_arity, call.span,
                  "RRF requires at least 2 scores before its weights (SC2050)");
  for (const Expression* expression : scores) {
    QUIRE_ASSIGN(BoundExpression * score, bind_score(*expression, scope));
    bound.order_by.push_back({score, true, true});
  }
  bound.fusion = fusion;
  return {};
}

Result<BoundExpression*> Binder::bind_score(const Expression& expression, Scope& scope) {
  const Function* function = named_function(expression);
  if (function != nullptr && is_full_text_score(*function))
    return bind_full_text_score(expression, *function, scope);
  if (function != nullptr && is_vector_distance(*function)) {
    QUIRE_ASSIGN(BoundExpression * distance, bind(expression, scope));
    return natural_order(distance).expression;
  }
  return refuse(ErrorCode::semantic, expression.span,
                "ORDER BY RANK takes FULLTEXTSCORE, VECTORDISTANCE, or RRF with several of them");
}

Result<BoundExpression*> Binder::bind_full_text_score(const Expression& expression, const Function& function,
                                                      Scope& scope) {
  QUIRE_TRY(check_arity(function, expression));
  QUIRE_ASSIGN(BoundExpression * bound, bind_operands(BoundKind::full_text_score, expression, scope));
  bound->function = &function;
  if (collection_of(*bound->operands[0], scope) == nullptr)
    return refuse(
        ErrorCode::semantic, expression.operands[0]->span,
        "the first argument of FULLTEXTSCORE must be a property of the container's items: its score "
        "rests on how often the terms occur in all of them");
  for (const BoundExpression* term : bound->operands.subspan(1))
    if (term->kind != BoundKind::constant && term->kind != BoundKind::parameter)
      return refuse(ErrorCode::semantic, term->span,
                    "the terms of FULLTEXTSCORE must be constants or parameters");
  for (const BoundExpression* term : bound->operands.subspan(1))
    if (options_.strict && term->kind == BoundKind::constant && term->constant.is_array())
      return refuse(ErrorCode::not_in_strict_mode, term->span,
                    "Azure Cosmos DB takes the terms of FULLTEXTSCORE one by one, not as an array");
  apply_text_policy(*bound, scope);
  return bound;
}

}  // namespace quire::sql
