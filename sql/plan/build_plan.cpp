// From a bound query to the plan as it is written: sources from left to right, WHERE, GROUP BY, HAVING, ORDER
// BY, the value, DISTINCT, TOP and OFFSET LIMIT.
#include <algorithm>

#include "sql/plan/conjuncts.h"
#include "sql/plan/estimate_rows.h"
#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

class PlanBuilder {
 public:
  explicit PlanBuilder(Plan& plan) : plan_(plan) {}

  Result<void> plan_query(const BoundQuery& bound, PlannedQuery& planned) {
    QUIRE_TRY(plan_alone(bound, planned));
    return plan_unions(bound, planned);
  }

 private:
  // Without the queries that follow it after UNION.
  Result<void> plan_alone(const BoundQuery& bound, PlannedQuery& planned) {
    planned.bound = &bound;
    planned.value_slot = take_slots(1);
    planned.first_group_key_slot = take_slots(bound.group_by.size());
    planned.first_aggregate_slot = take_slots(bound.aggregates.size());
    QUIRE_TRY(plan_sources(bound, planned));
    return plan_clauses(bound, planned);
  }

  SlotNumber take_slots(size_t count) {
    const SlotNumber first = plan_.slot_count;
    plan_.slot_count += static_cast<SlotNumber>(count);
    plan_.item_slots.resize(plan_.slot_count);
    return first;
  }

  PlanNode& push(PlannedQuery& planned, PlanKind kind) {
    auto node = std::make_unique<PlanNode>();
    node->kind = kind;
    node->number = plan_.node_count++;
    node->bound = planned.bound;
    node->input = std::move(planned.root);
    planned.root = std::move(node);
    return *planned.root;
  }

  // What an inner join demands is demanded of the row, so it stands with WHERE.
  Result<void> plan_sources(const BoundQuery& bound, PlannedQuery& planned) {
    std::vector<const BoundExpression*> conditions;
    for (const BoundSource& source : bound.sources)
      if (source.join == JoinKind::inner_on && source.on != nullptr) add_conjuncts(*source.on, conditions);
    if (bound.where != nullptr) add_conjuncts(*bound.where, conditions);
    add_implied(bound, nullptr, conditions);
    const bool starts_with_items =
        !bound.sources.empty() && bound.sources.front().kind == BoundSourceKind::collection;
    if (!starts_with_items) push(planned, PlanKind::one_row);
    const auto order = find_join_order(bound, conditions, plan_.statement->slot_count);
    for (size_t i = 0; i < order.size(); ++i) {
      plan_.has_new_join_order |= order[i] != &bound.sources[i];
      QUIRE_TRY(plan_source(*order[i], planned));
    }
    return plan_filter(std::move(conditions), planned);
  }

  Result<void> plan_source(const BoundSource& source, PlannedQuery& planned) {
    if (source.expression != nullptr) QUIRE_TRY(plan_subqueries(*source.expression));
    switch (source.kind) {
      case BoundSourceKind::collection:
        plan_.item_slots[source.slot] = source.collection_name;
        if (planned.root != nullptr) return plan_join(source, planned);
        push(planned, PlanKind::scan).source = &source;
        return {};
      case BoundSourceKind::expression:
        push(side_read_by(source, planned), PlanKind::expression).source = &source;
        return {};
      case BoundSourceKind::elements:
        push(side_read_by(source, planned), PlanKind::elements).source = &source;
        return {};
      case BoundSourceKind::query: {
        if (ignores_order(*planned.bound)) drop_order(*source.query);
        QUIRE_ASSIGN(const PlannedQuery* query, plan_subquery(*source.query));
        if (runs_once(source, planned)) return plan_join(source, planned, query);
        PlanNode& node = push(planned, PlanKind::subquery);
        node.source = &source;
        node.query = query;
        node.keeps_unmatched = source.join == JoinKind::left_on;
        return {};
      }
    }
    return {};
  }

  // Whether a subquery gives the same rows for each row before it, so that they are kept rather than made
  // anew.
  static bool runs_once(const BoundSource& source, const PlannedQuery& planned) {
    if (planned.root->kind == PlanKind::one_row || source.query->is_volatile) return false;
    return std::ranges::none_of(source.query->outer_slots, [&](SlotNumber slot) {
      return std::ranges::find(planned.bound->sources, slot, &BoundSource::slot) !=
             planned.bound->sources.end();
    });
  }

  // The right side are the items of a container, or the rows of `query`.
  Result<void> plan_join(const BoundSource& source, PlannedQuery& planned,
                         const PlannedQuery* query = nullptr) {
    PlanNode& join = push(planned, PlanKind::join);
    join.right = std::make_unique<PlannedQuery>();
    join.right->bound = planned.bound;
    if (query != nullptr) push(*join.right, PlanKind::one_row);
    PlanNode& rows = push(*join.right, query != nullptr ? PlanKind::subquery : PlanKind::scan);
    rows.source = &source;
    rows.query = query;
    if (source.join != JoinKind::left_on) return {};
    join.keeps_unmatched = true;
    add_conjuncts(*source.on, join.conditions);
    add_implied(*planned.bound, &source, join.conditions);
    return plan_subqueries(*source.on);
  }

  // JOIN x IN c2.arr, where c2 is the right side of a join: its elements belong to that side, so that their
  // properties can be keys.
  PlannedQuery& side_read_by(const BoundSource& source, PlannedQuery& planned) {
    if (planned.root->kind != PlanKind::join || planned.root->keeps_unmatched) return planned;
    PlannedQuery& right = *planned.root->right;
    for (const PlanNode* node = right.root.get(); node != nullptr; node = node->input.get())
      if (node->source != nullptr && node->source->slot == source.expression->slot) return right;
    return planned;
  }

  Result<void> plan_filter(std::vector<const BoundExpression*> conditions, PlannedQuery& planned) {
    if (conditions.empty()) return {};
    for (const BoundExpression* condition : conditions) QUIRE_TRY(plan_subqueries(*condition));
    push(planned, PlanKind::filter).conditions = std::move(conditions);
    return {};
  }

  void add_implied(const BoundQuery& bound, const BoundSource* joined,
                   std::vector<const BoundExpression*>& conditions) {
    const BoundStatement& statement = *plan_.statement;
    add_implied_conditions(bound, joined, statement.slot_count, *statement.arena, conditions);
  }

  Result<void> plan_clauses(const BoundQuery& bound, PlannedQuery& planned) {
    if (bound.is_grouped) {
      for (const BoundExpression* key : bound.group_by) QUIRE_TRY(plan_subqueries(*key));
      for (const BoundAggregate& aggregate : bound.aggregates)
        if (aggregate.argument != nullptr) QUIRE_TRY(plan_subqueries(*aggregate.argument));
      push(planned, PlanKind::group);
    }
    if (bound.having != nullptr) {
      std::vector<const BoundExpression*> conditions;
      add_conjuncts(*bound.having, conditions);
      QUIRE_TRY(plan_filter(std::move(conditions), planned));
    }
    if (!bound.order_by.empty()) {
      for (const BoundOrderItem& item : bound.order_by) QUIRE_TRY(plan_subqueries(*item.expression));
      push(planned, PlanKind::sort);
    }
    QUIRE_TRY(plan_subqueries(*bound.value));
    push(planned, PlanKind::project);
    if (bound.distinct) push(planned, PlanKind::distinct);
    if (bound.top != nullptr || bound.limit != nullptr) push(planned, PlanKind::limit);
    return {};
  }

  // From left to right: a UNION without ALL drops equal rows of all queries before it.
  Result<void> plan_unions(const BoundQuery& bound, PlannedQuery& planned) {
    for (const BoundQuery* at = &bound; at->set_operation != SetOperation::none; at = at->next.get()) {
      auto other = std::make_unique<PlannedQuery>();
      QUIRE_TRY(plan_alone(*at->next, *other));
      push(planned, PlanKind::append).other = other.get();
      plan_.subqueries[at->next.get()] = std::move(other);
      if (at->set_operation == SetOperation::union_distinct) push(planned, PlanKind::distinct);
    }
    return {};
  }

  // Rows whose order nobody sees are not sorted.
  static void drop_order(BoundQuery& query) {
    if (query.top != nullptr || query.limit != nullptr) return;
    query.order_by.clear();
    query.fusion.reset();
  }

  static bool asks_for_no_order(BoundKind kind) {
    return kind == BoundKind::exists || kind == BoundKind::in_query || kind == BoundKind::all_query;
  }

  Result<const PlannedQuery*> plan_subquery(const BoundQuery& bound) {
    auto& planned = plan_.subqueries[&bound];
    if (planned == nullptr) {
      planned = std::make_unique<PlannedQuery>();
      PlannedQuery& made = *planned;  // the map may move its slots while the subquery is planned
      QUIRE_TRY(plan_query(bound, made));
      return &made;
    }
    return planned.get();
  }

  // The subqueries within an expression; the depth of expressions is bounded by the parser.
  Result<void> plan_subqueries(const BoundExpression& expression) {
    if (asks_for_no_order(expression.kind)) drop_order(*expression.query);
    if (expression.query != nullptr) QUIRE_TRY(plan_subquery(*expression.query));
    for (const BoundExpression* operand : expression.operands) QUIRE_TRY(plan_subqueries(*operand));
    for (const BoundEntry& entry : expression.entries) QUIRE_TRY(plan_subqueries(*entry.value));
    return {};
  }

  Plan& plan_;
};

}  // namespace

Result<std::unique_ptr<Plan>> build_plan(std::unique_ptr<BoundStatement> statement) {
  auto plan = std::make_unique<Plan>();
  plan->statement = std::move(statement);
  plan->slot_count = plan->statement->slot_count;
  plan->item_slots.resize(plan->slot_count);
  const Statement& tree = plan->statement->parsed->statement;
  if (tree.query == nullptr && tree.change == nullptr) return plan;  // there is nothing to plan
  push_below_groups(*plan->statement);
  find_demanded_partners(*plan->statement);
  PlanBuilder builder(*plan);
  QUIRE_TRY(builder.plan_query(plan->statement->query, plan->query));
  if (const auto& change = plan->statement->change; change && change->returning != nullptr) {
    plan->returning = std::make_unique<PlannedQuery>();
    QUIRE_TRY(builder.plan_query(*change->returning, *plan->returning));
  }
  return plan;
}

void optimize(Plan& plan, Source& source) {
  const bool is_explained = plan.statement->parsed->statement.kind == StatementKind::explain;
  const auto apply = [&](PlannedQuery& query) {
    push_down_conditions(plan, query);
    choose_join_keys(plan, query);
    choose_access_path(plan, query, source);
    choose_index(plan, query, source);
    follow_first_of_equal(plan, query, source);
    choose_id_range(plan, query, source);
    join_by_index(plan, query, source);
    join_by_row(plan, query, source);
    read_ends_of_index(plan, query, source);
    cover_by_index(plan, query);
    advise_index(plan, query, source);
    keep_by_key(plan, query);
    find_outer_paths(plan, query);
    limit_sorts(query);
    find_carried_slots(query, plan.slot_count);
    if (is_explained) estimate_rows(query, source);
  };
  if (plan.query.root != nullptr) {
    apply(plan.query);
    fan_out(plan, plan.query, source);
  }
  // The items that were changed are at hand: nothing leads to them but a scan.
  if (plan.returning != nullptr) {
    find_carried_slots(*plan.returning, plan.slot_count);
    if (is_explained) estimate_rows(*plan.returning, source);
  }
  for (auto& [bound, query] : plan.subqueries) apply(*query);
}

}  // namespace quire::sql
