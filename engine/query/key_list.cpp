#include "engine/query/key_list.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <new>
#include <numeric>
#include <span>
#include <utility>

#include "engine/file/key_order.h"
#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

// Keys are dealt out once, into at most so many buckets.
constexpr unsigned kMostDigitBits = 16;
// So few are put in order by steps from one to the next.
constexpr size_t kFewInBucket = 16;

}  // namespace

inline bool KeyList::Place::operator<(const Place& other) const noexcept {
  return prefix != other.prefix ? prefix < other.prefix : !is_at_most(other.key_view(), key_view());
}

KeyList::KeyList(bool are_lasting, KeyRooms& rooms, sql::MemoryBudget* budget)
    : memory_(budget),
      most_bytes_(budget != nullptr ? budget->limit() / 2 : SIZE_MAX),
      copies_(are_lasting ? nullptr : std::make_unique<sql::Arena>(budget)),
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

// Another thread may have read the list that was here before: until its lines of memory are asked for to be
// written to, each of them is waited for.
inline void KeyList::ask_ahead() const noexcept {
  constexpr size_t kBytesAhead = 1536;
  const auto end = reinterpret_cast<uintptr_t>(room_->keys.data() + room_->keys.size());
  sql::prefetch_to_write(reinterpret_cast<const char*>(end + kBytesAhead));
}

void KeyList::add(const IndexEntry& entry) {
  const bool tells_values =
      !entry.has_cut_values && entry.values.data() + entry.values.size() == entry.item_key.data();
  const size_t values_bytes = tells_values ? entry.values.size() : 0;
  Bytes bytes(entry.item_key.data() - values_bytes, values_bytes + entry.item_key.size());
  if (copies_ != nullptr) bytes = copies_->copy_string(bytes);
  ask_ahead();
  room_->keys.push_back({.prefix = key_prefix(entry.item_key),
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

Result<void> KeyList::count_memory() noexcept {
  constexpr size_t kStep = size_t{64} << 10;  // the budget may be that of several threads
  const size_t bytes = 2 * size() * sizeof(Place);
  if (bytes <= memory_.bytes()) return {};
  const size_t copied = copies_ != nullptr ? copies_->bytes_reserved() : 0;
  if (bytes + copied <= most_bytes_ && memory_.try_take(bytes - memory_.bytes() + kStep)) return {};
  return fail(
      ErrorCode::out_of_memory,
      "the keys of the items that indexes lead to need more than the statement's memory limit; narrow "
      "it, or raise the limit (PRAGMA statement_memory)");
}

// They are dealt out into about half as many buckets as there are keys, by the first bits in which any two
// differ, so that nearly all are in order then, and the others a few places off.
void KeyList::sort() {
  std::vector<Place>& keys = room_->keys;
  if (keys.size() < 2) return;
  uint64_t different = 0;
  for (const Place& place : keys) different |= place.prefix ^ keys.front().prefix;
  const unsigned differing = static_cast<unsigned>(std::bit_width(different));
  const unsigned bits = std::min(static_cast<unsigned>(std::bit_width(keys.size() / 2)), kMostDigitBits);
  const unsigned shift = differing > bits ? differing - bits : 0;
  const uint64_t last_digit = (uint64_t{1} << bits) - 1;
  const auto digit_of = [&](const Place& place) { return place.prefix >> shift & last_digit; };

  std::vector<size_t>& ends = room_->ends;
  ends.assign(last_digit + 1, 0);
  for (const Place& place : keys) ++ends[digit_of(place)];
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), size_t{0});
  const std::span<Place> dealt = room_->sorting.of(keys.size());
  for (const Place& place : keys) dealt[ends[digit_of(place)]++] = place;

  size_t begin = 0;
  for (const size_t end : ends) {
    if (end - begin > kFewInBucket) std::ranges::sort(dealt.subspan(begin, end - begin), std::less<>());
    begin = end;
  }
  keys.erase(insert_each(dealt, keys.begin()), keys.end());
}

// Each once, in order, from `to` on; the end of them. A step for each place that one is off. All at once
// rather than by buckets: where one of these ends cannot be guessed.
std::vector<KeyList::Place>::iterator KeyList::insert_each(std::span<const Place> dealt,
                                                           std::vector<Place>::iterator to) {
  const auto begin = to;
  auto end = begin;
  for (const Place& place : dealt) {
    to = end;
    while (to != begin && place < *(to - 1)) --to;
    if (to != begin && *(to - 1) == place) continue;
    std::move_backward(to, end, end + 1);
    *to = place;
    ++end;
  }
  return end;
}

void KeyList::intersect(const KeyList& other) {
  size_t at = 0;
  std::erase_if(room_->keys, [&](const Place& place) {
    while (at < other.size() && other[at] < place.key_view()) ++at;
    return at == other.size() || other[at] != place.key_view();
  });
}

}  // namespace quire::engine
