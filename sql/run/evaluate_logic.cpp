// Evaluators that decide: AND, OR, ?:, ??, IN, LIKE, IS NULL. Each later operand runs only over the rows that
// the earlier ones left undecided.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>

#include "sql/functions/operators.h"
#include "sql/run/evaluator.h"
#include "sql/run/tuple_table.h"
#include "sql/value/comparison.h"

namespace quire::sql {
namespace {

using EvaluatorList = std::vector<std::unique_ptr<Evaluator>>;

// AND and OR of three-valued logic. `decisive` is the value that settles the result: false for AND, true for
// OR.
class LogicalEvaluator final : public Evaluator {
 public:
  LogicalEvaluator(bool decisive, EvaluatorList operands)
      : decisive_(decisive), operands_(std::move(operands)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    undecided_.assign(rows.begin(), rows.end());
    for (const RowNumber row : rows) out[row] = Value::boolean(!decisive_);
    for (const auto& operand : operands_) {
      if (undecided_.empty()) break;
      const Vector values = operand->evaluate(undecided_, frame);
      size_t left = 0;
      for (const RowNumber row : undecided_) {
        const Value& value = values[row];
        out[row] = decisive_ ? logical_or(out[row], value) : logical_and(out[row], value);
        undecided_[left] = row;
        left += (out[row].is_boolean() && out[row].as_boolean() == decisive_) ? 0 : 1;
      }
      undecided_.resize(left);
    }
    return Vector::column(out);
  }

  // Under AND only rows on which every operand is true are wanted, so undefined decides as false does.
  size_t select_true(Rows rows, Frame& frame, RowNumber* selected) override {
    if (decisive_) return Evaluator::select_true(rows, frame, selected);
    for (const auto& operand : operands_) {
      const size_t count = operand->select_true(rows, frame, selected);
      rows = Rows(selected, count);
      if (rows.empty()) break;
    }
    return rows.size();
  }

  bool is_stable() const override { return true; }

 private:
  bool decisive_;
  EvaluatorList operands_;
  std::vector<RowNumber> undecided_;
  Column column_;
};

// condition ? first : second. `first` where `takes_first(condition)`.
class ConditionalEvaluator final : public Evaluator {
 public:
  ConditionalEvaluator(std::unique_ptr<Evaluator> condition, std::unique_ptr<Evaluator> first,
                       std::unique_ptr<Evaluator> second)
      : condition_(std::move(condition)), first_(std::move(first)), second_(std::move(second)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    const Vector conditions = condition_->evaluate(rows, frame);
    first_rows_.clear();
    second_rows_.clear();
    for (const RowNumber row : rows) (conditions[row].is_true() ? first_rows_ : second_rows_).push_back(row);
    const Vector first = first_->evaluate(first_rows_, frame);
    for (const RowNumber row : first_rows_) out[row] = first[row];
    const Vector second = second_->evaluate(second_rows_, frame);
    for (const RowNumber row : second_rows_) out[row] = second[row];
    return Vector::column(out);
  }

  bool is_stable() const override { return first_->is_stable() && second_->is_stable(); }

 private:
  std::unique_ptr<Evaluator> condition_;
  std::unique_ptr<Evaluator> first_;
  std::unique_ptr<Evaluator> second_;
  std::vector<RowNumber> first_rows_;
  std::vector<RowNumber> second_rows_;
  Column column_;
};

// a ?? b: b only where a is undefined.
class CoalesceEvaluator final : public Evaluator {
 public:
  CoalesceEvaluator(std::unique_ptr<Evaluator> first, std::unique_ptr<Evaluator> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    const Vector first = first_->evaluate(rows, frame);
    missing_.clear();
    for (const RowNumber row : rows) {
      out[row] = first[row];
      if (out[row].is_undefined()) missing_.push_back(row);
    }
    const Vector second = second_->evaluate(missing_, frame);
    for (const RowNumber row : missing_) out[row] = second[row];
    return Vector::column(out);
  }

  bool is_stable() const override { return first_->is_stable() && second_->is_stable(); }

 private:
  std::unique_ptr<Evaluator> first_;
  std::unique_ptr<Evaluator> second_;
  std::vector<RowNumber> missing_;
  Column column_;
};

// needle IN (a, b, ...): the OR of equalities. Constants stand in a hash table; the rest is compared in turn.
class InEvaluator final : public Evaluator {
 public:
  InEvaluator(std::unique_ptr<Evaluator> needle, EvaluatorList computed,
              std::unique_ptr<TupleTable> constants, bool has_undefined_constant, bool negated)
      : needle_(std::move(needle)),
        computed_(std::move(computed)),
        constants_(std::move(constants)),
        has_undefined_constant_(has_undefined_constant),
        negated_(negated) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    const Vector needles = needle_->evaluate(rows, frame);
    candidates_.clear();
    for (const auto& candidate : computed_) candidates_.push_back(candidate->evaluate(rows, frame));
    for (const RowNumber row : rows) out[row] = test(needles[row], row);
    return Vector::column(out);
  }

  bool is_stable() const override { return true; }

 private:
  Value test(const Value& needle, RowNumber row) const {
    if (needle.is_undefined()) return {};
    if (constants_->find({&needle, 1})) return Value::boolean(!negated_);
    bool met_undefined = has_undefined_constant_;
    for (const Vector& candidate : candidates_) {
      if (candidate[row].is_undefined())
        met_undefined = true;
      else if (equal_values(needle, candidate[row]).is_true())
        return Value::boolean(!negated_);
    }
    return met_undefined ? Value::undefined() : Value::boolean(negated_);
  }

  std::unique_ptr<Evaluator> needle_;
  EvaluatorList computed_;
  std::unique_ptr<TupleTable> constants_;
  bool has_undefined_constant_;
  bool negated_;
  std::vector<Vector> candidates_;
  Column column_;
};

// What the needle of an IN is compared with, as it is gathered.
class Candidates {
 public:
  explicit Candidates(EvaluatorFactory& factory)
      : factory_(factory), constants_(std::make_unique<TupleTable>(1, factory.run().memory)) {}

  void add(const BoundExpression& candidate) {
    const bool is_constant = candidate.kind == BoundKind::constant;
    if (!is_constant && candidate.kind != BoundKind::parameter) {
      computed_.push_back(factory_.make(candidate));
      return;
    }
    const Value value = is_constant ? candidate.constant : factory_.run().parameters[candidate.parameter];
    factory_.run().is_restartable &= is_constant;
    if (value.is_undefined())
      has_undefined_ = true;
    else if (!equals_nothing(value))
      constants_->insert({&value, 1});
  }

  std::unique_ptr<Evaluator> make_in(const BoundExpression& needle, bool negated) {
    return std::make_unique<InEvaluator>(factory_.make(needle), std::move(computed_), std::move(constants_),
                                         has_undefined_, negated);
  }

 private:
  EvaluatorFactory& factory_;
  EvaluatorList computed_;
  std::unique_ptr<TupleTable> constants_;
  bool has_undefined_ = false;
};

// One path, or a slot, held against a constant or a parameter.
struct Equality {
  const BoundExpression* needle;
  const BoundExpression* value;
  std::string path;  // the needle's slot and steps
};

std::optional<Equality> equality_of(const BoundExpression& operand) {
  if (operand.kind != BoundKind::binary || operand.binary_operator != BinaryOperator::equal) return {};
  const BoundExpression* needle = operand.operands[0];
  const BoundExpression* value = operand.operands[1];
  const auto is_read = [](const BoundExpression& expression) {
    return expression.kind == BoundKind::path || expression.kind == BoundKind::slot;
  };
  if (!is_read(*needle)) std::swap(needle, value);
  const bool is_known = value->kind == BoundKind::constant || value->kind == BoundKind::parameter;
  if (!is_read(*needle) || !is_known) return {};
  std::string path = std::to_string(needle->slot);
  for (const BoundStep& step : needle->steps) {
    path += step.is_index() ? '[' : '.';
    path += std::to_string(step.is_index() ? step.index : static_cast<int64_t>(step.name.size()));
    path += step.is_index() ? "]" : ":";
    path += step.name;
  }
  return Equality{needle, value, std::move(path)};
}

// CASE whose arms hold one path, or its subject, against constants: which arm a row takes stands in a hash
// table, where else each would be asked in turn.
class ChoiceTable final : public Evaluator {
 public:
  // As many as the arms that `choice` begins with; few are compared as fast. Null: fewer.
  static std::unique_ptr<Evaluator> make(const BoundExpression& choice, EvaluatorFactory& factory) {
    constexpr size_t kLeastArms = 5;
    size_t arms = 0;
    const auto first = equality_of(*choice.operands[0]);
    const BoundExpression* rest = &choice;
    for (; first && rest->kind == BoundKind::conditional; rest = rest->operands[2], ++arms) {
      const auto equality = equality_of(*rest->operands[0]);
      if (!equality || equality->path != first->path) break;
    }
    if (arms < kLeastArms) return nullptr;
    return std::unique_ptr<Evaluator>(new ChoiceTable(choice, arms, factory));
  }

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    const Vector needles = needle_->evaluate(rows, frame);
    for (std::vector<RowNumber>& taken : rows_) taken.clear();
    for (const RowNumber row : rows)
      rows_[constants_.find({&needles[row], 1}).value_or(static_cast<uint32_t>(results_.size() - 1))]
          .push_back(row);
    for (size_t arm = 0; arm < results_.size(); ++arm) {
      if (rows_[arm].empty()) continue;
      const Vector result = results_[arm]->evaluate(rows_[arm], frame);
      for (const RowNumber row : rows_[arm]) out[row] = result[row];
    }
    return Vector::column(out);
  }

  bool is_stable() const override { return std::ranges::all_of(results_, &Evaluator::is_stable); }

 private:
  ChoiceTable(const BoundExpression& choice, size_t arms, EvaluatorFactory& factory)
      : needle_(factory.make(*equality_of(*choice.operands[0])->needle)),
        constants_(1, factory.run().memory) {
    const BoundExpression* rest = &choice;
    for (; arms > 0; --arms, rest = rest->operands[2]) {
      const BoundExpression& wanted = *equality_of(*rest->operands[0])->value;
      const bool is_constant = wanted.kind == BoundKind::constant;
      const Value value = is_constant ? wanted.constant : factory.run().parameters[wanted.parameter];
      factory.run().is_restartable &= is_constant;
      if (value.is_undefined() || equals_nothing(value)) continue;
      // Of several arms of one value the first is taken.
      if (constants_.insert({&value, 1}).is_new) results_.push_back(factory.make(*rest->operands[1]));
    }
    results_.push_back(factory.make(*rest));
    rows_.resize(results_.size());
  }

  std::unique_ptr<Evaluator> needle_;
  TupleTable constants_;
  EvaluatorList results_;                     // by number of the constant, then that of no arm
  std::vector<std::vector<RowNumber>> rows_;  // of a batch, by result
  Column column_;
};

// The operands of an OR. Those that hold one path against constants, x = 1 OR x = 2 OR ..., are the IN that
// they might have been written as.
class DisjunctionMaker {
 public:
  explicit DisjunctionMaker(EvaluatorFactory& factory) : factory_(factory) {}

  EvaluatorList make(std::span<BoundExpression* const> operands) {
    for (const BoundExpression* operand : operands)
      if (const auto equality = equality_of(*operand)) {
        Values& values = values_[equality->path];
        values.all.push_back(equality->value);
        values.are_constants &= equality->value->kind == BoundKind::constant;
      }
    EvaluatorList made;
    for (const BoundExpression* operand : operands) {
      const auto equality = equality_of(*operand);
      const auto values = equality ? values_.find(equality->path) : values_.end();
      if (values == values_.end() || !values->second.are_worth_a_table())
        made.push_back(factory_.make(*operand));
      else if (values->second.all.front() == equality->value)
        made.push_back(make_in(*equality->needle, values->second.all));
    }
    return made;
  }

 private:
  struct Values {
    std::vector<const BoundExpression*> all;
    bool are_constants = true;

    // What is made from the values of parameters cannot run again with others, so that it takes more of
    // these.
    bool are_worth_a_table() const {
      constexpr size_t kLeastConstants = 3;  // fewer are compared as fast as they are looked up
      constexpr size_t kLeastWithParameters = 16;
      return all.size() >= (are_constants ? kLeastConstants : kLeastWithParameters);
    }
  };

  std::unique_ptr<Evaluator> make_in(const BoundExpression& needle,
                                     std::span<const BoundExpression* const> values) {
    Candidates candidates(factory_);
    for (const BoundExpression* value : values) candidates.add(*value);
    return candidates.make_in(needle, false);
  }

  EvaluatorFactory& factory_;
  std::unordered_map<std::string, Values> values_;  // by path
};

class LikeEvaluator final : public Evaluator {
 public:
  LikeEvaluator(const BoundExpression& expression, std::unique_ptr<Evaluator> text,
                std::unique_ptr<Evaluator> pattern)
      : expression_(expression), text_(std::move(text)), pattern_(std::move(pattern)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    const Vector texts = text_->evaluate(rows, frame);
    const Vector patterns = pattern_->evaluate(rows, frame);
    for (const RowNumber row : rows) {
      const LikePattern* pattern = pattern_for(patterns[row], frame);
      const bool decided = pattern != nullptr && texts[row].is_string();
      out[row] =
          decided ? Value::boolean(pattern->matches(texts[row].as_string()) != expression_.negated) : Value();
    }
    return Vector::column(out);
  }

  bool is_stable() const override { return true; }

 private:
  // A pattern that rows compute is compiled when it changes.
  const LikePattern* pattern_for(const Value& pattern, Frame& frame) {
    if (expression_.like_pattern != nullptr) return expression_.like_pattern;
    if (!pattern.is_string()) return nullptr;
    if (compiled_ != nullptr && pattern.as_string() == compiled_text_) return compiled_.get();
    auto compiled = LikePattern::compile(pattern.as_string(), expression_.escape);
    if (!compiled) {
      frame.run.set_error(std::move(compiled.error()));
      return nullptr;
    }
    compiled_ = std::move(*compiled);
    compiled_text_ = pattern.as_string();
    return compiled_.get();
  }

  const BoundExpression& expression_;
  std::unique_ptr<Evaluator> text_;
  std::unique_ptr<Evaluator> pattern_;
  std::unique_ptr<LikePattern> compiled_;
  std::string compiled_text_;
  Column column_;
};

class IsNullEvaluator final : public Evaluator {
 public:
  IsNullEvaluator(std::unique_ptr<Evaluator> operand, bool negated)
      : operand_(std::move(operand)), negated_(negated) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    const Vector values = operand_->evaluate(rows, frame);
    for (const RowNumber row : rows) out[row] = Value::boolean(values[row].is_null() != negated_);
    return Vector::column(out);
  }

  bool is_stable() const override { return true; }

 private:
  std::unique_ptr<Evaluator> operand_;
  bool negated_;
  Column column_;
};

}  // namespace

std::unique_ptr<Evaluator> make_logical(const BoundExpression& expression, EvaluatorFactory& factory) {
  if (expression.kind == BoundKind::logical_and)
    return std::make_unique<LogicalEvaluator>(false, factory.make_all(expression.operands));
  EvaluatorList operands = DisjunctionMaker(factory).make(expression.operands);
  if (operands.size() == 1) return std::move(operands.front());
  return std::make_unique<LogicalEvaluator>(true, std::move(operands));
}

std::unique_ptr<Evaluator> make_conditional(const BoundExpression& expression, EvaluatorFactory& factory) {
  if (auto table = ChoiceTable::make(expression, factory)) return table;
  return std::make_unique<ConditionalEvaluator>(factory.make(*expression.operands[0]),
                                                factory.make(*expression.operands[1]),
                                                factory.make(*expression.operands[2]));
}

std::unique_ptr<Evaluator> make_coalesce(const BoundExpression& expression, EvaluatorFactory& factory) {
  return std::make_unique<CoalesceEvaluator>(factory.make(*expression.operands[0]),
                                             factory.make(*expression.operands[1]));
}

std::unique_ptr<Evaluator> make_in(const BoundExpression& expression, EvaluatorFactory& factory) {
  Candidates candidates(factory);
  for (const BoundExpression* candidate : expression.operands.subspan(1)) candidates.add(*candidate);
  return candidates.make_in(*expression.operands[0], expression.negated);
}

std::unique_ptr<Evaluator> make_like(const BoundExpression& expression, EvaluatorFactory& factory) {
  return std::make_unique<LikeEvaluator>(expression, factory.make(*expression.operands[0]),
                                         factory.make(*expression.operands[1]));
}

std::unique_ptr<Evaluator> make_is_null(const BoundExpression& expression, EvaluatorFactory& factory) {
  return std::make_unique<IsNullEvaluator>(factory.make(*expression.operands[0]), expression.negated);
}

}  // namespace quire::sql
