// The names that a query's expressions may use: the aliases of its FROM, then those of the queries around it.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "sql/bind/bound.h"
#include "sql/error.h"

namespace quire::sql {

// What an alias stands for.
struct ScopeEntry {
  std::string_view name;
  SlotNumber slot;
  bool is_item;  // the items of a container: system properties are read apart
  bool is_let = false;
  bool in_aggregate = false;    // LET within an aggregate's argument
  bool is_of_subquery = false;  // items that one gives: without what their container computes
};

class Scope {
 public:
  Scope(Scope* outer, BoundQuery& query) : outer_(outer), query_(query) {}

  void add(const ScopeEntry& entry) { entries_.push_back(entry); }
  void remove_last() { entries_.pop_back(); }

  struct Found {
    const ScopeEntry* entry;
    Scope* scope;  // whose alias it is
  };
  // The innermost alias of that name. Each query between here and there learns that it reads an outer slot.
  Found find(std::string_view name);
  bool has_own(std::string_view name) const;
  void offer_names(NearestName& nearest) const;
  // The aliases, those of the innermost query first.
  std::vector<std::string_view> names() const;

  Scope* outer() const { return outer_; }
  BoundQuery& query() { return query_; }
  const std::vector<ScopeEntry>& entries() const { return entries_; }

  // What is bound now is no source any more.
  bool is_behind_from = false;
  // While an aggregate's argument is bound; aggregates may not nest.
  bool in_aggregate = false;
  // Whether an aggregate may stand here: not in WHERE, ON or GROUP BY.
  bool aggregates_allowed = false;
  // After grouping: only group keys, aggregates and constants have values.
  bool is_after_grouping = false;
  // The select list, whose aliases are no names of the query's expressions: for the error that says so.
  std::span<const SelectItem> select_items;
  // In HAVING: the aliases of the select list, each bound once where it is used.
  struct SelectAlias {
    const Expression* expression;
    BoundExpression* value = nullptr;
    BoundExpression* use = nullptr;
  };
  using SelectAliases = std::unordered_map<std::string_view, SelectAlias>;
  SelectAliases* select_aliases = nullptr;
  // The keys of GROUP BY as written, while is_after_grouping.
  std::span<Expression* const> group_keys;

 private:
  Scope* outer_;
  BoundQuery& query_;
  std::vector<ScopeEntry> entries_;
};

}  // namespace quire::sql
