#include "sql/run/rank_fusion.h"

#include <algorithm>
#include <numeric>

#include "sql/value/comparison.h"
#include "sql/value/limited_array.h"

namespace quire::sql {

std::vector<double> fusion_weights(const BoundFusion& fusion, size_t scores, RunState& run) {
  std::vector<double> weights(scores, 1.0);
  if (fusion.weights == nullptr) return weights;
  const BoundExpression& given = *fusion.weights;
  const Value value = given.kind == BoundKind::parameter ? run.parameters[given.parameter] : given.constant;
  bool is_right = value.is_array() && value.size() == scores;
  for (uint32_t i = 0; is_right && i < scores; ++i) {
    is_right = value.element(i).is_number();
    if (is_right) weights[i] = value.element(i).as_double();
  }
  if (!is_right)
    run.set_error({ErrorCode::invalid_argument,
                   "the weights of RRF must be an array of numbers, one for each of its " +
                       std::to_string(scores) + " scores",
                   position_of(run.plan.statement->parsed->text, given.span.offset)});
  return weights;
}

void join_ranks(std::span<Value> values, size_t width, std::span<const double> weights,
                MemoryBudget& memory) {
  constexpr double kRankOffset = 60;
  const size_t rows = width == 0 ? 0 : values.size() / width;
  LimitedArray<double> sums(&memory);
  LimitedArray<uint32_t> order(&memory);
  sums.resize(rows);
  order.resize(rows);
  for (size_t score = 0; score < weights.size(); ++score) {
    const auto score_of = [&](uint32_t row) -> const Value& { return values[row * width + score]; };
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order,
                      [&](uint32_t a, uint32_t b) { return total_order(score_of(b), score_of(a)) < 0; });
    uint64_t rank = 1;
    for (size_t i = 0; i < rows; ++i) {
      if (i > 0 && total_order(score_of(order[i]), score_of(order[i - 1])) != 0) ++rank;
      sums[order[i]] += weights[score] / (kRankOffset + static_cast<double>(rank));
    }
  }
  for (size_t row = 0; row < rows; ++row) values[row * width] = Value::number(sums[row]);
}

}  // namespace quire::sql
