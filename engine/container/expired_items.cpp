// How a container's items expire: what ContainerStore knows about their lifetime, and their removal.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/container/container.h"

namespace quire::engine {

// ---- The lifetime

namespace {

// What a request knows of a container's lifetime, once it has looked: it changes there by set_lifetime()
// alone.
enum class Seen : uint64_t { nothing, that_items_stay, that_it_may_change };

}  // namespace

// A write transaction may see a change that has no commit yet, one of its group: it looks itself. So does a
// snapshot from before the last change.
Result<Lifetime> ContainerStore::lifetime(const Transaction& transaction) const {
  // In this order: who sees a commit counted as known sees its lifetime, or one that is newer.
  const uint64_t refreshed = refreshed_.load(std::memory_order_acquire);
  const Lifetime* const newest = lifetime_.load(std::memory_order_acquire);
  const bool is_known = newest != nullptr && !transaction.is_write() && transaction.number() <= refreshed &&
                        transaction.number() >= newest->since;
  if (is_known) [[likely]]
    return *newest;
  const WriteTransaction* const request = transaction.as_write();
  if (request == nullptr) return read_lifetime(transaction, tables_.statistics);
  uint64_t& seen = request->mark(tables_.statistics);
  if (seen == std::to_underlying(Seen::that_items_stay)) return Lifetime{};
  QUIRE_ASSIGN(const Lifetime found, read_lifetime(transaction, tables_.statistics));
  if (!found.is_on() && seen == std::to_underlying(Seen::nothing))
    seen = std::to_underlying(Seen::that_items_stay);
  return found;
}

// Within refresh(): `transaction` is newer than what is known. One that writes may yet be undone.
Result<void> ContainerStore::refresh_lifetime(const Transaction& transaction, uint64_t commit) {
  QUIRE_ASSIGN(const Lifetime found, read_lifetime(transaction, tables_.statistics));
  const Lifetime* const newest = lifetime_.load(std::memory_order_relaxed);
  if (found.since > commit || (newest != nullptr && *newest == found)) return {};
  lifetime_.store(&lifetimes_.emplace_back(found), std::memory_order_release);
  return {};
}

Result<void> ContainerStore::set_lifetime(WriteTransaction& transaction,
                                          const ContainerDefinition& definition) {
  QUIRE_ASSIGN(Lifetime lifetime, read_lifetime(transaction, tables_.statistics));
  QUIRE_ASSIGN(const int64_t default_ttl, default_ttl_of(definition));
  if (lifetime.default_ttl == default_ttl) return {};
  // What has expired by now stays so.
  QUIRE_TRY(erase_expired(transaction, UINT64_MAX));
  lifetime.default_ttl = default_ttl;
  lifetime.since = transaction.number();
  transaction.mark(tables_.statistics) = std::to_underlying(Seen::that_it_may_change);
  return write_lifetime(transaction, tables_.statistics, lifetime);
}

Result<Lifetime> ContainerStore::lifetime_in_scan(const Transaction& transaction) {
  QUIRE_ASSIGN(const Lifetime lifetime, this->lifetime(transaction));
  if (!lifetime.is_on()) [[likely]]
    return lifetime;
  QUIRE_ASSIGN(const auto index, indexes_.expiry(transaction));
  if (!index || index->is_building) return lifetime;
  QUIRE_ASSIGN(const auto expired, find_expired(transaction, tables_.index, index->number, lifetime));
  return expired ? lifetime : Lifetime{};
}

Result<bool> ContainerStore::has_expired(const Transaction& transaction, Bytes key) const {
  QUIRE_ASSIGN(const Lifetime lifetime, this->lifetime(transaction));
  if (!lifetime.is_on()) return false;
  QUIRE_ASSIGN(const sql::Value root, item_at(transaction, key));
  return root.is_defined() && lifetime.has_ended(header_of(root), transaction.now());
}

Result<ContainerStatistics> ContainerStore::live_statistics(const Transaction& transaction) {
  QUIRE_ASSIGN(ContainerStatistics counted, statistics(transaction));
  QUIRE_ASSIGN(const Lifetime lifetime, this->lifetime(transaction));
  if (!lifetime.is_on()) return counted;
  QUIRE_ASSIGN(const auto index, indexes_.expiry(transaction));
  if (!index || index->is_building) return counted;
  QUIRE_TRY(
      visit_expired(transaction, tables_.index, index->number, lifetime, [&](Bytes key) -> Result<bool> {
        QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(tables_.items, key));
        if (!record || !has_known_layout(*record)) return std::unexpected(damaged(key));
        --counted.items;
        counted.document_bytes -= document_of(*record).size();
        return true;
      }));
  return counted;
}

// ---- Their removal

Result<uint64_t> ContainerStore::erase_expired(WriteTransaction& transaction, uint64_t most) {
  constexpr uint64_t kInOneWalk = 256;
  QUIRE_ASSIGN(const Lifetime lifetime, this->lifetime(transaction));
  QUIRE_ASSIGN(const auto index, indexes_.expiry(transaction));
  if (!lifetime.is_on() || !index) return 0;
  // Of all, whatever writes have seen: from the start, and on from there.
  ExpiryFront front;
  for (uint64_t erased = 0; erased < most;) {
    const uint64_t wanted = std::min(kInOneWalk, most - erased);
    QUIRE_ASSIGN(const auto keys, front.next(transaction, tables_.index, index->number, lifetime, wanted));
    for (const std::string& key : keys) QUIRE_TRY(erase_expired_item(transaction, key));
    erased += keys.size();
    if (keys.size() < wanted) return erased;
  }
  return most;
}

Result<void> ContainerStore::erase_expired_item(WriteTransaction& transaction, Bytes key) {
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(tables_.items, key));
  const sql::Value root = record ? root_of(*record) : sql::Value();
  if (root.is_undefined()) return std::unexpected(damaged(key));
  return erase_stored(transaction, key, {root, *record});
}

// With each write, so that expired items go about as fast as others come. A failure is for who looks at that
// item, not for this write.
Result<void> ContainerStore::erase_some_expired(WriteTransaction& transaction, const Lifetime& lifetime) {
  constexpr uint64_t kWithEachWrite = 2;
  if (!lifetime.is_on()) return {};
  QUIRE_ASSIGN(const auto index, indexes_.expiry(transaction));
  if (!index) return {};
  QUIRE_ASSIGN(const auto keys,
               expired_.next(transaction, tables_.index, index->number, lifetime, kWithEachWrite));
  if (keys.empty()) return {};
  const auto erased = transaction.nested([&](WriteTransaction& nested) -> Result<void> {
    for (const std::string& key : keys) QUIRE_TRY(erase_expired_item(nested, key));
    return {};
  });
  if (!erased && erased.error().code != ErrorCode::corrupt) return erased;
  return {};
}

}  // namespace quire::engine
