#include "sql/run/tuple_table.h"

#include "sql/value/comparison.h"

namespace quire::sql {
namespace {

constexpr size_t kFirstPlaces = 16;

uint64_t hash_of(std::span<const Value> tuple) {
  uint64_t hash = 0x9E3779B97F4A7C15;
  for (const Value& value : tuple) hash = (hash ^ deep_hash(value)) * 0xD6E8FEB86659FD93;
  return hash ^ (hash >> 32);
}

bool equal(std::span<const Value> a, std::span<const Value> b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!deep_equal(a[i], b[i])) return false;
  return true;
}

}  // namespace

size_t TupleTable::probe(std::span<const Value> tuple, uint64_t hash) const {
  const size_t mask = places_.size() - 1;
  size_t place = hash & mask;
  while (places_[place] != 0) {
    const uint32_t number = places_[place] - 1;
    if (hashes_[number] == hash && equal(tuple, {values_.data() + number * arity_, arity_})) break;
    place = (place + 1) & mask;
  }
  return place;
}

TupleTable::Inserted TupleTable::insert(std::span<const Value> tuple) {
  if ((hashes_.size() + 1) * 2 > places_.size()) grow();
  const uint64_t hash = hash_of(tuple);
  const size_t place = probe(tuple, hash);
  if (places_[place] != 0) return {places_[place] - 1, false};
  const auto number = static_cast<uint32_t>(hashes_.size());
  hashes_.push_back(hash);
  values_.append(tuple);
  places_[place] = number + 1;
  return {number, true};
}

std::optional<uint32_t> TupleTable::find(std::span<const Value> tuple) const {
  if (places_.empty()) return std::nullopt;
  const size_t place = probe(tuple, hash_of(tuple));
  if (places_[place] == 0) return std::nullopt;
  return places_[place] - 1;
}

void TupleTable::grow() {
  const size_t size = places_.empty() ? kFirstPlaces : places_.size() * 2;
  if (size > UINT32_MAX) throw MemoryLimitExceeded{};
  places_.assign(size, 0);
  const size_t mask = size - 1;
  for (size_t number = 0; number < hashes_.size(); ++number) {
    size_t place = hashes_[number] & mask;
    while (places_[place] != 0) place = (place + 1) & mask;
    places_[place] = static_cast<uint32_t>(number + 1);
  }
}

void TupleTable::clear() {
  values_.clear();
  hashes_.clear();
  places_.assign(places_.size(), 0);
}

}  // namespace quire::sql
