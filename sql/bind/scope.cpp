#include "sql/bind/scope.h"

#include <algorithm>

namespace quire::sql {

Scope::Found Scope::find(std::string_view name) {
  for (Scope* scope = this; scope != nullptr; scope = scope->outer_) {
    const auto entry = std::find_if(scope->entries_.rbegin(), scope->entries_.rend(),
                                    [&](const ScopeEntry& candidate) { return candidate.name == name; });
    if (entry == scope->entries_.rend()) continue;
    for (Scope* reader = this; reader != scope; reader = reader->outer_) {
      auto& outer_slots = reader->query_.outer_slots;
      // A query that knows it already has told those around it.
      if (std::find(outer_slots.begin(), outer_slots.end(), entry->slot) != outer_slots.end()) break;
      outer_slots.push_back(entry->slot);
    }
    return {&*entry, scope};
  }
  return {nullptr, nullptr};
}

bool Scope::has_own(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const ScopeEntry& entry) { return entry.name == name; });
}

std::vector<std::string_view> Scope::names() const {
  std::vector<std::string_view> names;
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_)
    for (const ScopeEntry& entry : scope->entries_) names.push_back(entry.name);
  return names;
}

void Scope::offer_names(NearestName& nearest) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_)
    for (const ScopeEntry& entry : scope->entries_) nearest.offer(entry.name);
}

}  // namespace quire::sql
