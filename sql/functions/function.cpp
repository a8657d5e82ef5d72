// The table over all families: look-up by name, and the check of arguments that stands before every call.
#include "sql/functions/function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sql/functions/families.h"
#include "sql/functions/integers.h"

namespace quire::sql {
namespace {

constexpr char kOptional = '?';
constexpr char kRepeats = '*';

constexpr uint8_t bit(Kind kind) {
  return static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
}
static_assert(static_cast<unsigned>(Kind::object) < 8);

// The kinds that a parameter's letter takes, a bit each.
constexpr std::array<uint8_t, 128> make_accepted_kinds() {
  constexpr uint8_t number = bit(Kind::integer) | bit(Kind::real);
  constexpr uint8_t all = 0xFF;
  std::array<uint8_t, 128> kinds{};
  kinds['s'] = bit(Kind::string);
  kinds['n'] = number;
  kinds['i'] = number;
  kinds['c'] = number;
  kinds['b'] = bit(Kind::boolean);
  kinds['a'] = bit(Kind::array);
  kinds['o'] = bit(Kind::object);
  kinds['d'] = all & ~bit(Kind::undefined);
  kinds['x'] = all;
  return kinds;
}
constexpr std::array<uint8_t, 128> kAcceptedKinds = make_accepted_kinds();

bool accepts(char letter, const Value& argument) noexcept {
  if ((kAcceptedKinds[static_cast<uint8_t>(letter) & 0x7F] & bit(argument.kind())) == 0) return false;
  if ((letter != 'i' && letter != 'c') || argument.kind() == Kind::integer) return true;
  const double real = argument.as_real();
  return letter == 'i' ? integer_from(real).has_value() : std::isfinite(real) && std::trunc(real) == real;
}

// The letters of a call's arguments, one after the other.
class Letters {
 public:
  explicit Letters(std::string_view parameters) noexcept : parameters_(parameters) {}

  // At '*', or past the end, which arity forbids, the last letter holds on.
  char next() noexcept {
    if (at_ < parameters_.size() && parameters_[at_] == kOptional) ++at_;
    if (at_ < parameters_.size() && parameters_[at_] != kRepeats) letter_ = parameters_[at_++];
    return letter_;
  }

 private:
  std::string_view parameters_;
  size_t at_ = 0;
  char letter_ = 0;
};

bool accepts_all(std::string_view parameters, std::span<const Value> arguments) noexcept {
  Letters letters(parameters);
  return std::ranges::all_of(arguments,
                             [&](const Value& argument) { return accepts(letters.next(), argument); });
}

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_less_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](char x, char y) { return lower(x) < lower(y); });
}

bool is_equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::vector<const Function*> sort_by_name() {
  std::vector<const Function*> functions;
  for (const std::span<const Function> family : all_functions())
    for (const Function& function : family) functions.push_back(&function);
  std::sort(functions.begin(), functions.end(),
            [](const Function* a, const Function* b) { return is_less_ignoring_case(a->name, b->name); });
  return functions;
}

}  // namespace

Arity arity_of(const Function& function) noexcept {
  Arity arity{0, 0};
  bool is_optional = false;
  for (const char letter : function.parameters) {
    if (letter == kOptional) {
      is_optional = true;
    } else if (letter == kRepeats) {
      arity.most = std::numeric_limits<uint32_t>::max();
    } else {
      ++arity.most;
      if (!is_optional) ++arity.least;
    }
  }
  return arity;
}

bool takes_undefined(const Function& function, size_t argument) noexcept {
  Letters letters(function.parameters);
  for (size_t i = 0; i < argument; ++i) letters.next();
  return accepts(letters.next(), Value::undefined());
}

Value call_function(const Function& function, CallContext& context, std::span<const Value> arguments) {
  if (!accepts_all(function.parameters, arguments)) return Value::undefined();
  return function.body(context, arguments);
}

std::span<const std::span<const Function>> all_functions() noexcept {
  static const std::span<const Function> families[] = {
      type_functions(),          conditional_functions(),     math_functions(),    integer_functions(),
      string_search_functions(), string_change_functions(),   pattern_functions(), string_convert_functions(),
      array_functions(),         array_aggregate_functions(), set_functions(),     date_functions(),
      date_convert_functions(),  clock_functions(),           spatial_functions(), vector_functions(),
      full_text_functions(),
  };
  return families;
}

const Function* find_function(std::string_view name) {
  static const std::vector<const Function*> functions = sort_by_name();
  const auto found = std::lower_bound(functions.begin(), functions.end(), name,
                                      [](const Function* function, std::string_view wanted) {
                                        return is_less_ignoring_case(function->name, wanted);
                                      });
  return found != functions.end() && is_equal_ignoring_case((*found)->name, name) ? *found : nullptr;
}

std::span<const AggregateRow> all_aggregates() noexcept {
  static constexpr AggregateRow rows[] = {
      {"COUNT", Aggregate::count, "How many values are defined"},
      {"SUM", Aggregate::sum, "The sum of numbers; 0 of none, undefined if a value is no number"},
      {"AVG", Aggregate::avg, "The mean of numbers; undefined of none or if a value is no number"},
      {"MIN", Aggregate::min, "The least of null, booleans, numbers and strings, in this order"},
      {"MAX", Aggregate::max, "The greatest of null, booleans, numbers and strings, in this order"},
      {"COUNTIF", Aggregate::count_if, "How many values are true"},
      {"MAKELIST", Aggregate::make_list, "An array of all values"},
      {"MAKESET", Aggregate::make_set, "An array of all distinct values"},
  };
  return rows;
}

const AggregateRow* find_aggregate(std::string_view name) noexcept {
  for (const AggregateRow& row : all_aggregates())
    if (is_equal_ignoring_case(row.name, name)) return &row;
  return nullptr;
}

bool is_internal_to_service(std::string_view name) noexcept {
  return name.starts_with('_');
}

}  // namespace quire::sql
