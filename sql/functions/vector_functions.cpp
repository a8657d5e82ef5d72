// VECTORDISTANCE: how alike two vectors are. Cosine and dot product grow with likeness; the Euclidean
// distance falls. Elements are numbers; the sums are doubles.
#include <array>
#include <cmath>

#include "sql/functions/families.h"

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

// The measure that the options ask for, cosine if they do not; nothing if there is none of that name.
std::optional<Measure> measure_of(Arguments arguments) {
  if (arguments.size() < 4) return Measure::cosine;
  const Value name = arguments[3].member("distanceFunction");
  if (name.is_undefined()) return Measure::cosine;
  if (!name.is_string()) return std::nullopt;
  for (const MeasureName& row : kMeasures)
    if (row.name == name.as_string()) return row.measure;
  return std::nullopt;
}

struct Sums {
  double products = 0;  // of a and b
  double squares_a = 0;
  double squares_b = 0;
  double squared_distance = 0;
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
Value vector_distance(CallContext&, Arguments arguments) {
  const Value& a = arguments[0];
  const Value& b = arguments[1];
  const std::optional<Measure> measure = measure_of(arguments);
  const uint32_t size = a.size();
  if (!measure || size == 0 || size != b.size()) return Value::undefined();
  Sums sums;
  for (uint32_t i = 0; i < size; ++i) {
    const Value left = a.element(i);
    const Value right = b.element(i);
    if (!left.is_number() || !right.is_number()) return Value::undefined();
    const double x = left.as_double();
    const double y = right.as_double();
    sums.products += x * y;
    sums.squares_a += x * x;
    sums.squares_b += y * y;
    sums.squared_distance += (x - y) * (x - y);
  }
  const double result = likeness(sums, *measure);
  return std::isfinite(result) ? Value::number(result) : Value::undefined();
}

constexpr Function kRows[] = {
    {"VECTORDISTANCE", "aa?bo", vector_distance, "VECTORDISTANCE(a, b [, brute_force [, options]])",
     "How alike two vectors are; options: {distanceFunction: 'cosine', 'dotproduct' or 'euclidean'}"},
};

}  // namespace

std::span<const Function> vector_functions() noexcept {
  return kRows;
}

}  // namespace quire::sql
