#include "sql/plan/index_candidate.h"

#include <algorithm>
#include <utility>

#include "sql/id_index.h"
#include "sql/plan/index_estimate.h"

namespace quire::sql {
namespace {

// So many are looked at in pairs.
constexpr size_t kMostPaired = 6;
// Several INs over the parts of an index make a range for each combination of their values.
constexpr size_t kMostCombinations = 4096;

using Bounds = std::span<const IndexBound>;

bool has_entries_for(const IndexBound& bound, const IndexDescription& index) {
  constexpr uint8_t kFirstOfArrays = 0x50;
  if (bound.check == BoundCheck::of_types && bound.first_type == kUndefinedType)
    return index.holds == IndexHolds::every_item;
  return bound.check != BoundCheck::of_types || index.holds != IndexHolds::scalars ||
         bound.last_type <= kFirstOfArrays;
}

// Each element is bounded alone, so one bound: the one that leads to the fewest entries.
IndexCandidate make_candidate_of_elements(const IndexDescription& index, Bounds bounds,
                                          Collection& collection, double items) {
  IndexCandidate least;
  least.probe.index = index;
  least.rows = estimate_entries(least.probe, collection, items);
  for (const IndexBound& bound : bounds) {
    if (bound.path != index.parts[0].path || !has_entries_for(bound, index)) continue;
    IndexCandidate candidate;
    candidate.probe = {index, {{bound}}};
    candidate.rows = estimate_entries(candidate.probe, collection, items);
    if (least.probe.parts.empty() || candidate.rows < least.rows) least = std::move(candidate);
  }
  return least;
}

bool have_condition_in_common(const IndexCandidate& a, const IndexCandidate& b) {
  if (a.probe.parts.empty() || b.probe.parts.empty()) return true;
  for (const std::vector<IndexBound>& part : a.probe.parts)
    for (const IndexBound& bound : part)
      for (const std::vector<IndexBound>& other : b.probe.parts)
        if (std::ranges::find(other, bound.path, &IndexBound::path) != other.end()) return true;
  return false;
}

}  // namespace

std::vector<IndexBound> bounds_on(const IndexPart& part, const IndexDescription& index,
                                  std::span<const IndexBound> bounds) {
  std::vector<IndexBound> found;
  for (const IndexBound& bound : bounds) {
    if (bound.path != part.path || !has_entries_for(bound, index)) continue;
    if (bound.names_values()) return {bound};
    found.push_back(bound);
  }
  return found;
}

IndexCandidate make_candidate(const IndexDescription& index, Bounds bounds, Collection& collection,
                              double items) {
  if (index.is_multi_valued()) return make_candidate_of_elements(index, bounds, collection, items);
  IndexCandidate candidate;
  candidate.probe.index = index;
  size_t combinations = 1;
  for (const IndexPart& part : index.parts) {
    std::vector<IndexBound> on_part = bounds_on(part, index, bounds);
    if (on_part.empty()) break;
    const bool is_equality = on_part.size() == 1 && on_part[0].names_values();
    if (on_part[0].names_several()) combinations *= std::max<size_t>(on_part[0].named_values(), 1);
    if (combinations > kMostCombinations && !candidate.probe.parts.empty()) break;
    candidate.probe.parts.push_back(std::move(on_part));
    if (!is_equality) break;
  }
  candidate.rows = estimate_entries(candidate.probe, collection, items);
  return candidate;
}

std::optional<IndexCandidate> make_candidate_by_id(Bounds bounds, const Collection& collection) {
  if (!has_id_index(collection)) return std::nullopt;
  IndexCandidate candidate;
  candidate.probe.index = describe_id_index();
  std::vector<IndexBound> on_id = bounds_on(candidate.probe.index.parts[0], candidate.probe.index, bounds);
  if (on_id.empty() || !on_id[0].names_values()) return std::nullopt;
  candidate.rows = static_cast<double>(on_id[0].named_values());
  candidate.probe.parts.push_back(std::move(on_id));
  return candidate;
}

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
