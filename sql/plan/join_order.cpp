// The order in which the sources of FROM are joined. It is the written one, unless a container would meet the
// rows before it without an equality to look its partners up by, while another order has one: for
// `FROM a JOIN b JOIN c WHERE a.x = c.x AND c.y = b.y` it is a, c, b. In a correlated query the row around is
// there before all, so that a container begins that has an equality with it: each run then looks up its few
// rows and their partners, in what is kept from run to run. A LEFT JOIN sees the rows before it, so it stays
// behind all that are written before it, and before all that are written behind it.
//
// Equalities are the edges of a graph, each from what its one side reads to the sources of its other side.
// Placing a source takes it off the edges that start there, so all of that is work in proportion to the
// edges; only a step that meets nothing but cross products looks at all of them.
#include <algorithm>
#include <optional>

#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// Whether the row around may decide which source begins. Where ORDER BY stands under a limit, an index over
// the first source may have that order, and few rows are read.
bool begins_by_row_around(const BoundQuery& query) {
  const bool is_limited = query.top != nullptr || query.limit != nullptr;
  return !query.outer_slots.empty() && (query.order_by.empty() || !is_limited);
}

// Fewer sources than that have no other order, or none that is better.
size_t least_to_reorder(const BoundQuery& query) {
  return begins_by_row_around(query) ? 2 : 3;
}

// Sources that stay together: a container with what follows it and reads nothing else (JOIN x IN c.tags,
// whose values may be keys), or a source that reads others.
struct SourceGroup {
  std::vector<const BoundSource*> sources;
  SlotSet slots;
  SlotSet reads;  // of this FROM
  bool is_collection = false;
  bool is_barrier = false;    // LEFT JOIN
  size_t connections = 0;     // edges to it all of whose partners are placed
  std::vector<size_t> edges;  // that it is a partner of
};

// `group` has partners to look up by as soon as all of `partners` are placed.
struct Edge {
  size_t group;
  SlotSet partners;
  size_t missing;  // groups of the partners that are not placed
};

class JoinOrder {
 public:
  JoinOrder(const BoundQuery& query, std::span<const BoundExpression* const> conditions,
            SlotNumber slot_count)
      : none_(slot_count),
        all_(slot_count),
        known_(slot_count),
        group_of_(slot_count),
        unplaced_(slot_count) {
    for (const BoundSource& source : query.sources) all_.add(source.slot);
    unplaced_ = known_ = all_;
    if (begins_by_row_around(query))
      for (const SlotNumber slot : query.outer_slots) known_.add(slot);
    for (const BoundSource& source : query.sources) add(source);
    if (groups_.size() < least_to_reorder(query)) return;
    for (const BoundExpression* condition : conditions) add_edges(*condition);
  }

  std::vector<const BoundSource*> find() {
    for (size_t begin = 0; begin < groups_.size();) {
      const auto barrier = std::find_if(groups_.begin() + static_cast<ptrdiff_t>(begin), groups_.end(),
                                        [](const SourceGroup& group) { return group.is_barrier; });
      const auto end = static_cast<size_t>(barrier - groups_.begin());
      place_all(begin, end);
      if (barrier != groups_.end()) place(end);
      begin = end + 1;
    }
    return std::move(order_);
  }

 private:
  void add(const BoundSource& source) {
    SlotSet reads = none_;
    if (source.expression != nullptr) add_slots_read(*source.expression, reads);
    if (source.query != nullptr)
      for (const SlotNumber slot : source.query->outer_slots) reads.add(slot);
    reads.keep(all_);
    const bool is_barrier = source.join == JoinKind::left_on;
    const bool is_collection = source.kind == BoundSourceKind::collection && !is_barrier;
    const bool stays_with_last = source.expression != nullptr && !is_barrier && !groups_.empty() &&
                                 groups_.back().is_collection && reads.is_subset_of(groups_.back().slots);
    if (!stays_with_last) groups_.push_back({{}, none_, reads, is_collection, is_barrier, 0, {}});
    groups_.back().sources.push_back(&source);
    groups_.back().slots.add(source.slot);
    group_of_[source.slot] = groups_.size() - 1;
  }

  void add_edges(const BoundExpression& condition) {
    if (condition.kind != BoundKind::binary || condition.binary_operator != BinaryOperator::equal) return;
    const BoundExpression& a = *condition.operands[0];
    const BoundExpression& b = *condition.operands[1];
    if (is_volatile(a) || is_volatile(b)) return;
    SlotSet a_reads = none_, b_reads = none_;
    add_slots_read(a, a_reads);
    add_slots_read(b, b_reads);
    add_edge(a_reads, b_reads);
    add_edge(b_reads, a_reads);
  }

  void add_edge(SlotSet here, SlotSet partners) {
    here.keep(all_);
    partners.keep(known_);
    const auto slot = here.first();
    if (!slot) return;
    SourceGroup& group = groups_[group_of_[*slot]];
    if (!group.is_collection || !here.is_subset_of(group.slots)) return;
    if (!partners.first() || partners.intersects(group.slots)) return;
    Edge edge{group_of_[*slot], partners, 0};
    for (SourceGroup& partner : groups_) {
      if (!partner.slots.intersects(partners)) continue;
      partner.edges.push_back(edges_.size());
      ++edge.missing;
    }
    if (edge.missing == 0) ++group.connections;  // to the row around
    edges_.push_back(std::move(edge));
  }

  void place_all(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) left_.push_back(i);
    while (!left_.empty()) {
      const size_t next = order_.empty() ? first_group() : next_group();
      std::erase(left_, next);
      place(next);
    }
  }

  void place(size_t number) {
    SourceGroup& group = groups_[number];
    unplaced_.remove(group.slots);
    order_.insert(order_.end(), group.sources.begin(), group.sources.end());
    for (const size_t edge : group.edges)
      if (--edges_[edge].missing == 0) ++groups_[edges_[edge].group].connections;
  }

  size_t first_group() const {
    const auto is_connected = [this](size_t i) { return groups_[i].connections > 0; };
    if (!groups_[left_.front()].is_collection) return left_.front();
    const auto connected = std::ranges::find_if(left_, is_connected);
    return connected != left_.end() ? *connected : left_.front();
  }

  // The first in the written order that has all it reads; but where that is a cross product, one that is
  // none, or whose values keep a later one from being one, goes before it. Statistics would choose here,
  // among those that are connected.
  size_t next_group() const {
    const auto first = std::ranges::find_if(left_, [&](size_t i) { return has_what_it_reads(groups_[i]); });
    if (first == left_.end()) return left_.front();
    if (!groups_[*first].is_collection || groups_[*first].connections > 0) return *first;
    SlotSet missing = unplaced_;
    std::optional<size_t> source;
    for (const size_t i : left_) {
      const SourceGroup& group = groups_[i];
      if (group.connections > 0) return i;
      if (group.is_collection || !has_what_it_reads(group)) continue;
      missing.remove(group.slots);
      if (!source) source = i;
    }
    const bool helps =
        source && std::ranges::any_of(edges_, [&](const Edge& edge) {
          return groups_[edge.group].slots.intersects(missing) && !edge.partners.intersects(missing);
        });
    return helps ? *source : *first;
  }

  bool has_what_it_reads(const SourceGroup& group) const { return !group.reads.intersects(unplaced_); }

  SlotSet none_;
  SlotSet all_;    // of this FROM
  SlotSet known_;  // and of the rows around
  std::vector<SourceGroup> groups_;
  std::vector<size_t> group_of_;  // by slot
  std::vector<Edge> edges_;
  SlotSet unplaced_;
  std::vector<size_t> left_;  // groups before the next barrier that are not placed, as written
  std::vector<const BoundSource*> order_;
};

}  // namespace

std::vector<const BoundSource*> find_join_order(const BoundQuery& query,
                                                std::span<const BoundExpression* const> conditions,
                                                SlotNumber slot_count) {
  if (query.sources.size() >= least_to_reorder(query)) return JoinOrder(query, conditions, slot_count).find();
  std::vector<const BoundSource*> as_written;
  for (const BoundSource& source : query.sources) as_written.push_back(&source);
  return as_written;
}

}  // namespace quire::sql
