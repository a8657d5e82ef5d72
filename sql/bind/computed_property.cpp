#include "sql/bind/computed_property.h"

#include <algorithm>
#include <iterator>

#include "sql/bind/bound.h"
#include "sql/functions/function.h"
#include "sql/value/json.h"

namespace quire::sql {
namespace {

std::unexpected<Error> invalid(std::string_view name, std::string_view what) {
  return fail(ErrorCode::invalid_definition,
              "computed property '" + shortened(name) + "' " + std::string(what));
}

Result<void> check_name(std::string_view name, const std::vector<ComputedProperty>& others) {
  if (name.empty()) return invalid(name, "needs a name");
  if (name.find_first_of("/[]") != std::string_view::npos)
    return invalid(name, "must be one name at the top of the item, without / [ ]");
  const bool is_system =
      name == "id" || std::ranges::find(kSystemPropertyNames, name) != std::end(kSystemPropertyNames);
  if (is_system) return invalid(name, "has a name that the database uses itself");
  if (std::ranges::find(others, name, &ComputedProperty::name) != others.end())
    return invalid(name, "is there twice");
  return {};
}

// What is wrong with the query, or that there was no memory to find out.
std::unexpected<Error> invalid_query(std::string_view name, std::string_view what, Error error) {
  if (error.code == ErrorCode::out_of_memory) return std::unexpected(std::move(error));
  return invalid(name, std::string(what) + ": " + error.message);
}

// SELECT VALUE expression FROM alias, and nothing else.
bool has_right_form(const Statement& statement) {
  if (statement.kind != StatementKind::query || statement.query == nullptr) return false;
  const Query& query = *statement.query;
  const bool has_root = query.from.size() == 1 && query.from[0].collection == CollectionKind::path &&
                        query.from[0].steps.empty() && !query.from[0].iterates;
  return query.select == SelectKind::value && has_root && !query.distinct && query.top == nullptr &&
         query.where == nullptr && query.group_by.empty() && query.having == nullptr &&
         query.order_by.empty() && query.offset == nullptr && query.next == nullptr;
}

// What an expression holds that a computed property may not; empty: nothing.
std::string_view forbidden_call(const Expression& call) {
  if (call.is_udf) return "a user-defined function";
  if (find_aggregate(call.text) != nullptr) return "an aggregate";
  const Function* const function = find_function(call.text);
  return function != nullptr && function->volatility != Volatility::pure
             ? "a function that is not deterministic"
             : std::string_view();
}
std::string_view forbidden_part(const Expression& expression) {
  if (expression.query != nullptr) return "a subquery";
  if (expression.kind == ExpressionKind::parameter) return "a parameter";
  if (expression.kind == ExpressionKind::call)
    if (const std::string_view found = forbidden_call(expression); !found.empty()) return found;
  for (const Expression* operand : expression.operands)
    if (const std::string_view found = forbidden_part(*operand); !found.empty()) return found;
  for (const ObjectEntry& entry : expression.entries)
    if (const std::string_view found = forbidden_part(*entry.value); !found.empty()) return found;
  for (const CaseArm& arm : expression.arms)
    for (const Expression* part : {arm.when, arm.then})
      if (const std::string_view found = forbidden_part(*part); !found.empty()) return found;
  return {};
}

bool refers_to(const Expression& expression, std::string_view alias, std::string_view name) {
  const bool is_reference = expression.kind == ExpressionKind::member && expression.text == name &&
                            expression.operands[0]->kind == ExpressionKind::identifier &&
                            expression.operands[0]->text == alias;
  const auto within = [&](const Expression* part) { return refers_to(*part, alias, name); };
  return is_reference || std::ranges::any_of(expression.operands, within) ||
         std::ranges::any_of(expression.entries, within, &ObjectEntry::value) ||
         std::ranges::any_of(expression.arms,
                             [&](const CaseArm& arm) { return within(arm.when) || within(arm.then); });
}

Result<ComputedProperty> read_property(const Value& from, const std::vector<ComputedProperty>& others) {
  const Value name = from.member("name"), text = from.member("query");
  if (!name.is_string() || !text.is_string() || from.size() != 2)
    return fail(
        ErrorCode::invalid_definition,
        R"(each of "computedProperties" looks like {"name": "lower", "query": "SELECT VALUE LOWER(c.name) FROM c"})");
  ComputedProperty property;
  property.name = name.as_string();
  QUIRE_TRY(check_name(property.name, others));
  if (text.as_string().size() > kLongestComputedQuery)
    return invalid(property.name,
                   "has a query of more than " + std::to_string(kLongestComputedQuery) + " bytes");
  auto parsed = parse(text.as_string(), false);
  if (!parsed) return invalid_query(property.name, "has a query that does not parse", parsed.error());
  property.parsed = std::move(*parsed);
  const Statement& statement = property.parsed->statement;
  if (!has_right_form(statement))
    return invalid(property.name, "must be SELECT VALUE expression FROM c, without any other clause");
  property.expression = statement.query->items[0].expression;
  property.alias = statement.query->from[0].alias.value_or(statement.query->from[0].root);
  if (property.expression->depth > kMostComputedDepth)
    return invalid(property.name,
                   "is nested more than " + std::to_string(kMostComputedDepth) + " levels deep");
  if (const std::string_view found = forbidden_part(*property.expression); !found.empty())
    return invalid(property.name, "may not hold " + std::string(found));
  return property;
}

// A container without anything, for the names of the definitions to be resolved against.
class EmptyCollection final : public Collection {
 public:
  std::string_view name() const override { return "c"; }
  const std::vector<std::vector<std::string>>& partition_key_paths() const override { return paths_; }
  std::string_view definition_property(std::string_view) const override { return {}; }
  DictionaryNumber dictionary() const override { return 0; }
  Result<std::unique_ptr<Cursor>> open(const Access&) override {
    return fail(ErrorCode::internal, "a container for checks alone has no items");
  }
  uint64_t item_count() const override { return 0; }
  Value system_property(const Value&, SystemProperty, Arena&) const override { return {}; }
  int64_t document_id(const Value&) const override { return 0; }

 private:
  std::vector<std::vector<std::string>> paths_;
};

class EmptySource final : public Source {
 public:
  Collection* collection(std::string_view name) override { return name == "c" ? &collection_ : nullptr; }
  std::vector<std::string> collection_names() const override { return {}; }

 private:
  EmptyCollection collection_;
};

}  // namespace

Result<std::vector<ComputedProperty>> read_computed_properties(std::string_view json) {
  std::vector<ComputedProperty> properties;
  JsonReader reader;
  Arena arena;
  QUIRE_ASSIGN(const Value list, reader.to_value(json, arena));
  if (list.is_null()) return properties;
  if (!list.is_array())
    return fail(ErrorCode::invalid_definition, R"("computedProperties" must be an array)");
  if (list.size() > kMostComputedProperties)
    return fail(ErrorCode::invalid_definition, "\"computedProperties\" has " + std::to_string(list.size()) +
                                                   " of them; the limit is " +
                                                   std::to_string(kMostComputedProperties));
  for (uint32_t i = 0; i < list.size(); ++i) {
    QUIRE_ASSIGN(ComputedProperty property, read_property(list.element(i), properties));
    properties.push_back(std::move(property));
  }
  for (const ComputedProperty& property : properties)
    for (const ComputedProperty& other : properties)
      if (refers_to(*property.expression, property.alias, other.name))
        return invalid(property.name, "refers to the computed property '" + other.name + "'");
  return properties;
}

Result<void> check_computed_properties(std::string_view json) {
  QUIRE_ASSIGN(std::vector<ComputedProperty> properties, read_computed_properties(json));
  EmptySource source;
  for (ComputedProperty& property : properties) {
    auto bound = bind(std::move(property.parsed), source, {.strict = false, .scope = "c"});
    if (!bound) return invalid_query(property.name, "has a query that means nothing", bound.error());
  }
  return {};
}

}  // namespace quire::sql
