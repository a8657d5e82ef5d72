#include "tests/oracle/interpreter.h"

#include <algorithm>
#include <array>

#include "sql/functions/operators.h"
#include "sql/value/comparison.h"

namespace quire::sql::oracle {
namespace {

Value walk(Value value, std::span<const BoundStep> steps) {
  for (const BoundStep& step : steps)
    value = step.is_index() ? value.element(static_cast<uint64_t>(step.index)) : value.member(step.name);
  return value;
}

std::vector<Value> without_duplicates(const std::vector<Value>& values) {
  std::vector<Value> kept;
  for (const Value& value : values)
    if (std::ranges::none_of(kept, [&](const Value& seen) { return deep_equal(seen, value); }))
      kept.push_back(value);
  return kept;
}

bool is_scalar(const Value& value) {
  return !value.is_array() && !value.is_object();
}

}  // namespace

Result<std::vector<Value>> Interpreter::run() {
  std::vector<Value> values = run_query(statement_.query, Row(statement_.slot_count));
  if (error_) return std::unexpected(*error_);
  return values;
}

// ---- Queries

// UNION is taken from the left.
std::vector<Value> Interpreter::run_query(const BoundQuery& query, const Row& outer) {
  std::vector<Value> values = run_alone(query, outer);
  for (const BoundQuery* at = &query; at->set_operation != SetOperation::none; at = at->next.get()) {
    for (const Value& value : run_alone(*at->next, outer)) values.push_back(value);
    if (at->set_operation == SetOperation::union_distinct) values = without_duplicates(values);
  }
  return values;
}

std::vector<Value> Interpreter::run_alone(const BoundQuery& query, const Row& outer) {
  std::vector<Candidate> candidates;
  const std::vector<Row> rows = source_rows(query, outer);
  if (query.is_grouped) {
    for (Group& made : group(query, rows)) {
      groups_.push_back(std::make_unique<Group>(std::move(made)));
      candidates.push_back({outer, groups_.back().get(), {}});
    }
  } else {
    for (const Row& row : rows) candidates.push_back({row, nullptr, {}});
  }
  if (query.having != nullptr)
    std::erase_if(candidates, [&](const Candidate& candidate) {
      return !evaluate(*query.having, candidate.row, candidate.group).is_true();
    });
  sort(query, candidates);
  std::vector<Value> values;
  for (const Candidate& candidate : candidates)
    if (const Value value = evaluate(*query.value, candidate.row, candidate.group); value.is_defined())
      values.push_back(value);
  if (query.distinct) values = without_duplicates(values);
  return limit(query, std::move(values));
}

std::vector<Interpreter::Row> Interpreter::source_rows(const BoundQuery& query, const Row& outer) {
  std::vector<Row> rows{outer};
  for (const BoundSource& source : query.sources) {
    std::vector<Row> longer;
    for (const Row& row : rows)
      for (Row& extended : extend(source, row)) longer.push_back(std::move(extended));
    rows = std::move(longer);
  }
  if (query.where != nullptr)
    std::erase_if(rows, [&](const Row& row) { return !evaluate(*query.where, row, nullptr).is_true(); });
  return rows;
}

std::vector<Interpreter::Row> Interpreter::extend(const BoundSource& source, const Row& row) {
  std::vector<Row> extended;
  for (const Value& value : values_of(source, row)) {
    Row longer = row;
    longer[source.slot] = value;
    if (source.on == nullptr || evaluate(*source.on, longer, nullptr).is_true())
      extended.push_back(std::move(longer));
  }
  if (source.join == JoinKind::left_on && extended.empty()) {
    extended.push_back(row);
    extended.back()[source.slot] = Value();
  }
  return extended;
}

std::vector<Value> Interpreter::values_of(const BoundSource& source, const Row& row) {
  std::vector<Value> values;
  switch (source.kind) {
    case BoundSourceKind::collection:
      return items_of(source);
    case BoundSourceKind::expression:
      if (const Value value = evaluate(*source.expression, row, nullptr); value.is_defined())
        values.push_back(value);
      break;
    case BoundSourceKind::elements: {
      const Value array = evaluate(*source.expression, row, nullptr);
      for (uint32_t i = 0; array.is_array() && i < array.size(); ++i) values.push_back(array.element(i));
      break;
    }
    case BoundSourceKind::query:
      for (const Value& value : run_query(*source.query, row)) {
        if (!source.iterates_query) values.push_back(value);
        for (uint32_t i = 0; source.iterates_query && value.is_array() && i < value.size(); ++i)
          values.push_back(value.element(i));
      }
      break;
  }
  return values;
}

std::vector<Value> Interpreter::items_of(const BoundSource& source) {
  Collection* const collection = source_.collection(source.collection_name);
  item_slots_[source.slot] = collection;
  std::vector<Value> items;
  std::array<Value, 64> batch;
  auto cursor = collection->open({});
  for (size_t count = *(*cursor)->next(batch); count > 0; count = *(*cursor)->next(batch))
    items.insert(items.end(), batch.begin(), batch.begin() + static_cast<ptrdiff_t>(count));
  return items;
}

std::vector<Interpreter::Group> Interpreter::group(const BoundQuery& query, const std::vector<Row>& rows) {
  std::vector<Group> groups;
  if (query.group_by.empty()) groups.emplace_back();
  for (const Row& row : rows) {
    const std::vector<Value> keys = evaluate_all(query.group_by, row, nullptr);
    auto found = std::ranges::find_if(
        groups, [&](const Group& group) { return std::ranges::equal(group.keys, keys, deep_equal); });
    if (found == groups.end()) found = groups.insert(found, Group{keys, {}, {}});
    found->rows.push_back(row);
  }
  for (Group& group : groups)
    for (const BoundAggregate& each : query.aggregates)
      group.aggregates.push_back(aggregate(each, group.rows));
  return groups;
}

Value Interpreter::aggregate(const BoundAggregate& aggregate, const std::vector<Row>& rows) {
  std::vector<Value> values;
  for (const Row& row : rows)
    if (const Value value = aggregate.argument == nullptr ? Value::boolean(true)
                                                          : evaluate(*aggregate.argument, row, nullptr);
        value.is_defined())
      values.push_back(value);
  if (aggregate.distinct || aggregate.aggregate == Aggregate::make_set) values = without_duplicates(values);
  const bool all_numbers = std::ranges::all_of(values, [](const Value& value) { return value.is_number(); });
  double sum = 0;
  for (const Value& value : values) sum += value.is_number() ? value.as_double() : 0;
  switch (aggregate.aggregate) {
    case Aggregate::count:
      return Value::integer(static_cast<int64_t>(values.size()));
    case Aggregate::count_if:
      return Value::integer(
          std::ranges::count_if(values, [](const Value& value) { return value.is_true(); }));
    case Aggregate::sum:
      return all_numbers ? Value::number(sum) : Value();
    case Aggregate::avg:
      return all_numbers && !values.empty() ? Value::number(sum / static_cast<double>(values.size()))
                                            : Value();
    case Aggregate::min:
    case Aggregate::max: {
      if (values.empty() || !std::ranges::all_of(values, is_scalar)) return {};
      const auto is_less = [](const Value& a, const Value& b) { return total_order(a, b) < 0; };
      return aggregate.aggregate == Aggregate::min ? *std::ranges::min_element(values, is_less)
                                                   : *std::ranges::max_element(values, is_less);
    }
    case Aggregate::make_list:
    case Aggregate::make_set:
      return Value::array(arena_.copy_array(std::span<const Value>(values)));
  }
  return {};
}

void Interpreter::sort(const BoundQuery& query, std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates)
    for (const BoundOrderItem& item : query.order_by)
      candidate.keys.push_back(evaluate(*item.expression, candidate.row, candidate.group));
  std::ranges::stable_sort(candidates, [&](const Candidate& a, const Candidate& b) {
    for (size_t i = 0; i < query.order_by.size(); ++i) {
      const auto order = total_order(a.keys[i], b.keys[i]);
      if (order != 0) return query.order_by[i].descending ? order > 0 : order < 0;
    }
    return false;
  });
}

std::vector<Value> Interpreter::limit(const BoundQuery& query, std::vector<Value> values) {
  const size_t offset = std::min(count_of(query.offset, 0), values.size());
  values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(offset));
  const size_t most = std::min(count_of(query.top, SIZE_MAX), count_of(query.limit, SIZE_MAX));
  if (values.size() > most) values.resize(most);
  return values;
}

size_t Interpreter::count_of(const BoundExpression* expression, size_t otherwise) {
  if (expression == nullptr) return otherwise;
  const bool is_parameter = expression->kind == BoundKind::parameter;
  const Value& count = is_parameter ? parameters_[expression->parameter] : expression->constant;
  return static_cast<size_t>(count.as_integer());
}

// ---- Expressions

std::vector<Value> Interpreter::evaluate_all(std::span<BoundExpression* const> expressions, const Row& row,
                                             const Group* group) {
  std::vector<Value> values;
  for (const BoundExpression* expression : expressions) values.push_back(evaluate(*expression, row, group));
  return values;
}

Value Interpreter::evaluate(const BoundExpression& expression, const Row& row, const Group* group) {
  const auto operand = [&](size_t i) { return evaluate(*expression.operands[i], row, group); };
  switch (expression.kind) {
    case BoundKind::constant:
      return expression.constant;
    case BoundKind::slot:
      return whole_item(expression, row);
    case BoundKind::path:
      return walk(row[expression.slot], expression.steps);
    case BoundKind::member:
      return walk(operand(0), expression.steps);
    case BoundKind::index: {
      const Value index = operand(1);
      if (index.is_string()) return operand(0).member(index.as_string());
      const double number = index.is_number() ? index.as_double() : -1;
      const bool is_whole = number >= 0 && number < 4294967296.0 && std::floor(number) == number;
      return is_whole ? operand(0).element(static_cast<uint64_t>(number)) : Value();
    }
    case BoundKind::unary:
      return apply_unary(expression.unary_operator, operand(0));
    case BoundKind::binary:
      return apply_binary(expression.binary_operator, operand(0), operand(1), arena_);
    case BoundKind::logical_and:
    case BoundKind::logical_or:
      return logical(expression, row, group);
    case BoundKind::conditional:
      return operand(0).is_true() ? operand(1) : operand(2);
    case BoundKind::coalesce: {
      const Value first = operand(0);
      return first.is_defined() ? first : operand(1);
    }
    case BoundKind::let: {
      Row longer = row;
      longer[expression.slot] = operand(0);
      return evaluate(*expression.operands[1], longer, group);
    }
    case BoundKind::in:
      return is_in(expression, row, group);
    case BoundKind::in_query: {
      const Value needle = operand(0);
      if (needle.is_undefined()) return {};
      const bool is_found = std::ranges::any_of(
          run_query(*expression.query, row), [&](const Value& value) { return deep_equal(value, needle); });
      return Value::boolean(is_found != expression.negated);
    }
    case BoundKind::like:
      return like(expression, row, group);
    case BoundKind::is_null:
      return Value::boolean(operand(0).is_null() != expression.negated);
    case BoundKind::array:
    case BoundKind::object:
      return construct(expression, row, group);
    case BoundKind::call:
      return call(expression, row, group);
    case BoundKind::aggregate:
      return group->aggregates[expression.aggregate];
    case BoundKind::group_key:
      return group->keys[expression.group_key];
    case BoundKind::exists:
    case BoundKind::array_query:
    case BoundKind::scalar_query:
    case BoundKind::all_query:
    case BoundKind::first_query:
    case BoundKind::last_query:
      return subquery(expression, row);
    case BoundKind::parameter:
      return parameters_[expression.parameter];
    case BoundKind::user_function:  // none is asked for
      return {};
    case BoundKind::changed:
      return changed(expression, row);
    case BoundKind::system_property:
    case BoundKind::full_text_score:
    case BoundKind::document_id:
    case BoundKind::unsupported:
      break;
  }
  error_ = Error{ErrorCode::not_executable, "the oracle does not know this kind of expression"};
  return {};
}

Value Interpreter::whole_item(const BoundExpression& expression, const Row& row) {
  const Value item = row[expression.slot];
  const Collection* const collection = item_slots_[expression.slot];
  if (collection == nullptr || !item.is_object() || expression.is_stored_form) return item;
  std::vector<Member> members;
  for (uint32_t i = 0; i < item.size(); ++i) members.push_back(item.member_at(i));
  for (size_t i = 0; i < kSystemPropertyCount; ++i)
    members.push_back(
        {kSystemPropertyNames[i], collection->system_property(item, static_cast<SystemProperty>(i), arena_)});
  return Value::object(arena_.copy_array(std::span<const Member>(members)));
}

// SET and UNSET: the right sides see the item as it was.
Value Interpreter::changed(const BoundExpression& expression, const Row& row) {
  const std::vector<Value> values = evaluate_all(expression.operands, row, nullptr);
  Value item = values[0];
  for (size_t i = 0; i < expression.paths.size(); ++i) item = with(item, expression.paths[i], values[i + 1]);
  return item;
}

Value Interpreter::with(const Value& base, std::span<const BoundStep> path, const Value& value) {
  if (path.empty()) return value;
  const BoundStep& step = path.front();
  const bool fits = step.is_index() ? base.is_array() : base.is_object();
  const auto index = static_cast<size_t>(step.index);
  if (value.is_undefined() && (!fits || (step.is_index() && index >= base.size()))) return base;
  if ((base.is_defined() && !fits) || (step.is_index() && index > base.size())) {
    error_ = Error{ErrorCode::run_time, "a path cannot be set"};
    return base;
  }
  if (step.is_index()) {
    std::vector<Value> elements;
    for (uint32_t i = 0; i < base.size(); ++i) elements.push_back(base.element(i));
    if (index == elements.size()) elements.emplace_back();
    elements[index] = with(elements[index], path.subspan(1), value);
    std::erase_if(elements, [](const Value& element) { return element.is_undefined(); });
    return Value::array(arena_.copy_array(std::span<const Value>(elements)));
  }
  std::vector<Member> members;
  for (uint32_t i = 0; i < base.size(); ++i) members.push_back(base.member_at(i));
  if (base.member(step.name).is_undefined()) members.push_back({step.name, Value()});
  for (Member& member : members)
    if (member.name == step.name) member.value = with(member.value, path.subspan(1), value);
  std::erase_if(members, [](const Member& member) { return member.value.is_undefined(); });
  return Value::object(arena_.copy_array(std::span<const Member>(members)));
}

Value Interpreter::logical(const BoundExpression& expression, const Row& row, const Group* group) {
  const bool is_and = expression.kind == BoundKind::logical_and;
  Value result = Value::boolean(is_and);
  for (const Value& value : evaluate_all(expression.operands, row, group))
    result = is_and ? logical_and(result, value) : logical_or(result, value);
  return result;
}

Value Interpreter::is_in(const BoundExpression& expression, const Row& row, const Group* group) {
  const std::vector<Value> values = evaluate_all(expression.operands, row, group);
  Value result = Value::boolean(false);
  for (size_t i = 1; i < values.size(); ++i) result = logical_or(result, equal_values(values[0], values[i]));
  return expression.negated && result.is_boolean() ? Value::boolean(!result.as_boolean()) : result;
}

Value Interpreter::like(const BoundExpression& expression, const Row& row, const Group* group) {
  const std::vector<Value> values = evaluate_all(expression.operands, row, group);
  if (!values[0].is_string() || !values[1].is_string()) return {};
  const auto pattern = LikePattern::compile(values[1].as_string(), expression.escape);
  if (!pattern) {
    error_ = pattern.error();
    return {};
  }
  return Value::boolean((*pattern)->matches(values[0].as_string()) != expression.negated);
}

Value Interpreter::construct(const BoundExpression& expression, const Row& row, const Group* group) {
  if (expression.kind == BoundKind::array) {
    std::vector<Value> elements = evaluate_all(expression.operands, row, group);
    std::erase_if(elements, [](const Value& element) { return element.is_undefined(); });
    return Value::array(arena_.copy_array(std::span<const Value>(elements)));
  }
  std::vector<Member> members;
  for (const BoundEntry& entry : expression.entries)
    if (const Value value = evaluate(*entry.value, row, group); value.is_defined())
      members.push_back({entry.key, value});
  return Value::object(arena_.copy_array(std::span<const Member>(members)));
}

Value Interpreter::call(const BoundExpression& expression, const Row& row, const Group* group) {
  const std::vector<Value> arguments = evaluate_all(expression.operands, row, group);
  std::unique_ptr<CallState> state;
  if (expression.function->prepare != nullptr) {
    std::vector<std::optional<Value>> constants;
    for (const BoundExpression* operand : expression.operands)
      constants.push_back(operand->kind == BoundKind::constant ? std::optional(operand->constant)
                                                               : std::nullopt);
    auto prepared = expression.function->prepare(constants);
    if (!prepared) {
      error_ = prepared.error();
      return {};
    }
    state = std::move(*prepared);
  }
  const StatementClock clock;
  CallContext context{arena_, state.get(), &clock};
  return call_function(*expression.function, context, arguments);
}

Value Interpreter::subquery(const BoundExpression& expression, const Row& row) {
  const std::vector<Value> values = run_query(*expression.query, row);
  switch (expression.kind) {
    case BoundKind::exists:
      return Value::boolean(!values.empty());
    case BoundKind::array_query:
      return Value::array(arena_.copy_array(std::span<const Value>(values)));
    case BoundKind::all_query:
      return Value::boolean(std::ranges::all_of(values, [](const Value& value) { return value.is_true(); }));
    case BoundKind::last_query:
      return values.empty() ? Value() : values.back();
    default:
      return values.empty() ? Value() : values.front();
  }
}

}  // namespace quire::sql::oracle
