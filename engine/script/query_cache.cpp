#include "engine/script/query_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace quire::engine {

const QueryCache::Entry* QueryCache::find(const Request& request, uint64_t hash) {
  const auto found = std::ranges::find_if(entries_, [&](const std::unique_ptr<Entry>& entry) {
    return entry->hash == hash && entry->sql == request.sql &&
           entry->container == request.container.number() && entry->is_positioned == request.is_positioned;
  });
  if (found == entries_.end()) return nullptr;
  std::rotate(entries_.begin(), found, found + 1);
  return entries_.front().get();
}

Result<std::shared_ptr<const sql::PreparedQuery>> QueryCache::prepare(const Request& request,
                                                                      SnapshotSource& base,
                                                                      sql::Source& source) {
  const uint64_t hash =
      XXH3_64bits_withSeed(request.sql.data(), request.sql.size(),
                           static_cast<uint64_t>(request.container.number()) * 2 + request.is_positioned);
  const Entry* const known = find(request, hash);
  if (known != nullptr && base.agrees_with(known->basis) &&
      sql::index_needs_hold(known->query->plan(), source))
    return known->query;
  if (known != nullptr) entries_.erase(entries_.begin());
  auto prepared = sql::prepare_query(
      request.sql, source,
      {.strict = false, .scope = request.container.definition().name, .member_names = request.member_names});
  // A failure of storage shows as a container that is not there: the cause comes first.
  if (base.error()) return std::unexpected(*base.error());
  if (!prepared) return std::unexpected(std::move(prepared.error()));
  std::shared_ptr<const sql::PreparedQuery> query = std::move(*prepared);
  const bool is_asked_again = std::exchange(asked_[hash % asked_.size()], hash) == hash;
  if (!is_asked_again || request.sql.size() > kMostBytes || !query->member_parameters().empty()) return query;
  if (entries_.size() == kMost) entries_.pop_back();
  entries_.insert(entries_.begin(), std::make_unique<Entry>(Entry{.hash = hash,
                                                                  .sql = std::string(request.sql),
                                                                  .container = request.container.number(),
                                                                  .is_positioned = request.is_positioned,
                                                                  .basis = base.lookups(),
                                                                  .query = query}));
  return query;
}

}  // namespace quire::engine
