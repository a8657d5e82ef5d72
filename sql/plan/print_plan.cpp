// The plan as a tree of text for EXPLAIN. Expressions appear in the words of the query.
#include <fmt/format.h>

#include <unordered_set>

#include "sql/plan/plan.h"
#include "sql/value/json.h"

namespace quire::sql {
namespace {

class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, std::span<const NodeCounters> counters) : plan_(plan), counters_(counters) {}

  void print_statement() {
    const auto& change = plan_.statement->change;
    if (change) lines_.push_back({0, describe(*change), nullptr});
    print(plan_.query, change ? 1 : 0);
  }

  void print(const PlannedQuery& query, size_t depth) {
    for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
      lines_.push_back({depth, describe(*node), node});
      ++depth;
      print_subqueries_of(*node, depth);
      if (node->other != nullptr) print(*node->other, depth);
      if (node->right != nullptr) print(*node->right, depth);
    }
  }

  std::vector<std::string> take_text() const {
    std::vector<std::string> text;
    for (const Line& line : lines_)
      text.push_back(std::string(2 * line.depth, ' ') + line.text +
                     (line.node != nullptr ? count(*line.node) : ""));
    return text;
  }

  std::string take_json() const {
    std::string json;
    size_t next = 0;
    add_json(next, json);
    if (!plan_.advice.empty()) {
      json.back() = ',';
      json += R"("advice":)";
      write_json_string(plan_.advice, json);
      json += '}';
    }
    return json;
  }

 private:
  // White space of the query's text is folded: a condition stands on one line. What the planner made has the
  // words of its operands.
  std::string words(const BoundExpression* expression) const {
    if (expression == nullptr) return "";
    const std::string_view text = plan_.statement->parsed->text;
    const Span span = expression->span;
    if (span.offset >= text.size()) return "";
    constexpr size_t kLongestWords = 200;
    if (span.length == 0 && expression->kind == BoundKind::logical_and)
      return shortened(conjunction(expression->operands), kLongestWords);
    if (span.length == 0 && expression->kind == BoundKind::logical_or)
      return shortened("(" + list(expression->operands, " OR ") + ")", kLongestWords);
    std::string folded;
    for (char c : text.substr(span.offset, span.length)) {
      const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
      if (!is_space) folded += c;
      if (is_space && !folded.empty() && folded.back() != ' ') folded += ' ';
    }
    return shortened(folded, kLongestWords);
  }

  template <typename Range>
  std::string list(const Range& expressions, std::string_view separator) const {
    std::string text;
    for (const BoundExpression* expression : expressions)
      text += (text.empty() ? "" : std::string(separator)) + words(expression);
    return text;
  }

  // The halves of a BETWEEN, which stand behind each other, have the words of all of it.
  template <typename Range>
  std::string conjunction(const Range& conditions) const {
    std::vector<const BoundExpression*> told;
    for (const BoundExpression* condition : conditions) {
      const Span span = condition->span;
      const bool is_told = span.length > 0 && !told.empty() && told.back()->span.offset == span.offset &&
                           told.back()->span.length == span.length;
      if (!is_told) told.push_back(condition);
    }
    return list(told, " AND ");
  }

  std::string describe_scan(const PlanNode& node) const {
    const std::string& name = node.source->collection_name;
    switch (node.access.kind) {
      case Access::Kind::scan:
        return fmt::format("{} of container {}{}", node.only_counts ? "count of the items" : "scan", name,
                           describe_ids(node.access));
      case Access::Kind::partition:
        return fmt::format("partition scan of container {} (partition key = {}){}", name,
                           list(node.access.partition_key, ", "), describe_ids(node.access));
      case Access::Kind::point:
        if (node.access.partition_key.empty())
          return fmt::format("point read of container {} (id = {})", name, words(node.access.id));
        return fmt::format("point read of container {} (partition key = {}, id = {})", name,
                           list(node.access.partition_key, ", "), words(node.access.id));
      case Access::Kind::partitions:
        return fmt::format("scan of several partitions of container {} ({})", name, keys_of(node.access));
      case Access::Kind::points:
        return fmt::format("point reads of container {} ({})", name, keys_of(node.access));
      case Access::Kind::index:
      case Access::Kind::any_index:
      case Access::Kind::all_index:
        return describe_index_scan(node);
    }
    return {};
  }

  std::string describe_ids(const AccessPath& access) const {
    std::string text;
    for (const IndexBound& bound : access.id_bounds)
      text += fmt::format("{}{}", text.empty() ? ", ids within " : " and ", words(bound.condition));
    if (access.is_ordered) text += access.is_reverse ? ", by id backwards" : ", by id";
    return text;
  }

  // How many of each component, and of the id.
  std::string keys_of(const AccessPath& access) const {
    if (access.asked_components > 0) return "keys of the join";
    if (access.arm_key_size > 0) return fmt::format("{} keys", access.arm_keys.size() / access.arm_key_size);
    std::string text;
    for (const KeyChoices& choices : access.choices) {
      if (choices.same_as) continue;
      const auto count = choices.count();
      text += fmt::format("{}{}", text.empty() ? "" : " x ",
                          count ? fmt::format("{}", *count) : "each of " + words(choices.values[0]));
    }
    return text + (text == "1" ? " key" : " keys");
  }

  std::string describe_index_scan(const PlanNode& node) const {
    const AccessPath& access = node.access;
    std::string text =
        fmt::format("{} of container {}", access.is_covering ? "index-only scan" : "index scan",
                    node.source->collection_name);
    for (const PlannedProbe& probe : access.probes) {
      const bool is_first = &probe == &access.probes.front();
      text += is_first ? " by " : access.kind == Access::Kind::all_index ? " and by " : " or by ";
      text += probe.index.name;
      if (access.is_reverse) text += " backwards";
      const std::string bounds = describe_bounds(probe);
      if (!bounds.empty()) text += fmt::format(" ({})", bounds);
    }
    if (!access.partition_key.empty())
      text += fmt::format(" within the partition (partition key = {})", list(access.partition_key, ", "));
    if (access.takes_join_keys) text += ", what has a key of the join";
    if (access.is_ordered) text += ", in order";
    if (access.first_of_equal) text += ", an item of each value";
    if (access.only_ends) text += ", first and last";
    if (access.estimated_rows >= 0) text += fmt::format(", about {:.0f} entries", access.estimated_rows);
    return text;
  }

  std::string describe_bounds(const PlannedProbe& probe) const {
    std::vector<const BoundExpression*> conditions;
    for (const std::vector<IndexBound>& bounds : probe.parts)
      for (const IndexBound& bound : bounds)
        if (bound.condition != nullptr && std::ranges::find(conditions, bound.condition) == conditions.end())
          conditions.push_back(bound.condition);
    return conjunction(conditions);
  }

  std::string describe(const PlanNode& node) const {
    switch (node.kind) {
      case PlanKind::one_row:
        return "one row";
      case PlanKind::scan:
        return describe_scan(node);
      case PlanKind::expression:
        return fmt::format("value of {} as {}", words(node.source->expression), node.source->alias);
      case PlanKind::elements:
        return fmt::format("elements of {} as {}", words(node.source->expression), node.source->alias);
      case PlanKind::subquery:
        return fmt::format("{}rows of a subquery as {}", node.keeps_unmatched ? "left join with " : "",
                           node.source->alias);
      case PlanKind::join:
        return describe_join(node);
      case PlanKind::filter:
        return fmt::format("{}{}{}", node.conditions.empty() ? "first rows of each range" : "filter ",
                           conjunction(node.conditions),
                           node.may_fan_out ? " (shared out among threads, PRAGMA threads)" : "");
      case PlanKind::by_key:
        return fmt::format("rows by key {}", conjunction(node.conditions));
      case PlanKind::group:
        return describe_group(node);
      case PlanKind::sort:
        return describe_sort(node);
      case PlanKind::project:
        return fmt::format("value {}", describe_value(*node.bound));
      case PlanKind::distinct:
        return "distinct";
      case PlanKind::limit:
        return describe_limit(node);
      case PlanKind::append:
        return "append";
    }
    return {};
  }

  // SELECT * gives its source's rows, which have no words of their own.
  std::string describe_value(const BoundQuery& query) const {
    std::string text = words(query.value);
    for (const BoundSource& source : query.sources)
      if (text.empty() && query.value->kind == BoundKind::slot && source.slot == query.value->slot)
        text = source.alias;
    return text;
  }

  static std::string describe(const BoundChange& change) {
    switch (change.kind) {
      case ChangeKind::insert:
        return fmt::format("insert into container {}", change.collection_name);
      case ChangeKind::upsert:
        return fmt::format("insert into container {}, or take the place of", change.collection_name);
      case ChangeKind::replace:
        return fmt::format("replace in container {}", change.collection_name);
      case ChangeKind::update:
        return fmt::format("update container {}", change.collection_name);
      case ChangeKind::patch:
        return fmt::format("patch container {}", change.collection_name);
      case ChangeKind::remove:
        return fmt::format("delete from container {}", change.collection_name);
    }
    return {};
  }

  std::string describe_join(const PlanNode& node) const {
    std::string keys;
    for (size_t i = 0; i < node.left_keys.size(); ++i)
      keys += fmt::format("{}{} = {}", i == 0 ? " on " : " AND ", words(node.left_keys[i]),
                          words(node.right_keys[i]));
    const bool is_lookup = node.is_lookup || node.is_by_row;
    const std::string_view kind = is_lookup ? "lookup" : keys.empty() ? "cross" : "hash";
    std::string text = fmt::format("{}{} join{}{}", node.keeps_unmatched ? "left " : "", kind, keys,
                                   node.is_by_row ? ", row by row" : "");
    if (!node.conditions.empty()) text += " where " + conjunction(node.conditions);
    return text;
  }

  std::string describe_group(const PlanNode& node) const {
    if (node.bound->group_by.empty()) return fmt::format("aggregate ({})", node.bound->aggregates.size());
    return fmt::format("group by {} (aggregates: {})", list(node.bound->group_by, ", "),
                       node.bound->aggregates.size());
  }

  std::string describe_sort(const PlanNode& node) const {
    const std::optional<BoundFusion>& fusion = node.bound->fusion;
    std::string keys, ordered;
    for (const BoundOrderItem& item : node.bound->order_by) {
      if (&item == node.bound->order_by.data() + node.ordered_keys) ordered = keys;
      keys += fmt::format("{}{}", keys.empty() ? "" : ", ", words(item.expression));
      if (!fusion) keys += item.is_score ? best_or_worst(item.descending) : item.descending ? " DESC" : "";
    }
    if (fusion) return fmt::format("sort by joined ranks of {}{}", keys, best_or_worst(fusion->descending));
    std::string text = fmt::format("{} by {}", node.top_k ? "top-k sort" : "sort", keys);
    if (node.ordered_keys > 0) text += fmt::format(", of what comes by {}", ordered);
    return text;
  }

  static const char* best_or_worst(bool descending) {
    return descending ? " (best first)" : " (worst first)";
  }

  std::string describe_limit(const PlanNode& node) const {
    if (node.bound->top != nullptr) return fmt::format("top {}", words(node.bound->top));
    return fmt::format("offset {} limit {}", words(node.bound->offset), words(node.bound->limit));
  }

  std::string count(const PlanNode& node) const {
    if (node.number >= counters_.size()) return "";
    const NodeCounters& counters = counters_[node.number];
    const double milliseconds = static_cast<double>(counters.nanoseconds) / 1e6;
    if (node.kind != PlanKind::scan)
      return fmt::format("  [rows {}, {:.2f} ms]", counters.rows, milliseconds);
    const std::string entries =
        counters.entries_read > 0 ? fmt::format("entries read {}, ", counters.entries_read) : "";
    return fmt::format("  [{}items read {}, rows {}, {:.2f} ms]", entries, counters.items_read, counters.rows,
                       milliseconds);
  }

  // The line at `next` as an object, with those below it as its inputs.
  void add_json(size_t& next, std::string& json) const {
    const Line& line = lines_[next++];
    json += R"({"operation":)";
    write_json_string(line.text, json);
    if (line.node != nullptr && line.node->number < counters_.size()) {
      const NodeCounters& counters = counters_[line.node->number];
      json += fmt::format(R"(,"rows":{},"itemsRead":{},"entriesRead":{},"milliseconds":{:.3f})",
                          counters.rows, counters.items_read, counters.entries_read,
                          static_cast<double>(counters.nanoseconds) / 1e6);
    }
    if (line.node != nullptr && line.node->estimated_rows >= 0)
      json += fmt::format(R"(,"estimatedRows":{:.0f})", line.node->estimated_rows);
    json += R"(,"inputs":[)";
    for (bool is_first = true; next < lines_.size() && lines_[next].depth > line.depth; is_first = false) {
      if (!is_first) json += ',';
      add_json(next, json);
    }
    json += "]}";
  }

  void print_subquery(const BoundQuery* bound, size_t depth, bool may_keep_result = false) {
    const auto found = plan_.subqueries.find(bound);
    if (found == plan_.subqueries.end() || !printed_.insert(bound).second) return;
    const PlannedQuery& query = *found->second;
    const bool keeps_result = may_keep_result && !query.outer_paths.empty();
    lines_.push_back(
        {depth, keeps_result ? "subquery, kept by " + list(query.outer_paths, ", ") : "subquery", nullptr});
    print(query, depth + 1);
  }

  void print_subqueries(const BoundExpression* expression, size_t depth) {
    if (expression == nullptr) return;
    if (expression->query != nullptr) print_subquery(expression->query, depth, true);
    for (const BoundExpression* operand : expression->operands)
      if (operand->query == nullptr || operand->query != expression->query) print_subqueries(operand, depth);
    for (const BoundEntry& entry : expression->entries) print_subqueries(entry.value, depth);
  }

  template <typename Range>
  void print_subqueries_of(const Range& expressions, size_t depth) {
    for (const BoundExpression* expression : expressions) print_subqueries(expression, depth);
  }

  // Of what leads to the items, which may stand in no condition any more.
  void print_subqueries_of(const AccessPath& access, size_t depth) {
    print_subqueries_of(access.partition_key, depth);
    print_subqueries(access.id, depth);
    for (const KeyChoices& choices : access.choices) print_subqueries_of(choices.values, depth);
    print_subqueries_of(access.arm_keys, depth);
    for (const IndexBound& bound : access.id_bounds) print_subqueries_of(bound.operands, depth);
    for (const PlannedProbe& probe : access.probes)
      for (const std::vector<IndexBound>& bounds : probe.parts)
        for (const IndexBound& bound : bounds) print_subqueries_of(bound.operands, depth);
  }

  void print_subqueries_of(const PlanNode& node, size_t depth) {
    if (node.kind == PlanKind::subquery) print_subquery(node.source->query, depth);
    if (node.source != nullptr) print_subqueries(node.source->expression, depth);
    print_subqueries_of(node.conditions, depth);
    print_subqueries_of(node.left_keys, depth);
    print_subqueries_of(node.right_keys, depth);
    print_subqueries_of(node.access, depth);
    if (node.kind == PlanKind::project) print_subqueries(node.bound->value, depth);
    if (node.kind == PlanKind::group) {
      for (const BoundExpression* key : node.bound->group_by) print_subqueries(key, depth);
      for (const BoundAggregate& aggregate : node.bound->aggregates)
        print_subqueries(aggregate.argument, depth);
    }
    if (node.kind == PlanKind::sort)
      for (const BoundOrderItem& item : node.bound->order_by) print_subqueries(item.expression, depth);
  }

  const Plan& plan_;
  std::span<const NodeCounters> counters_;
  struct Line {
    size_t depth;
    std::string text;
    const PlanNode* node;  // null: a heading
  };
  std::vector<Line> lines_;
  std::unordered_set<const BoundQuery*> printed_;  // its subqueries: the counters are those of all its runs
};

}  // namespace

std::vector<std::string> print_plan(const Plan& plan, std::span<const NodeCounters> counters) {
  PlanPrinter printer(plan, counters);
  printer.print_statement();
  return printer.take_text();
}

std::string print_plan_json(const Plan& plan, std::span<const NodeCounters> counters) {
  PlanPrinter printer(plan, counters);
  printer.print_statement();
  return printer.take_json();
}

}  // namespace quire::sql
