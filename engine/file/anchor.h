// The commit that a file is taken back to while LMDB's commits are not synced: after a power cut with
// durability `relaxed`, or where they are synced together, later; and with `full` while the log holds what
// has been committed since (commit_log.h).
//
// What LMDB writes without a sync reaches the disk in an order that only the system knows: after a power cut,
// a meta page may lead to pages that are not there. So there is an anchor: a commit that is on the disk as a
// whole, whose meta page is kept aside, and whose pages no later commit takes. Each process that writes holds
// a snapshot of the anchor or of an older commit, since a snapshot is what keeps LMDB from taking pages
// again. Whoever opens the file after a power cut puts the anchor's meta page in the place of LMDB's two. A
// process that dies takes nothing with it: what it has written is in the system's memory. Where there is a
// log, that is not relied on: whoever opens the file, and finds it was not closed, goes back to the anchor
// and has the log's commits made again.
//
// The record lies in the second half of LMDB's first two pages, which LMDB leaves alone, in turn in either:
//
//   0..7 "QANCHOR1" | 8..15 sequence: the greater counts | 16..23 0: there is no anchor, all is synced, 1:
//   there is one, 2: one with a log | 24..39 the machine's boot | 40..175 the meta page's content |
//   176..183 XXH3 of all before
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
  bool has_log = false;  // the commits behind it are in the log
  std::array<char, 16> boot{};
  std::array<char, layout::kMetaBytes> meta{};

  uint64_t transaction() const noexcept { return layout::load<uint64_t>(meta.data() + 128); }
  uint64_t last_page() const noexcept { return layout::load<uint64_t>(meta.data() + 120); }
};

// The newest record; one that is not set where there is none. io.
Result<AnchorRecord> read_anchor(int descriptor, uint32_t page_bytes);
// Has a record reach the disk as the newest, its sequence being one more: in the place of an older one than
// `record`. io.
Result<void> write_anchor(int descriptor, uint32_t page_bytes, AnchorRecord& record);
// Of the machine, since it was started; zeros where it cannot be told.
std::array<char, 16> this_boot();

struct SettleOptions {
  bool read_only = false;
  bool is_trusted = false;  // before LMDB opens the file it is not looked at more closely than at any open
};

// Before a file is opened. If nobody has it open and an anchor is set: after a power cut, or where there is a
// log, the file is taken back to it, and the log's commits are made again; otherwise what was written reaches
// the disk. False if somebody else is at that: look at the file again. cannot_open where the file would have
// to be written to for it; corrupt, no_space, io.
Result<bool> settle_anchor(int descriptor, const std::string& path, const SettleOptions& options);
// The same for a file that nobody else can open.
Result<void> settle_anchor_alone(int descriptor, const std::string& path, bool is_trusted);

// A process's part in keeping the anchor of a file. Calls are those of the holder of the write lock, unless
// they say otherwise; or, from SmallCommits::hand_over() until take_back(), those of its thread.
class Anchor {
 public:
  // How far the file may grow between two anchors of `relaxed`, since it does not use room again that a later
  // commit has left: from the first on the anchor should be moved, at the second the writer does it.
  static constexpr uint64_t kPagesUntilDue = 16384;
  static constexpr uint64_t kMostPages = 65536;
  // With a log: by so many pages, or an eighth of the file; and after so many commits, or one for each 64
  // pages of the file, since what they leave behind is no growth as long as there are free pages.
  static constexpr uint64_t kLeastPagesWithLog = 1024;
  static constexpr uint64_t kLeastCommitsWithLog = 64;

  Anchor(MDB_env* environment, int descriptor) : environment_(environment), descriptor_(descriptor) {}
  ~Anchor();
  Anchor(const Anchor&) = delete;
  Anchor& operator=(const Anchor&) = delete;

  // Before anything is written by a transaction of that durability, `newest` being the commit before it: for
  // `relaxed` there is an anchor then, without a log; for `full` there is none, or one with a log whose pages
  // this process keeps, and the commit has to go to the log or else be preceded by give_up(). io.
  Result<void> prepare(Durability durability, uint64_t newest);
  // What prepare() begins with: io where nothing may be written any more.
  Result<void> check_trust() const;
  // Makes the newest commit the anchor, with a log: for a commit that is at hand. io; busy if there is no
  // place for a snapshot.
  Result<void> set_with_log();
  // All that was committed reaches the disk; then there is no anchor. Nothing to do where there is none. io.
  Result<void> give_up();

  // Whether the snapshot that is held keeps nothing any more, since another process has moved the anchor on,
  // or given it up. By any thread, once prepare() was called.
  bool is_passed() const;
  // Lets it go, then. prepare() sees to another before anything is written.
  void let_go_if_passed();

  // The next prepare() for `relaxed` makes the newest commit the anchor, one for `full` gives the anchor up.
  // By any thread.
  void hurry() noexcept { is_hurried_ = true; }
  // What was written may not have reached the disk though it was waited for: nothing more is promised. Each
  // prepare() fails from now on; whoever opens the file next goes back to the anchor. By any thread.
  void distrust() noexcept { is_distrusted_ = true; }
  // Whether the anchor should be moved, as the last prepare() saw it.
  bool is_due() const noexcept { return is_due_; }
  // Whether this process has written without a sync.
  bool is_held() const noexcept { return snapshot_ != nullptr; }
  // As prepare() and what came after it left it.
  bool has_log() const noexcept { return record_.is_set && record_.has_log; }
  uint64_t sequence() const noexcept { return record_.sequence; }
  uint64_t commit() const noexcept { return record_.transaction(); }
  // Whether so much was written since that an anchor with a log has to be moved.
  bool is_far(uint64_t newest) const noexcept;
  // The commit of the snapshot that is held; 0: none. By any thread.
  uint64_t held_commit() const noexcept { return held_commit_.load(std::memory_order_relaxed); }

 private:
  bool must_advance(uint64_t newest, bool is_hurried) noexcept;
  Result<void> advance(bool has_log);
  Result<void> put_down(AnchorRecord& next);
  void hold(MDB_txn* snapshot) noexcept;

  MDB_env* environment_;
  int descriptor_;
  uint32_t page_bytes_ = 0;
  AnchorRecord record_;
  MDB_txn* snapshot_ = nullptr;
  std::atomic<uint64_t> held_commit_ = 0;
  bool is_due_ = false;
  std::atomic<bool> is_hurried_ = false;
  std::atomic<bool> is_distrusted_ = false;
};

}  // namespace quire::engine
