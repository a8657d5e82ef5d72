// The calls of the system that change files, as a program makes them that is linked with system_calls.cpp:
// its own and those of its libraries, LMDB's among them. One observer may see each call, and have it fail.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string_view>

namespace quire::tests {

enum class SystemCall : uint8_t { open, write, sync, truncate, rename, unlink, map };
inline constexpr int kSystemCalls = 7;

// The calls that it hears of are made one after the other, under a lock: it needs none of its own. It must
// make no such call itself, and must not throw.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  // The errno that the call is to fail with, before it is made; 0: it is made.
  virtual int fault(SystemCall) { return 0; }

  // After a call that was made and succeeded.
  virtual void opened(std::string_view /*path*/, int /*descriptor*/, int /*flags*/) {}
  // `waits`: the call asked for the bytes to be on the disk when it returns, whatever the descriptor does.
  virtual void wrote(int /*descriptor*/, off_t /*offset*/, std::string_view /*bytes*/, bool /*waits*/) {}
  virtual void synced(int /*descriptor*/) {}
  virtual void truncated(int /*descriptor*/, off_t /*length*/) {}
  virtual void renamed(std::string_view /*from*/, std::string_view /*to*/) {}
  virtual void unlinked(std::string_view /*path*/) {}
};

// Null: nobody. While nobody listens a call costs nothing more.
void observe_system_calls(CallObserver* observer);
// While it is held no observed call is under way.
std::unique_lock<std::mutex> turn_of_system_calls();

}  // namespace quire::tests
