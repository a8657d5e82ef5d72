#include "engine/query/query_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace quire::engine {
namespace {

uint64_t hash_of(const QueryCache::Request& request) {
  const uint64_t scope =
      request.scope == nullptr ? UINT64_MAX : static_cast<uint64_t>(request.scope->number());
  const uint64_t seed =
      ((scope * 2 + (request.is_strict ? 1 : 0)) * 2 + (request.is_positioned ? 1 : 0)) * 256 +
      request.size_class;
  return XXH3_64bits_withSeed(request.sql.data(), request.sql.size(), seed);
}

}  // namespace

std::vector<uint64_t> item_counts(const SnapshotSource::Lookups& basis, sql::Source& source) {
  std::vector<uint64_t> counts;
  counts.reserve(basis.size());
  for (const auto& [name, lookup] : basis) {
    const sql::Collection* const collection = lookup ? source.collection(name) : nullptr;
    counts.push_back(collection != nullptr ? collection->item_count() : 0);
  }
  return counts;
}

bool are_about_as_many(std::span<const uint64_t> before, std::span<const uint64_t> now) noexcept {
  constexpr uint64_t kFew = 64;
  return std::ranges::equal(
      before, now, [](uint64_t a, uint64_t b) { return std::max(a, b) / 2 <= std::min(a, b) + kFew; });
}

bool QueryCache::is_of(const Key& key, const Request& request) noexcept {
  const bool has_scope = request.scope != nullptr;
  return key.scope.has_value() == has_scope && (!has_scope || *key.scope == request.scope->number()) &&
         key.is_strict == request.is_strict && key.is_positioned == request.is_positioned &&
         key.size_class == request.size_class && key.sql == request.sql;
}

bool QueryCache::holds(const Entry& entry, SnapshotSource& base, sql::Source& source) {
  return base.agrees_with(entry.basis) && entry.query->holds(source) &&
         are_about_as_many(entry.item_counts, item_counts(entry.basis, source));
}

std::shared_ptr<const QueryCache::Entry> QueryCache::find(const Request& request, uint64_t hash) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      places_, [&](const Place& place) { return place.hash == hash && is_of(place.entry->key, request); });
  if (found == places_.end()) return nullptr;
  std::rotate(places_.begin(), found, found + 1);
  return places_.front().entry;
}

void QueryCache::erase(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  std::erase_if(places_, [&](const Place& place) { return place.entry.get() == &entry; });
}

bool QueryCache::is_asked_again(uint64_t hash) {
  const std::lock_guard lock(mutex_);
  return std::exchange(asked_[hash % asked_.size()], hash) == hash;
}

void QueryCache::keep(uint64_t hash, Entry entry) {
  Place place{hash, std::make_shared<const Entry>(std::move(entry))};
  const std::lock_guard lock(mutex_);
  if (places_.size() == kMost) places_.pop_back();
  places_.insert(places_.begin(), std::move(place));
}

Result<std::shared_ptr<const sql::PreparedQuery>> QueryCache::prepare(const Request& request,
                                                                      SnapshotSource& base,
                                                                      sql::Source& source) {
  const uint64_t hash = hash_of(request);
  if (const auto known = find(request, hash)) {
    if (holds(*known, base, source)) return known->query;
    erase(*known);
  }
  sql::PrepareOptions options{.strict = request.is_strict, .scope = {}, .member_names = request.member_names};
  if (request.scope != nullptr) options.scope = request.scope->definition().name;
  auto prepared = sql::prepare_query(request.sql, source, options);
  // A failure of storage shows as a container that is not there: the cause comes first.
  if (base.error()) return std::unexpected(*base.error());
  if (!prepared) return std::unexpected(std::move(prepared.error()));
  std::shared_ptr<const sql::PreparedQuery> query = std::move(*prepared);
  const sql::StatementKind kind = query->statement().kind;
  const bool may_be_kept = (kind == sql::StatementKind::query || kind == sql::StatementKind::change) &&
                           request.sql.size() <= kMostBytes && query->member_parameters().empty();
  if (!may_be_kept || !is_asked_again(hash)) return query;
  SnapshotSource::Lookups basis = base.lookups();
  std::vector<uint64_t> counts = item_counts(basis, source);
  keep(hash,
       {.key = {.sql = std::string(request.sql),
                .scope = request.scope != nullptr ? std::optional(request.scope->number()) : std::nullopt,
                .is_strict = request.is_strict,
                .is_positioned = request.is_positioned,
                .size_class = request.size_class},
        .basis = std::move(basis),
        .item_counts = std::move(counts),
        .query = query});
  return query;
}

}  // namespace quire::engine
