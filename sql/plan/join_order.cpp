// The order in which the sources of FROM are joined. It is the written one, unless a container would meet the
// rows before it without an equality to look its partners up by, while another order has one: for
// `FROM a JOIN b JOIN c WHERE a.x = c.x AND c.y = b.y` it is a, c, b. What a LEFT JOIN or a subquery source
// sees are the rows before it, so the sources from the first of these on stay where they are.
#include <algorithm>
#include <optional>

#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// Sources that stay together: a container with what follows it and reads nothing else (JOIN x IN c.tags,
// whose values may be keys), or a source that reads others.
struct SourceGroup {
  std::vector<const BoundSource*> sources;
  SlotSet slots;
  SlotSet reads;
  bool is_collection;
};

class JoinOrder {
 public:
  JoinOrder(const BoundQuery& query, std::span<const BoundExpression* const> conditions,
            SlotNumber slot_count)
      : conditions_(conditions), none_(slot_count), placed_(slot_count) {
    for (const BoundSource& source : query.sources) {
      if (fixed_.empty() && source.kind != BoundSourceKind::query && source.join != JoinKind::left_on)
        add(source);
      else
        fixed_.push_back(&source);
    }
  }

  std::vector<const BoundSource*> find() {
    std::vector<const BoundSource*> order;
    for (size_t left = groups_.size(); left > 0; --left) {
      const size_t next = order.empty() ? 0 : next_group();
      placed_.add(groups_[next].slots);
      const auto& sources = groups_[next].sources;
      order.insert(order.end(), sources.begin(), sources.end());
      groups_.erase(groups_.begin() + static_cast<ptrdiff_t>(next));
    }
    order.insert(order.end(), fixed_.begin(), fixed_.end());
    return order;
  }

 private:
  void add(const BoundSource& source) {
    SlotSet reads = none_;
    if (source.expression != nullptr) add_slots_read(*source.expression, reads);
    const bool is_collection = source.kind == BoundSourceKind::collection;
    const bool stays_with_last = !is_collection && !groups_.empty() && groups_.back().is_collection &&
                                 reads.is_subset_of(groups_.back().slots);
    if (!stays_with_last) groups_.push_back({{}, none_, reads, is_collection});
    groups_.back().sources.push_back(&source);
    groups_.back().slots.add(source.slot);
  }

  // The first in the written order that has all it reads; but where that is a cross product, one that is
  // none, or whose values keep a later one from being one, goes before it.
  size_t next_group() const {
    size_t first = 0;
    while (first + 1 < groups_.size() && !reads_what_is_placed(groups_[first])) ++first;
    if (!groups_[first].is_collection || is_connected(groups_[first], placed_)) return first;
    SlotSet reachable = placed_;
    std::optional<size_t> source;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].is_collection && is_connected(groups_[i], placed_)) return i;
      if (groups_[i].is_collection || !reads_what_is_placed(groups_[i])) continue;
      reachable.add(groups_[i].slots);
      if (!source) source = i;
    }
    const bool helps = source && std::ranges::any_of(groups_, [&](const SourceGroup& group) {
                         return group.is_collection && is_connected(group, reachable);
                       });
    return helps ? *source : first;
  }

  // Slots of outer queries are there from the start.
  bool reads_what_is_placed(const SourceGroup& group) const {
    return std::ranges::none_of(groups_, [&](const SourceGroup& other) {
      return &other != &group && group.reads.intersects(other.slots);
    });
  }

  // Whether an equality connects a group with what stands in `others`.
  bool is_connected(const SourceGroup& group, const SlotSet& others) const {
    return std::ranges::any_of(conditions_, [&](const BoundExpression* condition) {
      if (condition->kind != BoundKind::binary || condition->binary_operator != BinaryOperator::equal)
        return false;
      const BoundExpression& a = *condition->operands[0];
      const BoundExpression& b = *condition->operands[1];
      return connects(a, b, group, others) || connects(b, a, group, others);
    });
  }

  bool connects(const BoundExpression& here, const BoundExpression& there, const SourceGroup& group,
                const SlotSet& others) const {
    SlotSet here_reads = none_, there_reads = none_;
    add_slots_read(here, here_reads);
    add_slots_read(there, there_reads);
    return here_reads.intersects(group.slots) && here_reads.is_subset_of(group.slots) &&
           there_reads.intersects(others) && there_reads.is_subset_of(others) && !is_volatile(here) &&
           !is_volatile(there);
  }

  std::span<const BoundExpression* const> conditions_;
  SlotSet none_;
  SlotSet placed_;
  std::vector<SourceGroup> groups_;  // not placed yet
  std::vector<const BoundSource*> fixed_;
};

}  // namespace

std::vector<const BoundSource*> find_join_order(const BoundQuery& query,
                                                std::span<const BoundExpression* const> conditions,
                                                SlotNumber slot_count) {
  return JoinOrder(query, conditions, slot_count).find();
}

}  // namespace quire::sql
