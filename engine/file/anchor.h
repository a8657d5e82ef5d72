// The commit that a power cut takes a file back to while commits are not synced (durability `relaxed`).
//
// What LMDB writes without a sync reaches the disk in an order that only the system knows: after a power cut,
// a meta page may lead to pages that are not there. So there is an anchor: a commit that is on the disk as a
// whole, whose meta page is kept aside, and whose pages no later commit takes. Each process that writes holds
// a snapshot of the anchor or of an older commit, since a snapshot is what keeps LMDB from taking pages
// again. Whoever opens the file after a power cut puts the anchor's meta page in the place of LMDB's two. A
// process that dies takes nothing with it: what it has written is in the system's memory.
//
// The record lies in the second half of LMDB's first two pages, which LMDB leaves alone, in turn in either:
//
//   0..7 "QANCHOR1" | 8..15 sequence: the greater counts | 16..23 1: there is an anchor, 0: there is none,
//   all is synced | 24..39 the machine's boot | 40..175 the meta page's content | 176..183 XXH3 of all before
//
// in one sector, so that a power cut leaves it whole or as it was.
#pragma once

#include <lmdb.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "engine/file/environment.h"
#include "engine/file/page_layout.h"
#include "sql/error.h"

namespace quire::engine {

struct AnchorRecord {
  uint64_t sequence = 0;
  bool is_set = false;
  std::array<char, 16> boot{};
  std::array<char, layout::kMetaBytes> meta{};

  uint64_t transaction() const noexcept { return layout::load<uint64_t>(meta.data() + 128); }
  uint64_t last_page() const noexcept { return layout::load<uint64_t>(meta.data() + 120); }
};

// The newest record; one that is not set where there is none. io.
Result<AnchorRecord> read_anchor(int descriptor, uint32_t page_bytes);
// Has a record reach the disk as the newest: in the place of an older one than `record`. io.
Result<void> write_anchor(int descriptor, uint32_t page_bytes, AnchorRecord record);
// Of the machine, since it was started; zeros where it cannot be told.
std::array<char, 16> this_boot();

// Before a file is opened. If nobody has it open and an anchor is set: after a power cut the file is taken
// back to it; otherwise what was written reaches the disk. False if somebody else is at that: look at the
// file again. cannot_open where the file would have to be written to for it.
Result<bool> settle_anchor(int descriptor, const std::string& path, bool read_only);
// The same for a file that nobody else can open.
Result<void> settle_anchor_alone(int descriptor);

// A process's part in keeping the anchor of a file. Calls are those of the holder of the write lock.
class Anchor {
 public:
  // How far the file may grow between two anchors, since it does not use room again that a later commit has
  // left: from the first on the anchor should be moved, at the second the writer does it.
  static constexpr uint64_t kPagesUntilDue = 16384;
  static constexpr uint64_t kMostPages = 65536;

  Anchor(MDB_env* environment, int descriptor) : environment_(environment), descriptor_(descriptor) {}
  ~Anchor();
  Anchor(const Anchor&) = delete;
  Anchor& operator=(const Anchor&) = delete;

  // Before anything is written by a transaction of that durability, `newest` being the commit before it: for
  // `relaxed` there is an anchor then, for others there is none. io.
  Result<void> prepare(Durability durability, uint64_t newest);
  // The next prepare() for `relaxed` makes the newest commit the anchor. By any thread.
  void hurry() noexcept { is_hurried_ = true; }
  // Whether the anchor should be moved, as the last prepare() saw it.
  bool is_due() const noexcept { return is_due_; }
  // Whether this process has written without a sync.
  bool is_held() const noexcept { return snapshot_ != nullptr; }
  // The commit of the snapshot that is held; 0: none.
  uint64_t held_commit() const noexcept { return held_commit_.load(std::memory_order_relaxed); }

 private:
  bool must_advance(const AnchorRecord& record, uint64_t newest) noexcept;
  Result<void> advance(AnchorRecord record);
  Result<void> give_up(AnchorRecord record);
  void hold(MDB_txn* snapshot) noexcept;

  MDB_env* environment_;
  int descriptor_;
  uint32_t page_bytes_ = 0;
  MDB_txn* snapshot_ = nullptr;
  std::atomic<uint64_t> held_commit_ = 0;
  bool is_due_ = false;
  std::atomic<bool> is_hurried_ = false;
};

}  // namespace quire::engine
