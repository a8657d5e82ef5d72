#include "engine/advisor/workload.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sql/parse/shape.h"

namespace quire::engine {
namespace {

// What is kept of a statement, however long it is.
constexpr size_t kMostReadProperties = 64;
constexpr size_t kLongestAdvice = 1000;

// Collects what the expressions of a statement read of the items of each container.
class ReadCollector {
 public:
  explicit ReadCollector(const sql::Plan& plan) : plan_(plan) {}

  void query(const sql::BoundQuery& query) {
    for (const sql::BoundSource& source : query.sources) {
      expression(source.expression);
      expression(source.on);
    }
    for (const sql::BoundExpression* each : {query.where, query.having, query.value}) expression(each);
    for (const sql::BoundExpression* key : query.group_by) expression(key);
    for (const sql::BoundAggregate& aggregate : query.aggregates) expression(aggregate.argument);
    for (const sql::BoundOrderItem& item : query.order_by) expression(item.expression);
    if (query.next != nullptr) this->query(*query.next);
  }
  // By container.
  std::map<std::string, ContainerUse, std::less<>> take() { return std::move(uses_); }

 private:
  void expression(const sql::BoundExpression* node) {
    if (node == nullptr) return;
    const bool is_item = node->slot < plan_.item_slots.size() && !plan_.item_slots[node->slot].empty();
    if (is_item && node->kind == sql::BoundKind::slot)
      uses_[plan_.item_slots[node->slot]].reads_whole_items = true;
    if (is_item && node->kind == sql::BoundKind::path && !node->steps[0].is_index()) {
      std::vector<std::string>& read = uses_[plan_.item_slots[node->slot]].properties;
      const bool is_new = std::ranges::find(read, node->steps[0].name) == read.end();
      if (is_new && read.size() < kMostReadProperties) read.emplace_back(shortened(node->steps[0].name));
    }
    for (const sql::BoundExpression* operand : node->operands) expression(operand);
    for (const sql::BoundEntry& entry : node->entries) expression(entry.value);
  }

  const sql::Plan& plan_;
  std::map<std::string, ContainerUse, std::less<>> uses_;
};

void note_scan(const sql::PlanNode& scan, const sql::PlannedQuery& query,
               std::map<std::string, ContainerUse, std::less<>>& uses) {
  using Kind = sql::Access::Kind;
  ContainerUse& use = uses[scan.source->collection_name];
  const Kind kind = scan.access.kind;
  const bool is_keyed =
      kind == Kind::partition || kind == Kind::point || kind == Kind::partitions || kind == Kind::points;
  use.names_partition_key |= is_keyed || !scan.access.partition_key.empty();
  use.has_conditions |= query.bound != nullptr && query.bound->where != nullptr;
}

void note_scans(const sql::PlannedQuery& query, std::map<std::string, ContainerUse, std::less<>>& uses) {
  for (const sql::PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
    if (node->kind == sql::PlanKind::scan) note_scan(*node, query, uses);
    if (node->right != nullptr) note_scans(*node->right, uses);
    if (node->other != nullptr) note_scans(*node->other, uses);
  }
}

}  // namespace

QueryFacts facts_of(const sql::Plan& plan) {
  QueryFacts facts{.text = sql::shape_of(plan.statement->parsed->text),
                   .uses = {},
                   .index_advice = plan.advice.size() <= kLongestAdvice ? plan.advice : std::string(),
                   .index_weight = plan.advice_weight};
  ReadCollector reads(plan);
  if (!plan.statement->change) reads.query(plan.statement->query);
  for (const auto& subquery : plan.statement->subqueries) reads.query(*subquery);
  auto uses = reads.take();
  note_scans(plan.query, uses);
  for (const auto& [bound, subquery] : plan.subqueries) note_scans(*subquery, uses);
  for (auto& [container, use] : uses) {
    use.container = container;
    facts.uses.push_back(std::move(use));
  }
  return facts;
}

std::shared_ptr<Workload::Entry> Workload::enter(QueryFacts facts) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(facts.text);
  if (found != entries_.end()) {
    found->second->facts_ = std::move(facts);
    return found->second;
  }
  if (entries_.size() == kMostShapes) {
    const auto rarest =
        std::ranges::min_element(entries_, {}, [](const auto& row) { return row.second->runs_.load(); });
    rarest->second->is_known_ = false;
    entries_.erase(rarest);
  }
  auto made = std::make_shared<Entry>();
  made->facts_ = std::move(facts);
  return entries_.emplace(made->facts_.text, made).first->second;
}

size_t Workload::place_of(std::string_view text) noexcept {
  return std::hash<std::string_view>()(text) % kRecent;
}

std::shared_ptr<Workload::Entry> Workload::recall(std::string_view text, uint64_t basis) const {
  const size_t place = place_of(text);
  const std::lock_guard lock(mutex_);
  const Recent& recent = recent_[place];
  const bool is_it = recent.basis == basis && recent.text == text && recent.entry != nullptr;
  return is_it && recent.entry->is_known_ ? recent.entry : nullptr;
}

void Workload::remember(std::string_view text, uint64_t basis, std::shared_ptr<Entry> entry) {
  if (text.size() > kLongestRecentText) return;
  const size_t place = place_of(text);
  const std::lock_guard lock(mutex_);
  recent_[place] = {std::string(text), basis, std::move(entry)};
}

std::vector<QueryShape> Workload::shapes_of(std::string_view container) const {
  std::vector<QueryShape> shapes;
  const std::lock_guard lock(mutex_);
  for (const auto& [text, entry] : entries_) {
    const bool reads_it = std::ranges::any_of(
        entry->facts_.uses, [&](const ContainerUse& use) { return use.container == container; });
    if (reads_it && entry->runs_ > 0)
      shapes.push_back({entry->facts_, entry->runs_, entry->items_read_, entry->rows_,
                        static_cast<double>(entry->charge_) / Entry::kPerUnit});
  }
  std::ranges::stable_sort(shapes, std::ranges::greater(), &QueryShape::runs);
  return shapes;
}

}  // namespace quire::engine
