// The lock between processes that a writer holds. LMDB has one of its own, but waiting for it knows no end;
// this one, taken first, is waited for as long as there is patience.
//
// Two bytes far behind the file's end, locked by open file description: a process that dies lets go. Whoever
// wants the lock takes the *turn* first and gives it up once he has the lock, so that a process with a long
// queue of writers cannot take the lock again before one who waits.
#pragma once

#include "engine/file/patience.h"
#include "sql/error.h"

namespace quire::engine {

class WriteLock {
 public:
  // `descriptor` is open for writing and outlives the lock; -1: no lock is needed.
  explicit WriteLock(int descriptor) : descriptor_(descriptor) {}

  // One thread of the process at a time. busy, or interrupted, once the patience is over.
  Result<void> acquire(const Patience& patience);
  void release() noexcept;

  // By the holder: whether it stays locked from one release() to the next acquire(), where no other process
  // can want it.
  void keep(bool is_kept) noexcept { is_kept_ = is_kept; }

 private:
  int descriptor_;
  bool is_held_ = false;
  bool is_kept_ = false;
};

}  // namespace quire::engine
