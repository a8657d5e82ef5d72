// Names and paths: c, c.a.b, c["x"][0], (computed).a, c[@p].
#include <algorithm>
#include <optional>

#include "sql/bind/binder.h"
#include "sql/parse/keywords.h"

namespace quire::sql {
namespace {

bool has_parameter_in_brackets(const Expression& expression) {
  return expression.kind == ExpressionKind::index &&
         expression.operands[1]->kind == ExpressionKind::parameter;
}

// The step that a member or index expression takes if it is known now.
std::optional<BoundStep> constant_step(const Expression& expression, const MemberNames& names) {
  if (expression.kind == ExpressionKind::member) return BoundStep{expression.text, -1};
  if (has_parameter_in_brackets(expression) && names != nullptr) {
    const auto name = names(expression.operands[1]->text);
    return name ? std::optional(BoundStep{*name, -1}) : std::nullopt;
  }
  if (expression.kind != ExpressionKind::index || expression.operands[1]->kind != ExpressionKind::literal)
    return std::nullopt;
  const Value& index = expression.operands[1]->literal;
  if (index.is_string()) return BoundStep{index.as_string(), -1};
  if (index.kind() == Kind::integer && index.as_integer() >= 0) return BoundStep{{}, index.as_integer()};
  return std::nullopt;
}

std::optional<SystemProperty> system_property_of(const BoundStep& step) {
  const auto* found = std::find(std::begin(kSystemPropertyNames), std::end(kSystemPropertyNames), step.name);
  if (step.is_index() || found == std::end(kSystemPropertyNames)) return std::nullopt;
  return static_cast<SystemProperty>(found - std::begin(kSystemPropertyNames));
}

constexpr size_t kMostAliasesShown = 5;

// In c.my-name the part before the hyphen, if the name at `offset` follows one at once; otherwise empty.
std::string_view name_before_hyphen(std::string_view text, size_t offset) {
  if (offset < 2 || text[offset - 1] != '-') return {};
  size_t start = offset - 1;
  while (start > 0 && is_name_part(text[start - 1])) --start;
  return text.substr(start, offset - 1 - start);
}

}  // namespace

Result<const ScopeEntry*> Binder::resolve(const Expression& identifier, Scope& scope) {
  const Scope::Found found = scope.find(identifier.text);
  if (found.entry == nullptr)
    return refuse(ErrorCode::unresolved_name, identifier.span,
                  "the identifier '" + shortened(identifier.text) + "' could not be resolved (SC2001)" +
                      hint_for_unresolved(identifier, scope));
  QUIRE_TRY(check_grouping(found, identifier.span, scope));
  return found.entry;
}

Result<void> Binder::check_grouping(const Scope::Found& found, Span span, const Scope& scope) const {
  const std::string name = shortened(found.entry->name);
  if (found.entry->is_let) {
    if (found.entry->in_aggregate == found.scope->in_aggregate) return {};
    return refuse(ErrorCode::semantic, span,
                  "the argument of an aggregate cannot use '" + name + "', which LET names outside of it");
  }
  if (!found.scope->is_after_grouping || found.scope->in_aggregate) return {};
  if (found.scope != &scope)
    return refuse(ErrorCode::semantic, span,
                  "a subquery cannot use what the query around it groups, as it does '" + name +
                      "' here (SC2102); name the value with LET outside, as in LET x = " + name +
                      "... IN (SELECT VALUE x)");
  return refuse(ErrorCode::semantic, span,
                "the property reference is invalid here because it is contained in neither an aggregate "
                "function nor the GROUP BY clause (SC2102); group by it too, or aggregate it, as in MAX(" +
                    name + "...)");
}

std::string Binder::hint_for_unresolved(const Expression& identifier, Scope& scope) const {
  const std::string name = shortened(identifier.text);
  for (const SelectItem& item : scope.select_items)
    if (item.alias && *item.alias == identifier.text)
      return "; an alias of the select list is known to HAVING and ORDER BY alone, and not in strict mode: "
             "write its expression";
  NearestName nearest(identifier.text);
  scope.offer_names(nearest);
  if (!nearest.best().empty()) return nearest.hint();
  const std::string_view text = statement_.parsed->text;
  const std::string_view left = name_before_hyphen(text, identifier.span.offset);
  if (!left.empty() && left.data() > text.data() && left.data()[-1] == '@')
    return "; a parameter's name holds no '-': @" + shortened(left) + "_" + name;
  if (!left.empty())
    return "; a name that holds '-' goes in brackets: [\"" + shortened(left) + "-" + name + "\"]";
  if (find_function(name) != nullptr) return "; a function needs parentheses: " + name + "()";
  const std::vector<std::string_view> aliases = scope.names();
  if (aliases.empty() && !scope.query().sources.empty())
    return "; the source has no name: give it an alias, as in FROM c.list[0] x";
  if (aliases.empty()) return "; without FROM there are no names, and a string needs quotes: '" + name + "'";
  const size_t end = identifier.span.offset + identifier.span.length;
  const bool has_steps = end < text.size() && (text[end] == '.' || text[end] == '[');
  if (has_steps) {
    std::string hint = aliases.size() == 1 ? "; the alias here is " : "; the aliases here are ";
    for (size_t i = 0; i < std::min(aliases.size(), kMostAliasesShown); ++i)
      hint += (i == 0 ? "" : ", ") + shortened(aliases[i]);
    return hint;
  }
  return "; a property is written " + shortened(aliases.front()) + "." + name + ", a string '" + name + "'";
}

Result<BoundExpression*> Binder::find_select_alias(const Expression& identifier, Scope& scope) {
  Scope::SelectAliases* const aliases = scope.select_aliases;
  if (aliases == nullptr || scope.in_aggregate || scope.find(identifier.text).entry != nullptr)
    return nullptr;
  const auto found = aliases->find(identifier.text);
  if (found == aliases->end()) return nullptr;
  Scope::SelectAlias& alias = found->second;
  if (alias.use != nullptr) return alias.use;
  scope.select_aliases = nullptr;  // no alias is known in what one stands for
  auto value = bind(*alias.expression, scope);
  scope.select_aliases = aliases;
  if (!value) return value;
  const Shared shared = share(*value);
  alias.value = shared.value;
  alias.use = shared.use;
  return shared.use;
}

Result<BoundExpression*> Binder::bind_identifier(const Expression& expression, Scope& scope) {
  QUIRE_ASSIGN(BoundExpression * alias, find_select_alias(expression, scope));
  if (alias != nullptr) return alias;
  QUIRE_ASSIGN(const ScopeEntry* entry, resolve(expression, scope));
  BoundExpression* bound = make(BoundKind::slot, expression.span);
  bound->slot = entry->slot;
  return bound;
}

// Member and index expressions, chained: the constant steps at the end make one path.
Result<BoundExpression*> Binder::bind_path(const Expression& expression, Scope& scope) {
  std::vector<BoundStep> steps;
  const Expression* base = &expression;
  for (auto step = constant_step(*base, options_.member_names); step;
       step = constant_step(*base, options_.member_names)) {
    if (has_parameter_in_brackets(*base)) {
      note_member_parameter(*base->operands[1]);
      step->name = keep(step->name);
    }
    steps.push_back(*step);
    base = base->operands[0];
  }
  if (steps.empty()) return bind_index(expression, scope);
  std::reverse(steps.begin(), steps.end());

  BoundExpression* input = nullptr;
  if (base->kind == ExpressionKind::identifier) {
    QUIRE_ASSIGN(input, find_select_alias(*base, scope));
  }
  if (input == nullptr && base->kind == ExpressionKind::identifier) {
    QUIRE_ASSIGN(const ScopeEntry* entry, resolve(*base, scope));
    const auto property = entry->is_item ? system_property_of(steps.front()) : std::nullopt;
    if (entry->is_item && !entry->is_of_subquery && !steps.front().is_index()) {
      QUIRE_ASSIGN(input, bind_computed(entry->slot, steps.front().name, expression.span));
    }
    if (input != nullptr && steps.size() == 1) return input;
    if (input != nullptr) return bind_steps(input, std::span(steps).subspan(1), expression.span);
    BoundExpression* bound = make(property ? BoundKind::system_property : BoundKind::path, expression.span);
    bound->slot = entry->slot;
    if (!property) {
      bound->steps = statement_.arena->copy_array(std::span<const BoundStep>(steps));
      return bound;
    }
    bound->property = *property;
    if (steps.size() == 1) return bound;
    steps.erase(steps.begin());
    input = bound;
  } else if (input == nullptr) {
    QUIRE_ASSIGN(input, bind(*base, scope));
  }
  return bind_steps(input, steps, expression.span);
}

void Binder::note_member_parameter(const Expression& parameter) {
  auto& known = statement_.member_parameters;
  const uint32_t number = number_of_parameter(parameter.text, parameter.span.offset);
  if (std::ranges::find(known, number) == known.end()) known.push_back(number);
}

BoundExpression* Binder::bind_steps(BoundExpression* input, std::span<const BoundStep> steps, Span span) {
  BoundExpression* bound = make(BoundKind::member, span);
  bound->operands = list_of({input});
  bound->steps = statement_.arena->copy_array(steps);
  return fold(bound);
}

Result<BoundExpression*> Binder::bind_index(const Expression& expression, Scope& scope) {
  if (options_.strict) QUIRE_TRY(check_strict_index(*expression.operands[1]));
  if (has_parameter_in_brackets(expression)) note_member_parameter(*expression.operands[1]);
  return bind_operands(BoundKind::index, expression, scope);
}

}  // namespace quire::sql
