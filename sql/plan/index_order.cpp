#include "sql/plan/index_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sql/plan/index_estimate.h"
#include "sql/value/comparison.h"

namespace quire::sql {
namespace {

// From the part `first` on.
std::optional<IndexOrder> order_from(const PlannedProbe& probe, const BoundQuery& sort, SlotNumber slot,
                                     size_t first) {
  const std::vector<IndexPart>& parts = probe.index.parts;
  // A bound on a part before the order's first that is no single value would mix several orders.
  if (first < probe.parts.size() && probe.parts[first].size() == 1 && probe.parts[first][0].names_several())
    return std::nullopt;
  std::vector<std::vector<IndexStep>> paths;
  for (const BoundOrderItem& item : sort.order_by) {
    auto path = indexable_path(*item.expression, slot);
    if (!path || item.is_score) break;
    paths.push_back(std::move(*path));
  }
  IndexOrder order;
  for (order.parts = first; order.parts < parts.size() && order.keys < paths.size(); ++order.parts) {
    const IndexPart& part = parts[order.parts];
    const bool is_reverse = sort.order_by[order.keys].descending != part.is_descending;
    if (paths[order.keys] != part.path || (order.keys > 0 && is_reverse != order.is_reverse)) break;
    order.is_reverse = is_reverse;
    ++order.keys;
  }
  if (order.keys == 0) return std::nullopt;
  order.keeps_ties =
      std::all_of(parts.begin() + static_cast<ptrdiff_t>(order.parts), parts.end(),
                  [&](const IndexPart& part) { return std::ranges::find(paths, part.path) != paths.end(); });
  return order;
}

// Up to the end of the cursor's run of equal values that holds its entry at place `rows`; nothing if that is
// behind so many.
std::optional<double> count_runs(IndexCursor& cursor, const PlannedProbe& probe, const IndexOrder& order,
                                 uint64_t rows) {
  constexpr uint64_t kMostLooks = 4096;
  constexpr size_t kBatch = 64;
  if (rows > kMostLooks) return std::nullopt;
  auto counted = cursor.count(rows - 1);
  if (!counted) return std::nullopt;
  const size_t width = probe.index.parts.size();
  std::vector<Value> last(width), values(width * kBatch);
  Arena arena;
  if (const auto found = cursor.next_values(last, arena); !found || *found == 0)
    return static_cast<double>(*counted);
  for (uint64_t count = *counted + 1; count < kMostLooks; count += kBatch) {
    const auto found = cursor.next_values(values, arena);
    if (!found) return std::nullopt;
    for (size_t row = 0; row < *found; ++row)
      for (size_t part = 0; part < order.parts; ++part)
        if (total_order(values[row * width + part], last[part]) != 0) return static_cast<double>(count + row);
    if (*found < kBatch) return static_cast<double>(count + *found);
  }
  return std::nullopt;
}

}  // namespace

std::optional<IndexOrder> find_index_order(const PlannedProbe& probe, const BoundQuery& sort,
                                           SlotNumber slot) {
  size_t skipped = 0;
  while (skipped < probe.parts.size() && probe.parts[skipped].size() == 1 &&
         probe.parts[skipped][0].check == BoundCheck::equal)
    ++skipped;
  std::optional<IndexOrder> best;
  for (size_t first = 0; first <= skipped; ++first) {
    const auto order = order_from(probe, sort, slot, first);
    if (order &&
        (!best || std::pair(order->keeps_ties, order->keys) > std::pair(best->keeps_ties, best->keys)))
      best = order;
  }
  return best;
}

std::optional<double> entries_to_sort(const PlannedProbe& probe, const IndexOrder& order, double rows,
                                      Collection& collection) {
  const auto cursor = open_constant_probe(probe, collection, order.is_reverse);
  if (cursor == nullptr) return std::nullopt;
  return count_runs(*cursor, probe, order, static_cast<uint64_t>(std::max(rows, 1.0)));
}

}  // namespace quire::sql
