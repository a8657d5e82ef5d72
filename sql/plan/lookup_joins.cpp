// Joins by look-ups. A join whose left side is small, and whose keys are the partition key and the id of the
// right side's items, or paths that it has an index over, does not read the right side whole: it looks the
// partners of each batch of left rows up. Where the right side is small it is the other way round: the right
// side is read first, as always, and a container of the left side then reads only the items that have one of
// its keys. So the sources meet in the order that costs little, and the rows come in the order in which they
// are written.
#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/plan/estimate_rows.h"
#include "sql/plan/index_candidate.h"
#include "sql/plan/index_estimate.h"
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// Of a scan's items, what a partition is taken for.
constexpr double kFoundPartitionShare = 0.02;

// How many items a row's key leads to, as far as that is known.
double partners(const PlannedProbe& probe, Collection& collection, double items) {
  const auto statistics = collection.index_statistics(probe.index.number);
  if (!statistics || statistics->distinct.empty()) return 1;
  return estimate_entries(probe, collection, items);
}

// A scan, and the filter right above it, or null.
struct Side {
  PlanNode* scan;
  const PlanNode* filter;
};

Side side_of(PlanNode* scan, const PlanNode* above) {
  return {scan, above != nullptr && above->kind == PlanKind::filter ? above : nullptr};
}

Side bottom_of(PlanNode& root) {
  PlanNode *node = &root, *above = nullptr;
  while (node->input != nullptr) {
    above = node;
    node = node->input.get();
  }
  return side_of(node, above);
}

// Reads all items, or those of one partition.
bool reads_in_turn(const PlanNode& node) {
  return node.kind == PlanKind::scan && !node.access.is_ordered && node.access.asked_components == 0 &&
         (node.access.kind == Access::Kind::scan || node.access.kind == Access::Kind::partition);
}

using Keys = std::span<const BoundExpression* const>;

std::optional<size_t> key_of(const std::vector<std::string>& property, Keys keys, SlotNumber slot) {
  for (size_t number = 0; number < keys.size(); ++number) {
    const auto path = indexable_path(*keys[number], slot);
    const bool is_found = path && std::ranges::equal(*path, property, [](const auto& step, const auto& name) {
                            return !step.is_element && step.name == name;
                          });
    if (is_found) return number;
  }
  return std::nullopt;
}

// The join's keys, by number, that say which item it is, or else which partition: what is behind the
// components that are known.
std::vector<size_t> find_by_item_key(PlanNode& scan, Keys keys, double rows, Source& source) {
  const Collection& collection = *source.collection(scan.source->collection_name);
  if (!collection.finds_by_key()) return {};
  const auto behind = std::span(collection.partition_key_paths()).subspan(scan.access.partition_key.size());
  std::vector<size_t> asked;
  for (const auto& path : behind) {
    const auto number = key_of(path, keys, scan.source->slot);
    if (!number) return {};
    asked.push_back(*number);
  }
  const auto id = key_of({"id"}, keys, scan.source->slot);
  if (id) asked.push_back(*id);
  const double read = estimated_rows(scan, source);
  const double found = id ? rows : rows * kFoundPartitionShare * read;
  if (asked.empty() || found * (id ? kLookupCost : 1) >= read) return {};
  scan.access.kind = id ? Access::Kind::points : Access::Kind::partitions;
  scan.access.asked_components = asked.size();
  scan.access.estimated_rows = found;
  return asked;
}

// By an index of whose leading parts each is a key, or bounded by a condition of the scan; then the keys, by
// number.
std::vector<size_t> add_parts(PlannedProbe& probe, Keys keys, SlotNumber slot,
                              std::span<const IndexBound> bounds) {
  std::vector<size_t> asked;
  for (const IndexPart& part : probe.index.parts) {
    const auto key = std::ranges::find_if(
        keys, [&](const BoundExpression* key) { return indexable_path(*key, slot) == part.path; });
    std::vector<IndexBound> on_part = key != keys.end()
                                          ? std::vector{IndexBound{BoundCheck::looked_up, part.path, {}}}
                                          : bounds_on(part, probe.index, bounds);
    if (on_part.empty()) break;
    if (key != keys.end()) asked.push_back(static_cast<size_t>(key - keys.begin()));
    probe.parts.push_back(std::move(on_part));
    if (!probe.parts.back()[0].names_values()) break;
  }
  return asked;
}

// The scans of the left side whose rows the join drops if they have no partner.
std::vector<Side> scans_of_left_side(PlanNode& join) {
  std::vector<Side> scans;
  const PlanNode* above = &join;
  for (PlanNode* node = join.input.get(); node != nullptr; above = node, node = node->input.get()) {
    if (reads_in_turn(*node)) scans.push_back(side_of(node, above));
    if (node->kind != PlanKind::join || node->keeps_unmatched) continue;
    if (const Side side = bottom_of(*node->right->root); reads_in_turn(*side.scan)) scans.push_back(side);
  }
  return scans;
}

class LookupFinder {
 public:
  LookupFinder(const Plan& plan, const PlannedQuery& query, Source& source)
      : source_(source), own_slots_(plan.slot_count) {
    for (const BoundSource& from : query.bound->sources) own_slots_.add(from.slot);
  }

  // `wanted`: how many rows of the join there need to be.
  bool look_up(PlanNode& join, double wanted) const {
    const Side side = bottom_of(*join.right->root);
    if (join.is_lookup || join.narrowed_scan || !reads_in_turn(*side.scan)) return false;
    const double left_rows = std::min(estimated_rows(*join.input, source_), wanted);
    join.asked_keys = find_by_keys(side, join.right_keys, left_rows);
    join.is_lookup = !join.asked_keys.empty();
    return join.is_lookup;
  }

  bool narrow(PlanNode& join) const {
    if (join.keeps_unmatched || join.is_lookup || join.narrowed_scan) return false;
    const double right_rows = estimated_rows(*join.right->root, source_);
    for (const Side& side : scans_of_left_side(join)) {
      join.asked_keys = find_by_keys(side, join.left_keys, right_rows);
      if (join.asked_keys.empty()) continue;
      side.scan->access.takes_join_keys = true;
      join.narrowed_scan = side.scan->number;
      return true;
    }
    return false;
  }

 private:
  // Whether `rows` of the other side find their partners in a scan with less work than it takes to read all
  // that it reads. Then the scan does so, by the keys whose numbers come back.
  std::vector<size_t> find_by_keys(const Side& side, Keys keys, double rows) const {
    if (source_.collection(side.scan->source->collection_name) == nullptr) return {};
    auto asked = find_by_item_key(*side.scan, keys, rows, source_);
    return asked.empty() ? find_by_index(side, keys, rows) : asked;
  }

  // By the index whose leading parts lead to the fewest items.
  std::vector<size_t> find_by_index(const Side& side, Keys keys, double rows) const {
    PlanNode& scan = *side.scan;
    Collection& collection = *source_.collection(scan.source->collection_name);
    const auto items = static_cast<double>(collection.item_count());
    if (scan.access.kind != Access::Kind::scan || rows * kLookupCost >= items) return {};
    const std::vector<IndexBound> bounds = bounds_of(side);
    std::vector<size_t> asked;
    double least = items / kLookupCost;
    for (const IndexDescription& index : collection.indexes()) {
      if (!index.condition.empty() || index.is_multi_valued()) continue;
      PlannedProbe probe{index, {}};
      std::vector<size_t> found = add_parts(probe, keys, scan.source->slot, bounds);
      if (found.empty()) continue;
      const double entries = rows * partners(probe, collection, items);
      if (entries >= least) continue;
      least = entries;
      scan.access.probes = {std::move(probe)};
      asked = std::move(found);
    }
    if (asked.empty()) return {};
    scan.access.kind = Access::Kind::any_index;
    scan.access.estimated_rows = least;
    return asked;
  }

  // What the filter above says of the items, whichever row they are to join; it goes on to say so.
  std::vector<IndexBound> bounds_of(const Side& side) const {
    std::vector<IndexBound> bounds;
    if (side.filter == nullptr) return bounds;
    const PlacedSlot item{side.scan->source->slot, {}};
    for (const BoundExpression* condition : side.filter->conditions)
      std::ranges::move(find_index_bounds(*condition, std::span(&item, 1), own_slots_),
                        std::back_inserter(bounds));
    return bounds;
  }

  Source& source_;
  SlotSet own_slots_;
};

// Whether a node that wants few rows wants about as many of what is below.
bool stops_early(const PlanNode& node) {
  return node.kind == PlanKind::limit || node.kind == PlanKind::project ||
         (node.kind == PlanKind::sort && node.ordered_keys > 0);
}

}  // namespace

// Each join found so makes the rows of another fewer, so all are looked at again. A limit that nothing
// stands between has the left side end early: then each of its rows is taken to have a partner.
void join_by_index(const Plan& plan, PlannedQuery& query, Source& source) {
  const LookupFinder finder(plan, query, source);
  constexpr double kAll = std::numeric_limits<double>::infinity();
  for (bool has_found = true; has_found;) {
    has_found = false;
    double wanted = row_limit(*query.bound).value_or(kAll);
    for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
      if (node->kind == PlanKind::join)
        has_found |= finder.look_up(*node, wanted) || finder.narrow(*node);
      else if (!stops_early(*node))
        wanted = kAll;
    }
  }
}

}  // namespace quire::sql
