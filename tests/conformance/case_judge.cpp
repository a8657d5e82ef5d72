#include "tests/conformance/case_judge.h"

#include <algorithm>
#include <cmath>

#include "sql/source.h"
#include "sql/value/comparison.h"

namespace quire::conformance {
namespace {

using sql::Value;

class Judge {
 public:
  explicit Judge(const Expectation& expected) : expected_(expected) {}

  bool is_same(const Value& actual, const Value& wanted) const {
    if (actual.is_number() && wanted.is_number()) return is_same_number(actual, wanted);
    if (actual.is_array() && wanted.is_array()) return is_same_array(actual, wanted);
    if (actual.is_object() && wanted.is_object()) return is_same_object(actual, wanted);
    return sql::deep_equal(actual, wanted);
  }

  // Each wanted value is found once; values are few, so the search may be plain.
  bool is_same_set(const std::vector<Value>& actual, const std::vector<Value>& wanted) const {
    if (actual.size() != wanted.size()) return false;
    std::vector<bool> is_taken(actual.size());
    for (const Value& value : wanted) {
      size_t i = 0;
      while (i < actual.size() && (is_taken[i] || !is_same(actual[i], value))) ++i;
      if (i == actual.size()) return false;
      is_taken[i] = true;
    }
    return true;
  }

 private:
  bool is_same_number(const Value& actual, const Value& wanted) const {
    if (sql::deep_equal(actual, wanted)) return true;
    const double a = actual.as_double();
    const double b = wanted.as_double();
    return std::fabs(a - b) <= expected_.tolerance * std::max(std::fabs(a), std::fabs(b));
  }

  bool is_same_array(const Value& actual, const Value& wanted) const {
    if (actual.size() != wanted.size()) return false;
    if (expected_.unordered_arrays) return is_same_set(elements_of(actual), elements_of(wanted));
    for (uint32_t i = 0; i < actual.size(); ++i)
      if (!is_same(actual.element(i), wanted.element(i))) return false;
    return true;
  }

  bool is_same_object(const Value& actual, const Value& wanted) const {
    for (uint32_t i = 0; i < wanted.size(); ++i) {
      const sql::Member member = wanted.member_at(i);
      const Value found = actual.member(member.name);
      if (found.is_undefined() || !is_same(found, member.value)) return false;
    }
    for (uint32_t i = 0; i < actual.size(); ++i) {
      const std::string_view name = actual.member_at(i).name;
      if (wanted.member(name).is_undefined() && !may_be_extra(name)) return false;
    }
    return true;
  }

  bool may_be_extra(std::string_view name) const {
    const bool is_system =
        std::find(std::begin(sql::kSystemPropertyNames), std::end(sql::kSystemPropertyNames), name) !=
        std::end(sql::kSystemPropertyNames);
    return is_system || (expected_.ids_were_added && name == "id");
  }

  static std::vector<Value> elements_of(const Value& array) {
    std::vector<Value> elements;
    for (uint32_t i = 0; i < array.size(); ++i) elements.push_back(array.element(i));
    return elements;
  }

  const Expectation& expected_;
};

}  // namespace

bool matches(const std::vector<Value>& rows, const Expectation& expected) {
  const Judge judge(expected);
  if (expected.ordered && expected.order_key.empty()) {
    return std::equal(rows.begin(), rows.end(), expected.rows.begin(), expected.rows.end(),
                      [&](const Value& a, const Value& b) { return judge.is_same(a, b); });
  }
  if (!judge.is_same_set(rows, expected.rows)) return false;
  if (!expected.ordered) return true;
  for (size_t i = 0; i < rows.size(); ++i)
    if (!judge.is_same(rows[i].member(expected.order_key), expected.rows[i].member(expected.order_key)))
      return false;
  return true;
}

}  // namespace quire::conformance
