// ORDER BY and OFFSET LIMIT behind a UNION are those of the whole:
//
//   a UNION b ORDER BY k OFFSET o LIMIT l
//   SELECT VALUE row FROM (a UNION b) row ORDER BY k OFFSET o LIMIT l
//
// The key k is said of the rows that the queries give: an alias of a select list, or an expression just as it
// stands in one, is a property of the row. If the queries differ in that, the first counts.
#include <string>
#include <unordered_map>
#include <vector>

#include "sql/bind/binder.h"

namespace quire::sql {
namespace {

constexpr std::string_view kRow = "row";

const Query& last_of(const Query& first) {
  const Query* last = &first;
  while (last->next != nullptr) last = last->next;
  return *last;
}

// The alias of the only source, whose rows SELECT * gives.
std::string_view name_of_rows(const FromSource& source) {
  if (source.alias) return *source.alias;
  return source.steps.empty() ? source.root : source.steps.back().name;
}

class UnionKeys {
 public:
  explicit UnionKeys(Arena& arena) : arena_(arena), row_(make_identifier(kRow)) {}

  void learn(const Query& query) {
    size_t unnamed = 0;
    if (query.select == SelectKind::star && query.from.size() == 1)
      by_name_.emplace(name_of_rows(query.from[0]), row_);
    for (const SelectItem& item : query.items) {
      const Expression& expression = *item.expression;
      const bool is_name =
          expression.kind == ExpressionKind::identifier || expression.kind == ExpressionKind::member;
      Expression* meant = row_;
      if (query.select == SelectKind::list) {
        const std::string_view name = item.alias ? *item.alias
                                      : is_name  ? expression.text
                                                 : arena_.copy_string("$" + std::to_string(++unnamed));
        meant = make_member(name);
        by_name_.emplace(name, meant);
      } else if (expression.kind == ExpressionKind::identifier) {
        by_name_.emplace(expression.text, row_);
      }
      by_text_.emplace(print_alike(expression), meant);
    }
  }

  // The key, said of the row. Sets `stranger` to a name or an aggregate in it that is none of the union's.
  Expression* said_of_row(const Expression& key, const Expression*& stranger) const {
    const auto found = by_text_.find(print_alike(key));
    if (found != by_text_.end() && key.kind != ExpressionKind::literal) return placed(*found->second, key);
    return substituted(key, stranger);
  }

  Expression* row() const { return row_; }

 private:
  Expression* make_identifier(std::string_view name) {
    auto* made = arena_.make<Expression>();
    made->kind = ExpressionKind::identifier;
    made->text = name;
    return made;
  }
  Expression* make_member(std::string_view name) {
    auto* made = arena_.make<Expression>();
    made->kind = ExpressionKind::member;
    made->text = name;
    made->operands = arena_.copy_array(std::span<Expression* const>(&row_, 1));
    return made;
  }

  // Errors and EXPLAIN speak of what was written.
  Expression* placed(const Expression& meant, const Expression& written) const {
    auto* made = arena_.make<Expression>();
    *made = meant;
    made->span = written.span;
    return made;
  }

  Expression* substituted(const Expression& key, const Expression*& stranger) const {
    if (key.kind == ExpressionKind::identifier) {
      const auto found = by_name_.find(key.text);
      if (found != by_name_.end()) return placed(*found->second, key);
      stranger = &key;
    }
    if (key.kind == ExpressionKind::call && !key.is_udf && find_aggregate(key.text) != nullptr)
      stranger = &key;
    Expression* made = placed(key, key);
    made->operands = arena_.make_array<Expression*>(key.operands.size());
    for (size_t i = 0; i < key.operands.size(); ++i)
      made->operands[i] = substituted(*key.operands[i], stranger);
    made->entries = arena_.copy_array(std::span<const ObjectEntry>(key.entries));
    for (ObjectEntry& entry : made->entries) entry.value = substituted(*entry.value, stranger);
    made->arms = arena_.copy_array(std::span<const CaseArm>(key.arms));
    for (CaseArm& arm : made->arms)
      arm = {substituted(*arm.when, stranger), substituted(*arm.then, stranger)};
    return made;
  }

  Arena& arena_;
  Expression* row_;
  std::unordered_map<std::string_view, Expression*> by_name_;
  std::unordered_map<std::string, Expression*> by_text_;
};

}  // namespace

bool Binder::is_ordered_union(const Query& query) {
  if (query.next == nullptr) return false;
  const Query& last = last_of(query);
  return !last.order_by.empty() || last.limit != nullptr;
}

Result<void> Binder::bind_ordered_union(const Query& query, BoundQuery& bound, Scope* outer) {
  const Query& last = last_of(query);
  if (last.order_by_rank)
    return refuse(ErrorCode::semantic, last.order_by[0].expression->span,
                  "ORDER BY RANK cannot sort a UNION; put the query that it ranks in FROM");
  UnionKeys keys(*statement_.arena);
  std::vector<Query> parts;
  for (const Query* part = &query; part != nullptr; part = part->next) {
    keys.learn(*part);
    parts.push_back(*part);
  }
  parts.back().order_by = {};
  parts.back().offset = parts.back().limit = nullptr;
  for (size_t i = 0; i + 1 < parts.size(); ++i) parts[i].next = &parts[i + 1];

  std::vector<OrderItem> order_by(last.order_by.begin(), last.order_by.end());
  for (OrderItem& item : order_by) {
    const Expression* stranger = nullptr;
    item.expression = keys.said_of_row(*item.expression, stranger);
    if (stranger != nullptr)
      return refuse(ErrorCode::unresolved_name, stranger->span,
                    "ORDER BY after UNION sorts what the queries give: '" + shortened(stranger->text) +
                        "' is no alias of a select list, and no expression just as it stands there");
  }
  FromSource source{};
  source.collection = CollectionKind::query;
  source.query = parts.data();
  source.alias = kRow;
  source.span = query.span;
  SelectItem row{keys.row(), std::nullopt, query.span};
  Query whole{};
  whole.select = SelectKind::value;
  whole.items = {&row, 1};
  whole.has_from = true;
  whole.from = {&source, 1};
  whole.order_by = order_by;
  whole.offset = last.offset;
  whole.limit = last.limit;
  whole.span = query.span;
  return bind_query(whole, bound, outer);
}

}  // namespace quire::sql
