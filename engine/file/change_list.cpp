#include "engine/file/change_list.h"

#include <new>

namespace quire::engine {

void ChangeList::add(uint32_t slot, Bytes key, size_t record_bytes) noexcept {
  weight_ += key.size() + record_bytes;
  is_whole_ = weight_ <= kMostBytes;
  if (!is_whole_) return;
  const Head head{slot, static_cast<uint32_t>(key.size())};
  try {
    bytes_.reserve(bytes_.size() + sizeof head + key.size());
  } catch (const std::bad_alloc&) {
    is_whole_ = false;
    return;
  }
  bytes_.append(reinterpret_cast<const char*>(&head), sizeof head);
  bytes_.append(key);
}

}  // namespace quire::engine
