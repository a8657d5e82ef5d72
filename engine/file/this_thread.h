// Which thread this is, among all that the process has had. A std::thread::id is given anew once its thread
// has ended, so that the next one would find itself the owner of what that one left open.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace quire::engine {

enum class ThreadNumber : uint64_t { none };

inline ThreadNumber this_thread() noexcept {
  static std::atomic<uint64_t> last = 0;
  thread_local uint64_t number = 0;
  if (number == 0) number = ++last;
  return ThreadNumber{number};
}

// Expires when the calling thread ends.
inline std::weak_ptr<const void> life_of_this_thread() {
  thread_local const auto life = std::make_shared<const char>();
  return life;
}

}  // namespace quire::engine
