// Work that a thread of its own does beside its caller. Where the system gives no more threads (ulimit -u,
// the pids of a control group) it is done by who waits for it, at that moment.
#pragma once

#include <chrono>
#include <future>

namespace quire::engine {

// std::async tries the first of them first.
inline constexpr std::launch kBesideIfPossible = std::launch::async | std::launch::deferred;

template <typename T>
bool has_thread(const std::future<T>& work) {
  return work.wait_for(std::chrono::seconds(0)) != std::future_status::deferred;
}

}  // namespace quire::engine
