#include "engine/file/change_list.h"

#include <xxhash.h>

#include <new>

namespace quire::engine {

void ChangeList::add(uint32_t slot, Bytes key, size_t record_bytes) noexcept {
  size_t& recent = recent_[XXH3_64bits_withSeed(key.data(), key.size(), slot) % recent_.size()];
  Head head{slot, static_cast<uint32_t>(key.size()), record_bytes};
  if (recent != kNowhere && is_at(recent, slot, key)) {
    char* const at = bytes_.data() + recent + offsetof(Head, record_bytes);
    uint64_t before = 0;
    std::memcpy(&before, at, sizeof before);
    if (record_bytes <= before) return;
    std::memcpy(at, &head.record_bytes, sizeof head.record_bytes);
    add_weight(record_bytes - before);
    return;
  }
  add_weight(key.size() + record_bytes);
  if (!is_whole_) return;
  try {
    bytes_.reserve(bytes_.size() + sizeof head + key.size());
  } catch (const std::bad_alloc&) {
    is_whole_ = false;
    return;
  }
  recent = bytes_.size();
  bytes_.append(reinterpret_cast<const char*>(&head), sizeof head);
  bytes_.append(key);
}

bool ChangeList::is_at(size_t place, uint32_t slot, Bytes key) const noexcept {
  Head head;
  std::memcpy(&head, bytes_.data() + place, sizeof head);
  return head.slot == slot && Bytes(bytes_.data() + place + sizeof head, head.key_bytes) == key;
}

void ChangeList::add_weight(size_t bytes) noexcept {
  weight_ += bytes;
  is_whole_ = weight_ <= kMostBytes;
}

}  // namespace quire::engine
