#include "engine/script/native_stack.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace quire::engine {
namespace {

// The engine's own bound (kScriptStack in sandbox.cpp) is reached well before so much native stack is used.
constexpr size_t kMostStack = size_t{4} << 20;
// With less, hardly a script would come through.
constexpr size_t kLeastStack = size_t{192} << 10;
// For what scripts call: the host functions, and the storage below them.
constexpr size_t kReserve = size_t{128} << 10;

// The stack of this thread; empty if it is not known.
std::span<unsigned char> stack_of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  size_t size = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_known) return {};
  return {static_cast<unsigned char*>(lowest), size};
}

}  // namespace

Result<unsigned char*> lowest_script_frame() {
  // The main thread's costs a look into /proc.
  thread_local const std::span<unsigned char> stack = stack_of_thread();
  auto* const here = static_cast<unsigned char*>(__builtin_frame_address(0));
  // A fiber or a coroutine runs on memory of its own, and nobody tells how much that is.
  const bool is_on_stack =
      !std::less<>()(here, stack.data()) && std::less<>()(here, stack.data() + stack.size());
  if (!is_on_stack) return here - kLeastStack;
  const auto left = static_cast<size_t>(here - stack.data());
  if (left < kLeastStack + kReserve)
    return fail(ErrorCode::limit_exceeded,
                "the stack of this thread is too small to run scripts; give it 1 MiB or more");
  return here - std::min(kMostStack, left - kReserve);
}

}  // namespace quire::engine
