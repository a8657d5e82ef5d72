// An index that may lead to the items of a scan, and what its entries cost, in items of a scan.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sql/plan/index_order.h"
#include "sql/plan/plan.h"

namespace quire::sql {

// An item by its entry: of 100 bytes about 11, of 1,000 about 4.
inline constexpr double kFetchCost = 6;
inline constexpr double kEntryCost = 0.5;
// An entry whose item's key is noted and put in order, to be compared with others.
inline constexpr double kKeyCost = 2;
// The values of an entry, read once its key is in order; several threads share a scan, and not this.
inline constexpr double kValuesCost = 2.5;
// An entry that OFFSET passes over, with many others of its page.
inline constexpr double kSkipCost = 0.02;

struct IndexCandidate {
  PlannedProbe probe;
  double rows = 0;                       // entries to visit
  std::optional<IndexOrder> order = {};  // of ORDER BY, that its entries come in
  double cost_in_order = 0;
};

// By as many of the index's parts as the bounds that hold for a scan of `items` say something about.
IndexCandidate make_candidate(const IndexDescription& index, std::span<const IndexBound> bounds,
                              Collection& collection, double items);

// By the ids that the bounds name, where an id says which item it is.
std::optional<IndexCandidate> make_candidate_by_id(std::span<const IndexBound> bounds,
                                                   const Collection& collection);

// What they say of one part: one equality, or all other bounds.
std::vector<IndexBound> bounds_on(const IndexPart& part, const IndexDescription& index,
                                  std::span<const IndexBound> bounds);

struct CandidatePair {
  const IndexCandidate* first;
  const IndexCandidate* second;
  double rows;  // items that both lead to
};

// Two indexes that lead to many of `items` each and to few together, if reading the entries of both costs
// less than `best_cost`; then that is theirs. Sorts the candidates, in which the pair lies.
std::optional<CandidatePair> find_pair(std::vector<IndexCandidate>& candidates, double items,
                                       double& best_cost, double& best_rows);

}  // namespace quire::sql
