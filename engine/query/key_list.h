// Keys of items that entries of indexes lead to: gathered, put in order, joined with those of others. Each
// comes with the values of its entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/index/index_entry.h"
#include "engine/index/key_prefix.h"
#include "sql/error.h"
#include "sql/value/arena.h"

namespace quire::engine {

class KeyRooms;

class KeyList {
 public:
  // `are_lasting`: keys that are added stay where they lie as long as the list; others are copied. `rooms`
  // and the budget, if there is one, must outlive it.
  KeyList(bool are_lasting, KeyRooms& rooms, sql::MemoryBudget* budget);

  void add(const IndexEntry& entry);
  void add(const KeyList& other);
  size_t size() const noexcept { return room_->keys.size(); }
  // Counts what it takes, and will to be sorted, now and then while keys are added; out_of_memory where that
  // is more than is left, or than half of all: who reads the items instead needs some, too.
  Result<void> count_memory() noexcept;
  Bytes operator[](size_t at) const noexcept { return room_->keys[at].key_view(); }
  // Without its scope; its values count as cut where something else of it was.
  IndexEntry entry(size_t at) const noexcept;

  // In order, each once.
  void sort();
  // Leaves those that `other` has as well; both sorted.
  void intersect(const KeyList& other);

 private:
  friend class KeyRooms;
  static constexpr uint32_t kNotTold = UINT32_MAX;
  // The entry's values lie right before the key.
  struct Place {
    uint64_t prefix;
    const char* key;
    uint32_t key_bytes;
    uint32_t values_bytes;  // or kNotTold

    Bytes key_view() const noexcept { return {key, key_bytes}; }
    bool operator==(const Place& other) const noexcept {
      return prefix == other.prefix && key_bytes == other.key_bytes && key_view() == other.key_view();
    }
    bool operator<(const Place& other) const noexcept;
  };
  // What a list is made in.
  struct Room {
    std::vector<Place> keys;
    SortRoom<Place> sorting;
    std::vector<size_t> ends;  // of buckets
  };
  void ask_ahead() const noexcept;
  static std::vector<Place>::iterator insert_each(std::span<const Place> dealt,
                                                  std::vector<Place>::iterator to);
  struct GiveBack {
    KeyRooms* rooms;
    void operator()(Room* room) const noexcept;
  };

  sql::MemoryShare memory_;  // of the room
  size_t most_bytes_;
  std::unique_ptr<sql::Arena> copies_;  // null: the keys stay
  std::unique_ptr<Room, GiveBack> room_;
};

// The memory of a few lists that are no more, for the next ones: to write to pages that are new to the
// process takes longer than to gather and sort the keys in them. Thread-safe.
class KeyRooms {
 private:
  friend class KeyList;
  // Two lists are at hand at a time, in each of two threads.
  static constexpr size_t kMost = 4, kMostBytes = size_t{1} << 20;

  KeyList::Room* take();
  void give(std::unique_ptr<KeyList::Room> room) noexcept;

  std::mutex mutex_;  // guards rooms_
  std::vector<std::unique_ptr<KeyList::Room>> rooms_;
};

}  // namespace quire::engine
