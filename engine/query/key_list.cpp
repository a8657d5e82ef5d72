#include "engine/query/key_list.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

namespace quire::engine {
namespace {

// An effective partition key tells most keys apart in its first three bytes, and what more of them would save
// in comparisons costs as much in passes over all.
constexpr unsigned kRest = 40, kDigitBits = 12;

}  // namespace

KeyList::KeyList(bool are_lasting, KeyRooms& rooms)
    : copies_(are_lasting ? nullptr : std::make_unique<sql::Arena>()),
      room_(rooms.take(), GiveBack{&rooms}) {}

void KeyList::GiveBack::operator()(Room* room) const noexcept {
  rooms->give(std::unique_ptr<Room>(room));
}

KeyList::Room* KeyRooms::take() {
  const std::lock_guard lock(mutex_);
  if (rooms_.empty()) return new KeyList::Room;
  KeyList::Room* const room = rooms_.back().release();
  rooms_.pop_back();
  return room;
}

void KeyRooms::give(std::unique_ptr<KeyList::Room> room) noexcept try {
  if (room->keys.capacity() > kMostBytes / sizeof(KeyList::Place)) return;
  room->keys.clear();
  const std::lock_guard lock(mutex_);
  if (rooms_.size() < kMost) rooms_.push_back(std::move(room));
} catch (const std::bad_alloc&) {  // no memory to keep it in
}

void KeyList::add(const IndexEntry& entry) {
  const bool tells_values =
      !entry.has_cut_values && entry.values.data() + entry.values.size() == entry.item_key.data();
  const size_t values_bytes = tells_values ? entry.values.size() : 0;
  Bytes bytes(entry.item_key.data() - values_bytes, values_bytes + entry.item_key.size());
  if (copies_ != nullptr) bytes = copies_->copy_string(bytes);
  room_->keys.push_back({.prefix = key_prefix(entry.item_key) >> kRest,
                         .key = bytes.data() + values_bytes,
                         .key_bytes = static_cast<uint32_t>(entry.item_key.size()),
                         .values_bytes = tells_values ? static_cast<uint32_t>(values_bytes) : kNotTold});
}

IndexEntry KeyList::entry(size_t at) const noexcept {
  const Place& place = room_->keys[at];
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
  return size() * sizeof(Place) + (copies_ != nullptr ? copies_->bytes_reserved() : 0);
}

// Few share a prefix.
void KeyList::sort() {
  std::vector<Place>& keys = room_->keys;
  sort_by_prefix<kDigitBits>(std::span(keys), room_->sorting);
  auto end = keys.begin();
  for (auto first = keys.begin(), last = first; first != keys.end(); first = last) {
    while (last != keys.end() && last->prefix == first->prefix) ++last;
    if (last - first > 1)
      std::sort(first, last, [](const Place& a, const Place& b) { return a.key_view() < b.key_view(); });
    const auto kept = end;
    for (auto place = first; place != last; ++place)
      if (end == kept || place->key_view() != (end - 1)->key_view()) *end++ = *place;
  }
  keys.erase(end, keys.end());
}

void KeyList::intersect(const KeyList& other) {
  size_t at = 0;
  std::erase_if(room_->keys, [&](const Place& place) {
    while (at < other.size() && other[at] < place.key_view()) ++at;
    return at == other.size() || other[at] != place.key_view();
  });
}

}  // namespace quire::engine
