#include "tests/oracle/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sql/run/execution.h"
#include "sql/value/comparison.h"
#include "sql/value/json.h"
#include "tests/oracle/interpreter.h"
#include "tests/sql/run/memory_source.h"

namespace quire::sql::oracle {
namespace {

std::string text_of(const Value& value) {
  std::string text;
  write_json(value, text);
  return text;
}

// The same for all equal values: the members of objects in order.
std::string canonical_text_of(const Value& value) {
  std::string text;
  if (value.is_array()) {
    for (uint32_t i = 0; i < value.size(); ++i) text += canonical_text_of(value.element(i)) + ",";
    return "[" + text + "]";
  }
  if (!value.is_object()) return text_of(value);
  std::map<std::string_view, Value> members;
  for (uint32_t i = 0; i < value.size(); ++i)
    members.emplace(value.member_at(i).name, value.member_at(i).value);
  for (const auto& [name, member] : members) text += fmt::format("{:?}:{},", name, canonical_text_of(member));
  return "{" + text + "}";
}

// The values of all parameters of an execution.
class Bindings {
 public:
  explicit Bindings(std::vector<Value> values)
      : values_(std::move(values)), is_bound_(std::make_unique<bool[]>(values_.size())) {
    std::fill_n(is_bound_.get(), values_.size(), true);
  }
  ExecutionOptions options() const {
    ExecutionOptions options;
    options.parameters = values_;
    options.is_bound = {is_bound_.get(), values_.size()};
    return options;
  }

 private:
  std::vector<Value> values_;
  std::unique_ptr<bool[]> is_bound_;
};

class Checker {
 public:
  explicit Checker(const Case& made) : made_(made) {
    fill(source_.make("c", {{"k"}}), made.first);
    fill(source_.make("d"), made.second);
    for (const Parameter& parameter : made.parameters) {
      const auto value = reader_.to_value(parameter.json, arena_);
      if (value) parameters_.emplace(parameter.name, *value);
    }
  }

  Verdict run() {
    Verdict verdict;
    auto parsed = parse(made_.query, false);
    if (!parsed) return verdict;
    auto bound = bind(std::move(*parsed), source_, {});
    if (!bound) return verdict;
    verdict.has_run = true;
    const std::vector<Value> parameters = values_of((*bound)->parameters);
    Interpreter interpreter(**bound, source_, parameters);
    const Result<std::vector<Value>> expected = interpreter.run();
    verdict.failure = compare(expected);
    verdict.is_reordered = is_reordered_;
    if (!verdict.failure) verdict.failure = partition();
    return verdict;
  }

 private:
  static void fill(MemoryCollection& collection, const std::vector<std::string>& documents) {
    for (const std::string& document : documents) (void)collection.add(document);
  }

  // Of parameters, by their names.
  std::vector<Value> values_of(const std::vector<std::string>& names) const {
    std::vector<Value> values;
    for (const std::string& name : names) values.push_back(parameters_.at(name));
    return values;
  }

  std::optional<Failure> compare(const Result<std::vector<Value>>& expected) {
    auto query = prepare_query(made_.query, source_, {});
    const Bindings bindings(query ? values_of((*query)->parameter_names()) : std::vector<Value>());
    auto execution =
        query ? Execution::start(**query, source_, bindings.options()) : std::unexpected(query.error());
    is_reordered_ = query && (*query)->plan().has_new_join_order;
    std::optional<Error> error;
    size_t number = 0;
    std::string given;
    std::vector<std::string> rows;
    bool agrees = true;
    while (execution) {
      const auto row = (*execution)->next();
      if (!row) error = row.error();
      if (!row || !*row) break;
      agrees &= expected && number < expected->size() && deep_equal((*expected)[number], **row);
      ++number;
      given += text_of(**row) + "\n";
      rows.push_back(canonical_text_of(**row));
    }
    if (!execution) error = execution.error();
    if (error) given += "error: " + error->message;
    if (error || !expected)
      agrees = error.has_value() == !expected.has_value();
    else if (is_reordered_)
      agrees = says_order_matters() || has_same_rows(std::move(rows), *expected);
    if (agrees && (error || number == expected->size() || is_reordered_)) return std::nullopt;
    std::string wanted;
    if (!expected) wanted = "error: " + expected.error().message;
    for (size_t i = 0; expected && i < expected->size(); ++i) wanted += text_of((*expected)[i]) + "\n";
    return Failure{made_.query, fmt::format("the engine gave\n{}\nthe oracle\n{}", given, wanted)};
  }

  // Containers joined in another order give the same rows in another order, so other rows where a clause
  // picks some by their place, and other sums of doubles.
  bool says_order_matters() const {
    constexpr std::string_view kWords[] = {"TOP ", "LIMIT ",   "ARRAY(",  "FIRST(", "LAST(",
                                           "SUM(", "MAKELIST", "MAKESET", "AVG("};
    return std::ranges::any_of(kWords, [&](std::string_view word) { return made_.query.contains(word); });
  }

  static bool has_same_rows(std::vector<std::string> rows, const std::vector<Value>& expected) {
    std::vector<std::string> wanted;
    for (const Value& value : expected) wanted.push_back(canonical_text_of(value));
    std::ranges::sort(rows);
    std::ranges::sort(wanted);
    return rows == wanted;
  }

  // Rows for which the predicate is true, false or neither are all rows (TLP); as many are true as a count
  // of its values says, for which no optimiser can use it (NoREC).
  std::optional<Failure> partition() {
    const std::string &from = made_.from, &predicate = made_.predicate;
    const std::string count = "SELECT VALUE COUNT(1)" + from;
    const std::string all = count;
    const std::string is_true = count + " WHERE " + predicate;
    const std::string is_false = count + " WHERE (" + predicate + ") = false";
    const std::string neither = count + " WHERE NOT IS_BOOL(" + predicate + ")";
    const std::string counted = "SELECT VALUE COUNTIF(" + predicate + ")" + from;
    const auto total = number_of(all), yes = number_of(is_true), no = number_of(is_false),
               other = number_of(neither), unoptimised = number_of(counted);
    if (!total || !yes || !no || !other || !unoptimised) return std::nullopt;
    if (*total == *yes + *no + *other && *yes == *unoptimised) return std::nullopt;
    return Failure{is_true,
                   fmt::format("of {} rows it is true for {}, false for {}, neither for {}; COUNTIF says {}",
                               *total, *yes, *no, *other, *unoptimised)};
  }

  std::optional<int64_t> number_of(const std::string& sql) {
    auto query = prepare_query(sql, source_, {});
    if (!query) return std::nullopt;
    const Bindings bindings(values_of((*query)->parameter_names()));
    auto execution = Execution::start(**query, source_, bindings.options());
    if (!execution) return std::nullopt;
    const auto row = (*execution)->next();
    if (!row || !*row) return std::nullopt;
    return (*row)->as_integer();
  }

  const Case& made_;
  MemorySource source_;
  JsonReader reader_;
  Arena arena_;
  std::map<std::string, Value> parameters_;
  bool is_reordered_ = false;
};

// Takes choices away or makes them zero for as long as the case still fails.
std::vector<uint32_t> shrink(std::vector<uint32_t> record) {
  const auto still_fails = [](const std::vector<uint32_t>& candidate) {
    Choices choices(candidate);
    return check(make_case(choices)).failure.has_value();
  };
  bool has_shrunk = true;
  while (has_shrunk) {
    has_shrunk = false;
    for (const size_t length : {16, 8, 4, 2, 1}) {
      for (size_t at = 0; at + length <= record.size();) {
        std::vector<uint32_t> shorter = record;
        shorter.erase(shorter.begin() + static_cast<ptrdiff_t>(at),
                      shorter.begin() + static_cast<ptrdiff_t>(at + length));
        if (still_fails(shorter)) {
          record = std::move(shorter);
          has_shrunk = true;
        } else {
          ++at;
        }
      }
    }
    for (uint32_t& choice : record) {
      if (choice == 0) continue;
      const uint32_t before = std::exchange(choice, 0);
      if (still_fails(record))
        has_shrunk = true;
      else
        choice = before;
    }
  }
  return record;
}

}  // namespace

Verdict check(const Case& made) {
  return Checker(made).run();
}

Outcome check_seed(uint64_t seed) {
  Choices choices(seed);
  const Verdict verdict = check(make_case(choices));
  if (!verdict.failure) return {verdict.has_run, verdict.is_reordered, std::nullopt};
  Choices small(shrink(choices.record()));
  Case made = make_case(small);
  Failure failure = *check(made).failure;
  return {true, verdict.is_reordered, Finding{std::move(made), std::move(failure)}};
}

std::string report(const Finding& finding) {
  std::string parameters;
  for (const Parameter& parameter : finding.made.parameters)
    parameters += fmt::format("parameter @{} {}\n", parameter.name, parameter.json);
  return fmt::format("container c /k\n{}\ncontainer d\n{}\n{}{}\n{}\n", fmt::join(finding.made.first, "\n"),
                     fmt::join(finding.made.second, "\n"), parameters, finding.failure.query,
                     finding.failure.message);
}

}  // namespace quire::sql::oracle
