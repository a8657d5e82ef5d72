#include "engine/script/native_stack.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace quire::engine {
namespace {

// The engine's own bound (kScriptStack in sandbox.cpp) is reached well before so much native stack is used.
constexpr size_t kMostStack = size_t{4} << 20;
// With less, hardly a script would come through.
constexpr size_t kLeastStack = size_t{192} << 10;
// For what scripts call: the host functions, and the storage below them.
constexpr size_t kReserve = size_t{128} << 10;

// Where the stack of this thread ends, by address the lowest; null if that is not known.
unsigned char* end_of_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  void* lowest = nullptr;
  size_t size = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return is_known ? static_cast<unsigned char*>(lowest) : nullptr;
}

}  // namespace

Result<unsigned char*> lowest_script_frame() {
  // The main thread's costs a look into /proc.
  thread_local unsigned char* const end = end_of_stack();
  auto* const here = static_cast<unsigned char*>(__builtin_frame_address(0));
  if (end == nullptr) return here - kLeastStack;
  const auto left = static_cast<size_t>(here - end);
  if (left < kLeastStack + kReserve)
    return fail(ErrorCode::limit_exceeded,
                "the stack of this thread is too small to run scripts; give it 1 MiB or more");
  return here - std::min(kMostStack, left - kReserve);
}

}  // namespace quire::engine
