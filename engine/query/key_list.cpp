#include "engine/query/key_list.h"

#include <algorithm>
#include <span>

#include "engine/index/key_prefix.h"

namespace quire::engine {
namespace {

// An effective partition key tells most keys apart in its first three bytes, and what more of them would save
// in comparisons costs as much in passes over all.
constexpr unsigned kRest = 40;

}  // namespace

KeyList::KeyList(bool are_lasting) : copies_(are_lasting ? nullptr : std::make_unique<sql::Arena>()) {}

void KeyList::add(Bytes key) {
  keys_.push_back({key_prefix(key) >> kRest, copies_ != nullptr ? copies_->copy_string(key) : key});
}

void KeyList::add(const KeyList& other) {
  for (const Place& place : other.keys_) add(place.key);
}

size_t KeyList::memory() const noexcept {
  return keys_.size() * sizeof(Place) + (copies_ != nullptr ? copies_->bytes_reserved() : 0);
}

void KeyList::sort() {
  sort_by_prefix(std::span(keys_));
  for (auto first = keys_.begin(); first != keys_.end();) {
    const auto last =
        std::find_if(first, keys_.end(), [&](const Place& place) { return place.prefix != first->prefix; });
    std::sort(first, last, [](const Place& a, const Place& b) { return a.key < b.key; });
    first = last;
  }
  const auto rest = std::ranges::unique(
      keys_, [](const Place& a, const Place& b) { return a.prefix == b.prefix && a.key == b.key; });
  keys_.erase(rest.begin(), rest.end());
}

void KeyList::intersect(const KeyList& other) {
  size_t at = 0;
  std::erase_if(keys_, [&](const Place& place) {
    while (at < other.size() && other[at] < place.key) ++at;
    return at == other.size() || other[at] != place.key;
  });
}

}  // namespace quire::engine
