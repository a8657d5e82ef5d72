// Joins by look-ups. A join whose left side is small, and whose keys are the partition key and the id of the
// right side's items, or paths that it has an index over, does not read the right side whole: it looks the
// partners of each batch of left rows up. Where the right side is small it is the other way round: the right
// side is read first, as always, and a container of the left side then reads only the items that have one of
// its keys. So the sources meet in the order that costs little, and the rows come in the order in which they
// are written.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/plan/estimate_rows.h"
#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

// Of a scan's items, what a partition is taken for.
constexpr double kFoundPartitionShare = 0.02;

// How many items values of so many `parts`, the leading ones, lead to, as far as that is known.
double partners(const IndexDescription& index, size_t parts, Collection& collection) {
  const auto statistics = collection.index_statistics(index.number);
  if (!statistics || statistics->distinct.size() < parts) return 1;
  return static_cast<double>(index.entries) / std::max(1.0, statistics->distinct[parts - 1]);
}

PlanNode* bottom_of(PlanNode& root) {
  PlanNode* node = &root;
  while (node->input != nullptr) node = node->input.get();
  return node;
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

// The keys that are the leading parts of an index, by number.
std::vector<size_t> keys_of_index(const IndexDescription& index, Keys keys, SlotNumber slot) {
  std::vector<size_t> asked;
  for (const IndexPart& part : index.parts) {
    const auto key = std::ranges::find_if(
        keys, [&](const BoundExpression* key) { return indexable_path(*key, slot) == part.path; });
    if (key == keys.end()) break;
    asked.push_back(static_cast<size_t>(key - keys.begin()));
  }
  return asked;
}

// By the index whose leading parts lead to the fewest items.
std::vector<size_t> find_by_index(PlanNode& scan, Keys keys, double rows, Source& source) {
  Collection& collection = *source.collection(scan.source->collection_name);
  const auto items = static_cast<double>(collection.item_count());
  if (scan.access.kind != Access::Kind::scan || rows * kLookupCost >= items) return {};
  std::vector<size_t> asked;
  double least = items / kLookupCost;
  for (const IndexDescription& index : collection.indexes()) {
    if (!index.condition.empty() || index.is_multi_valued()) continue;
    std::vector<size_t> found = keys_of_index(index, keys, scan.source->slot);
    if (found.empty()) continue;
    const double entries = rows * partners(index, found.size(), collection);
    if (entries >= least) continue;
    least = entries;
    scan.access.probes = {{index, {}}};
    for (size_t part = 0; part < found.size(); ++part)
      scan.access.probes[0].parts.push_back(
          {{BoundCheck::looked_up, index.parts[part].path, {}, 0, 0, nullptr, true}});
    asked = std::move(found);
  }
  if (asked.empty()) return {};
  scan.access.kind = Access::Kind::any_index;
  scan.access.estimated_rows = least;
  return asked;
}

// Whether `rows` of the other side find their partners in a scan with less work than it takes to read all
// that it reads. Then the scan does so, by the keys whose numbers come back.
std::vector<size_t> find_by_keys(PlanNode& scan, Keys keys, double rows, Source& source) {
  if (source.collection(scan.source->collection_name) == nullptr) return {};
  for (const auto& find : {find_by_item_key, find_by_index})
    if (auto asked = find(scan, keys, rows, source); !asked.empty()) return asked;
  return {};
}

// `wanted`: how many rows of the join there need to be.
bool look_up(PlanNode& join, double wanted, Source& source) {
  PlanNode& scan = *bottom_of(*join.right->root);
  if (join.is_lookup || join.narrowed_scan || !reads_in_turn(scan)) return false;
  const double left_rows = std::min(estimated_rows(*join.input, source), wanted);
  join.asked_keys = find_by_keys(scan, join.right_keys, left_rows, source);
  join.is_lookup = !join.asked_keys.empty();
  return join.is_lookup;
}

// The scans of the left side whose rows the join drops if they have no partner.
std::vector<PlanNode*> scans_of_left_side(PlanNode& join) {
  std::vector<PlanNode*> scans;
  for (PlanNode* node = join.input.get(); node != nullptr; node = node->input.get()) {
    if (reads_in_turn(*node)) scans.push_back(node);
    if (node->kind != PlanKind::join || node->keeps_unmatched) continue;
    if (PlanNode* const scan = bottom_of(*node->right->root); reads_in_turn(*scan)) scans.push_back(scan);
  }
  return scans;
}

bool narrow(PlanNode& join, Source& source) {
  if (join.keeps_unmatched || join.is_lookup || join.narrowed_scan) return false;
  const double right_rows = estimated_rows(*join.right->root, source);
  for (PlanNode* scan : scans_of_left_side(join)) {
    join.asked_keys = find_by_keys(*scan, join.left_keys, right_rows, source);
    if (join.asked_keys.empty()) continue;
    scan->access.takes_join_keys = true;
    join.narrowed_scan = scan->number;
    return true;
  }
  return false;
}

// Whether a node that wants few rows wants about as many of what is below.
bool stops_early(const PlanNode& node) {
  return node.kind == PlanKind::limit || node.kind == PlanKind::project ||
         (node.kind == PlanKind::sort && node.ordered_keys > 0);
}

}  // namespace

// Each join found so makes the rows of another fewer, so all are looked at again. A limit that nothing
// stands between has the left side end early: then each of its rows is taken to have a partner.
void join_by_index(PlannedQuery& query, Source& source) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  for (bool has_found = true; has_found;) {
    has_found = false;
    double wanted = row_limit(*query.bound).value_or(kAll);
    for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
      if (node->kind == PlanKind::join)
        has_found |= look_up(*node, wanted, source) || narrow(*node, source);
      else if (!stops_early(*node))
        wanted = kAll;
    }
  }
}

}  // namespace quire::sql
