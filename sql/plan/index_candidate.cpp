#include "sql/plan/index_candidate.h"

#include <algorithm>

namespace quire::sql {
namespace {

// So many are looked at in pairs.
constexpr size_t kMostPaired = 6;

bool have_condition_in_common(const IndexCandidate& a, const IndexCandidate& b) {
  if (a.probe.parts.empty() || b.probe.parts.empty()) return true;
  for (const std::vector<IndexBound>& part : a.probe.parts)
    for (const IndexBound& bound : part)
      for (const std::vector<IndexBound>& other : b.probe.parts)
        if (std::ranges::find(other, bound.path, &IndexBound::path) != other.end()) return true;
  return false;
}

}  // namespace

std::optional<CandidatePair> find_pair(std::vector<IndexCandidate>& candidates, double items,
                                       double& best_cost, double& best_rows) {
  std::ranges::sort(candidates, std::ranges::less{}, &IndexCandidate::rows);
  std::optional<CandidatePair> best;
  const size_t count = std::min(candidates.size(), kMostPaired);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count; ++j) {
      const IndexCandidate &a = candidates[i], &b = candidates[j];
      if (have_condition_in_common(a, b)) continue;
      const double rows = a.rows * b.rows / std::max(items, 1.0);
      const double cost = (a.rows + b.rows) * kKeyCost + rows * kFetchCost + 1;
      if (cost >= best_cost) continue;
      best_cost = cost;
      best_rows = rows;
      best = CandidatePair{&a, &b, rows};
    }
  }
  return best;
}

}  // namespace quire::sql
