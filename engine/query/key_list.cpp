#include "engine/query/key_list.h"

#include <algorithm>
#include <span>

#include "engine/index/key_prefix.h"

namespace quire::engine {
namespace {

// An effective partition key tells most keys apart in its first three bytes, and what more of them would save
// in comparisons costs as much in passes over all.
constexpr unsigned kRest = 40, kDigitBits = 12;

}  // namespace

KeyList::KeyList(bool are_lasting) : copies_(are_lasting ? nullptr : std::make_unique<sql::Arena>()) {}

void KeyList::add(const IndexEntry& entry) {
  const bool tells_values =
      !entry.has_cut_values && entry.values.data() + entry.values.size() == entry.item_key.data();
  const size_t values_bytes = tells_values ? entry.values.size() : 0;
  Bytes bytes(entry.item_key.data() - values_bytes, values_bytes + entry.item_key.size());
  if (copies_ != nullptr) bytes = copies_->copy_string(bytes);
  keys_.push_back({.prefix = key_prefix(entry.item_key) >> kRest,
                   .key = bytes.data() + values_bytes,
                   .key_bytes = static_cast<uint32_t>(entry.item_key.size()),
                   .values_bytes = tells_values ? static_cast<uint32_t>(values_bytes) : kNotTold});
}

IndexEntry KeyList::entry(size_t at) const noexcept {
  const Place& place = keys_[at];
  IndexEntry entry;
  entry.item_key = place.key_view();
  entry.has_cut_values = place.values_bytes == kNotTold;
  if (!entry.has_cut_values) entry.values = Bytes(place.key - place.values_bytes, place.values_bytes);
  return entry;
}

void KeyList::add(const KeyList& other) {
  for (size_t at = 0; at < other.size(); ++at) add(other.entry(at));
}

size_t KeyList::memory() const noexcept {
  return keys_.size() * sizeof(Place) + (copies_ != nullptr ? copies_->bytes_reserved() : 0);
}

// Few share a prefix.
void KeyList::sort() {
  sort_by_prefix<kDigitBits>(std::span(keys_));
  auto end = keys_.begin();
  for (auto first = keys_.begin(), last = first; first != keys_.end(); first = last) {
    while (last != keys_.end() && last->prefix == first->prefix) ++last;
    if (last - first > 1)
      std::sort(first, last, [](const Place& a, const Place& b) { return a.key_view() < b.key_view(); });
    const auto kept = end;
    for (auto place = first; place != last; ++place)
      if (end == kept || place->key_view() != (end - 1)->key_view()) *end++ = *place;
  }
  keys_.erase(end, keys_.end());
}

void KeyList::intersect(const KeyList& other) {
  size_t at = 0;
  std::erase_if(keys_, [&](const Place& place) {
    while (at < other.size() && other[at] < place.key_view()) ++at;
    return at == other.size() || other[at] != place.key_view();
  });
}

}  // namespace quire::engine
