// VECTORDISTANCE: how alike two vectors are. Cosine and dot product grow with likeness; the Euclidean
// distance falls. Elements are numbers; the sums are doubles.
#include "sql/functions/vector_functions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sql/functions/families.h"
#include "sql/functions/letter_case.h"
#include "sql/value/member_reader.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

enum class Measure : uint8_t { cosine, dot_product, euclidean };

struct MeasureName {
  std::string_view name;
  Measure measure;
};
constexpr std::array<MeasureName, 3> kMeasures{{
    {"cosine", Measure::cosine},
    {"dotproduct", Measure::dot_product},
    {"euclidean", Measure::euclidean},
}};

std::optional<Measure> measure_named(std::string_view name) {
  for (const MeasureName& row : kMeasures)
    if (equals_but_for_case(row.name, name)) return row.measure;
  return std::nullopt;
}

// The measure that the options ask for, the default if they do not; nothing if there is none of that name.
std::optional<Measure> measure_of(Arguments arguments, Measure if_not_named) {
  if (arguments.size() < 4) return if_not_named;
  const Value name = arguments[3].member("distanceFunction");
  if (name.is_undefined()) return if_not_named;
  return name.is_string() ? measure_named(name.as_string()) : std::nullopt;
}

// Elements are read so many at a time, and then added up.
constexpr uint32_t kBlock = 128;

struct Sums {
  double products = 0;  // of a and b
  double squares_a = 0;
  double squares_b = 0;
  double squared_distance = 0;

  // `ys`: as many as `xs`.
  void add(std::span<const double> xs, const double* ys) {
    for (size_t i = 0; i < xs.size(); ++i) {
      const double x = xs[i], y = ys[i];
      products += x * y;
      squares_a += x * x;
      squares_b += y * y;
      squared_distance += (x - y) * (x - y);
    }
  }
};

double likeness(const Sums& sums, Measure measure) {
  switch (measure) {
    case Measure::cosine:
      return sums.products / (std::sqrt(sums.squares_a) * std::sqrt(sums.squares_b));
    case Measure::dot_product:
      return sums.products;
    case Measure::euclidean:
      return std::sqrt(sums.squared_distance);
  }
  return 0;
}

// Vectors of different lengths, or with an element that is no number, have no likeness: undefined. Nor has
// the zero vector an angle.
Value likeness_of(const Value& a, const Value& b, Measure measure) {
  const ElementReader left(a), right(b);
  const uint32_t size = left.size();
  if (size == 0 || size != right.size()) return Value::undefined();
  Sums sums;
  double xs[kBlock], ys[kBlock];
  for (uint32_t first = 0; first < size; first += kBlock) {
    const uint32_t count = std::min(kBlock, size - first);
    if (!left.read_numbers(first, {xs, count}) || !right.read_numbers(first, {ys, count}))
      return Value::undefined();
    sums.add({xs, count}, ys);
  }
  const double result = likeness(sums, measure);
  return std::isfinite(result) ? Value::number(result) : Value::undefined();
}

template <Measure kDefault>
Value vector_distance(CallContext&, Arguments arguments) {
  const std::optional<Measure> measure = measure_of(arguments, kDefault);
  return measure ? likeness_of(arguments[0], arguments[1], *measure) : Value::undefined();
}

template <Measure kDefault>
Value closeness(CallContext& context, Arguments arguments) {
  const Value result = vector_distance<kDefault>(context, arguments);
  const bool falls = measure_of(arguments, kDefault) == Measure::euclidean;
  return falls && result.is_defined() ? Value::number(-result.as_double()) : result;
}

constexpr Function row(FunctionBody body) {
  return {"VECTORDISTANCE", "aa?bo", body, "VECTORDISTANCE(a, b [, brute_force [, options]])",
          "How alike two vectors are; options: {distanceFunction: 'cosine', 'dotproduct' or 'euclidean'}"};
}

// By measure, in its order. The first is the one that the table of functions shows.
constexpr Function kDistances[] = {row(vector_distance<Measure::cosine>),
                                   row(vector_distance<Measure::dot_product>),
                                   row(vector_distance<Measure::euclidean>)};
constexpr Function kClosenesses[] = {row(closeness<Measure::cosine>), row(closeness<Measure::dot_product>),
                                     row(closeness<Measure::euclidean>)};

}  // namespace

std::span<const Function> vector_functions() noexcept {
  return {kDistances, 1};
}

bool is_vector_distance(const Function& function) noexcept {
  return function.name == kDistances[0].name;
}

bool is_distance_function(std::string_view name) noexcept {
  return measure_named(name).has_value();
}

const Function& vector_distance_by(std::string_view distance_function) noexcept {
  return kDistances[static_cast<size_t>(measure_named(distance_function).value_or(Measure::cosine))];
}

const Function& vector_closeness(const Function& vector_distance) noexcept {
  for (size_t i = 0; i < std::size(kDistances); ++i)
    if (kDistances[i].body == vector_distance.body) return kClosenesses[i];
  return vector_distance;  // NOLINT(bugprone-return-const-ref-from-parameter): a row of the table of
                           // functions
}

}  // namespace quire::sql
