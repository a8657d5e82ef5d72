// The keys that a write transaction has changed. Their records are asked for when it commits: what counts is
// what they are then. Internal to engine/file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/file/table.h"

namespace quire::engine {

class ChangeList {
 public:
  // Of keys and records together. A transaction that changes more is not kept track of any further.
  static constexpr size_t kMostBytes = size_t{2} << 20;

  void start(bool keeps_track) noexcept {
    bytes_.clear();
    recent_.fill(kNowhere);
    weight_ = 0;
    is_whole_ = keeps_track;
  }
  void note(uint32_t slot, Bytes key, size_t record_bytes) noexcept {
    if (is_whole_) add(slot, key, record_bytes);
  }
  // Something was changed that is no key of a table.
  void give_up() noexcept { is_whole_ = false; }

  bool is_whole() const noexcept { return is_whole_; }
  bool is_empty() const noexcept { return bytes_.empty(); }
  // Of keys and records together, as long as the list is whole; what was undone counts, too.
  size_t weight() const noexcept { return weight_; }

  // What was noted since `size` has been undone.
  size_t size() const noexcept { return bytes_.size(); }
  void return_to(size_t size) noexcept {
    if (size >= bytes_.size()) return;
    bytes_.resize(size);
    recent_.fill(kNowhere);
  }

  // Calls visit(slot, key), which returns whether to go on; in the order of the changes. A key that was
  // changed again may come again.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (size_t at = 0; at < bytes_.size();) {
      Head head;
      std::memcpy(&head, bytes_.data() + at, sizeof head);
      const Bytes key(bytes_.data() + at + sizeof head, head.key_bytes);
      if (!visit(head.slot, key)) return;
      at += sizeof head + head.key_bytes;
    }
  }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  struct Head {
    uint32_t slot = 0;
    uint32_t key_bytes = 0;
    uint64_t record_bytes = 0;  // the most that it has had
  };
  void add(uint32_t slot, Bytes key, size_t record_bytes) noexcept;
  bool is_at(size_t place, uint32_t slot, Bytes key) const noexcept;
  void add_weight(size_t bytes) noexcept;

  std::string bytes_;
  // Where one of the keys with some hash was noted last: counters are changed with each item.
  std::array<size_t, 64> recent_{};
  size_t weight_ = 0;
  bool is_whole_ = false;
};

}  // namespace quire::engine
