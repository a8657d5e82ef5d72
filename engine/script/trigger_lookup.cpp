#include "engine/script/trigger_lookup.h"

#include <fmt/format.h>

#include <algorithm>

namespace quire::engine {
namespace {

// What the write comes to decides: an upsert creates or replaces.
bool is_at(sql::TriggerOperation operation, const TriggeredWrite& write) {
  const bool removes = write.kind == WriteKind::remove;
  switch (operation) {
    case sql::TriggerOperation::all:
      return true;
    case sql::TriggerOperation::create:
      return !removes && !write.exists;
    case sql::TriggerOperation::replace:
    case sql::TriggerOperation::update:
      return !removes && write.exists;
    case sql::TriggerOperation::remove:
      return removes;
  }
  return false;
}

}  // namespace

Result<bool> TriggerLookup::concern(const Transaction& transaction, const ContainerStore& store,
                                    const TriggerRequest& request) {
  if (!request.pre.empty() || !request.post.empty()) return true;
  if (!request.runs_always) return false;
  const uint64_t commit = transaction.number();
  const uint64_t generation = generation_.load(std::memory_order_acquire);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(store.number());
    if (found != known_.end() && found->second.commit == commit && found->second.generation == generation)
      return found->second.has_any;
  }
  QUIRE_ASSIGN(const auto triggers, catalog_.triggers(transaction, store.number()));
  const bool has_any = std::ranges::any_of(triggers, &ScriptDefinition::is_always);
  const std::lock_guard lock(mutex_);
  known_[store.number()] = {commit, generation, has_any};
  return has_any;
}

Result<std::vector<ScriptDefinition>> TriggerLookup::find(const Transaction& transaction,
                                                          const ContainerStore& store,
                                                          const TriggerRequest& request,
                                                          const TriggeredWrite& write,
                                                          sql::TriggerTime time) const {
  QUIRE_ASSIGN(std::vector<ScriptDefinition> triggers, catalog_.triggers(transaction, store.number()));
  const std::string_view name = time == sql::TriggerTime::pre ? request.pre : request.post;
  std::vector<ScriptDefinition> found;
  for (ScriptDefinition& trigger : triggers)
    if (trigger.time == time && trigger.is_always && request.runs_always && trigger.name != name &&
        is_at(trigger.operation, write))
      found.push_back(std::move(trigger));
  if (name.empty()) return found;
  QUIRE_ASSIGN(auto named, catalog_.find(transaction, store.number(), sql::ScriptKind::trigger, name));
  if (!named)
    return std::unexpected(catalog_.not_found(transaction, store.number(), sql::ScriptKind::trigger, name,
                                              store.definition().name));
  if (named->time != time || !is_at(named->operation, write))
    return fail(ErrorCode::invalid_argument,
                fmt::format("trigger '{}' is not for this request: it runs {} another write", name,
                            named->time == sql::TriggerTime::pre ? "before" : "after"));
  found.push_back(std::move(*named));
  return found;
}

void TriggerLookup::forget(WriteTransaction& transaction) {
  generation_.fetch_add(1, std::memory_order_acq_rel);
  transaction.on_rollback([this] { generation_.fetch_add(1, std::memory_order_acq_rel); });
}

}  // namespace quire::engine
