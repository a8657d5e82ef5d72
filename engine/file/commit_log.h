// The log of durable commits: what lets a small commit wait for the disk once, for one short write, where
// LMDB waits twice, for a dozen pages and then for its meta page.
//
// A commit's record is on the disk before LMDB is told to commit, which then waits for nothing: whoever sees
// a commit sees a durable one. What was committed before the log was begun is the anchor (anchor.h). After a
// crash the file is taken back to the anchor, and the commits in the log are made again (log_replay.h).
//
// The log is the value of row "log" of table "meta", written in place: LMDB keeps so long a value on pages of
// its own, and leaves them alone. So a database stays one file. It is 1 MiB long, up to 4 in a file that is
// large beside it, up to 8 for larger transactions, but no more than twice as long as the file was. Where
// they become larger, or the file has grown, a longer one takes its place. Its first half is for anchors with
// an even sequence, the second for odd ones: who moves the anchor leaves alone what still counts. A half:
//
//   0..31   0..7 the sequence, with bit 62 set | 8..15 a random number | 16..23 the anchor's commit | 24..31
//           what it follows
//   32..    records, each at a multiple of 8: 0..7 the commit's number | 8..11 bytes of changes | 12..15 zero
//   |
//           16..23 XXH3 of the changes, seeded with that of these 16 bytes, seeded with the one of the record
//           before, or the random number | changes
//
// A change: 1 byte, how long the table's name is | 2 bytes, the key | 4 bytes, the record; FFFFFFFF: the key
// was erased | name, key, record as the commit left them. They may come twice.
//
// The records of an anchor are those whose numbers follow it without a gap. They are written once: a commit
// that could not be made is taken out again. Where the other half is for the next sequence, and follows the
// last of them, by its XXH3, its records come behind them: it has been begun for an anchor that was to come
// (turn_over()).
//
// The log also holds commits that are pending (small_commits.h): some records are then one commit of LMDB's,
// and their numbers only count them.
//
// Without a sync, for durability `relaxed`, it holds what is pending alone, behind one of LMDB's commits:
// that commit's number, with its highest bit set, takes the place of the sequence. It counts if the commit is
// the newest when the file is opened.
//
// Logs of before there were halves have 0..7 the sequence | 8..15 the random number at byte 0, or 16 if it is
// odd, and the records of either from byte 32 on; what a crash has left of them is still made again.
//
// That a write changes no byte but its own, whatever happens to the power, is relied on, as it is by SQLite.
#pragma once

#include <lmdb.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/anchor.h"
#include "engine/file/change_list.h"
#include "engine/file/pending_view.h"
#include "engine/file/table_registry.h"
#include "sql/error.h"

namespace quire::engine {

// The bytes of the log, for who writes and who replays it.
namespace log_layout {
inline constexpr std::string_view kRow = "log";
inline constexpr size_t kHeaderBytes = 32, kRecordsAt = kHeaderBytes, kRecordHeader = 24;
inline constexpr uint32_t kErased = UINT32_MAX;
inline constexpr uint64_t kBehindCommit = uint64_t{1} << 63, kOfHalf = uint64_t{1} << 62;

struct Header {
  uint64_t sequence = 0;  // kOfHalf in it
  uint64_t random = 0;
  uint64_t commit = 0;   // the one before the first record's
  uint64_t follows = 0;  // 0: nothing
};
static_assert(sizeof(Header) == kHeaderBytes);

struct RecordHeader {
  uint64_t commit = 0;
  uint32_t change_bytes = 0;
  uint32_t zero = 0;
  uint64_t sum = 0;
};
static_assert(sizeof(RecordHeader) == kRecordHeader);

constexpr size_t half_bytes(size_t log_bytes) noexcept {
  return log_bytes / 2 / 8 * 8;
}
constexpr size_t half_at(uint64_t sequence, size_t log_bytes) noexcept {
  return sequence % 2 * half_bytes(log_bytes);
}
constexpr size_t record_bytes(size_t change_bytes) noexcept {
  return (kRecordHeader + change_bytes + 7) / 8 * 8;
}
// Of a header and what lies behind it.
uint64_t sum_of(const RecordHeader& header, std::string_view changes, uint64_t seed) noexcept;
struct Place {
  uint64_t at = 0;  // in the file
  size_t bytes = 0;
};
// Where the value lies; nothing if there is none that has pages of its own. `meta` is the table.
std::optional<Place> find_place(MDB_txn* transaction, MDB_dbi meta, int descriptor) noexcept;
// The header of the record at the start of `bytes`, if it is whole and of that commit.
std::optional<RecordHeader> parse_record(std::string_view bytes, uint64_t commit, uint64_t seed) noexcept;
}  // namespace log_layout

// A process's part in it. Calls are those of the holder of the write lock.
class CommitLog {
 public:
  static constexpr size_t kLeastBytes = size_t{1} << 20, kMostBytes = size_t{8} << 20;

  explicit CommitLog(int descriptor) : descriptor_(descriptor) {}

  // What the transaction at hand changes.
  ChangeList& changes() noexcept { return changes_; }

  struct Commit {
    MDB_txn* transaction;
    MDB_dbi meta;
    const TableRegistry& tables;
    Anchor& anchor;
    uint32_t pending;  // so many commits that are in the log alone become a part of it
  };
  // Before LMDB commits a transaction of durability `full`: true if its changes are on the disk now, so that
  // LMDB need not wait for it; false if it must, there being no anchor; or, where something is pending, the
  // anchor being one that must be given up after the commit. io.
  Result<bool> take(const Commit& commit);
  // Whether take() has put down a record.
  bool has_put_down() const noexcept { return has_put_down_; }
  // Before LMDB commits one of durability `relaxed`: sees to it that there is a log where it will be worth
  // it.
  void expect_small(const Commit& commit) noexcept;

  // Whether small commits of that durability may go to the log alone, from the transaction on that has begun.
  bool is_ready(Durability durability, Anchor& anchor, MDB_txn* transaction, MDB_dbi meta);
  // That are put down before it is begun anew.
  size_t bytes() const noexcept { return log_layout::half_bytes(place_.bytes); }
  // So many bytes of keys and records may one of them have.
  size_t most_of_commit() const noexcept { return place_.bytes / kCommitsInLog; }
  struct SmallCommit {
    const TableRegistry& tables;
    Anchor& anchor;
    Durability durability;
  };
  // Whether a commit like the last one is sure to find room.
  bool has_room() const noexcept;
  // Whether the file has grown so that a longer one would serve commits like the last one better: the next
  // commit of LMDB's makes it, and until then is_ready() says no.
  bool should_grow(MDB_env* environment) noexcept;
  // Puts the changes at hand into the log; false if they have no room there. io, out_of_memory.
  Result<bool> take_small(const PendingView& pending, const SmallCommit& commit);
  // What is pending is about to become LMDB's up to that commit, and that the anchor, by somebody else: the
  // records from here on go to the other half. Until there is the anchor, who goes back to the one before
  // finds them there. False, and all is as it was, if the file cannot be written to.
  bool turn_over(uint64_t commit);
  // So many of the log's last commits are one of LMDB's now.
  void note_applied(uint32_t commits) noexcept { ahead_ += commits - 1; }

  // LMDB could not commit what was taken.
  void withdraw(Anchor& anchor) noexcept;
  // It was given up for a commit that is run again: that one is not to begin it, however large it is.
  void stand_back() noexcept { stands_back_ = true; }
  // Whether the last record has filled half of what there is room for: the pages that it stands for should go
  // on their way to the disk, before it begins anew.
  bool is_due() const noexcept { return before_.position < bytes() / 2 && end_.position >= bytes() / 2; }

 private:
  // A process writes to the log once it has made so many small commits, each within that time of the one
  // before: to begin and to end a log costs as much as two commits. A large one counts for several, since it
  // gains more.
  static constexpr uint32_t kCommitsUntilLog = 8;
  static constexpr size_t kBytesOfOne = size_t{128} << 10;
  static constexpr std::chrono::milliseconds kInARow{250};
  struct End {
    uint64_t commit = 0;  // the last one that is in the log
    uint64_t seed = 0;    // of the record behind it
    size_t position = 0;  // in the half
  };

  // At least so many find room in a log, and in one that is made for commits like one at hand.
  static constexpr size_t kCommitsInLog = 4, kCommitsInNewLog = 32;
  // One of up to the usual length has a file of so many times its length beside it.
  static constexpr size_t kUsualBytes = size_t{4} << 20, kFileBesideLog = 2, kMostOfFile = 2;

  void count_small(size_t bytes) noexcept;
  bool is_worth_it(const Anchor& anchor) noexcept;
  bool has_place(const Commit& commit) noexcept;
  bool make_place(const Commit& commit, size_t bytes) noexcept;
  void take_cache(MDB_txn* transaction, const MDB_val& value) const noexcept;
  // That a log for such commits should have; 0: it has to wait.
  static size_t bytes_for(size_t commit_bytes, MDB_env* environment) noexcept;
  size_t room() const noexcept { return bytes() - std::min(bytes(), end_.position); }
  // In the file, of the half in use.
  uint64_t half_at() const noexcept {
    return place_.at + log_layout::half_at(header_.sequence, place_.bytes);
  }
  bool gather(const Commit& commit);
  bool add_change(const Commit& commit, uint32_t slot, Bytes key);
  bool add_change(const TableRegistry& tables, uint32_t slot, Bytes key, std::optional<Bytes> record);
  const std::string& name_of(const TableRegistry& tables, uint32_t slot);
  Result<bool> go_on(Anchor& anchor, const PendingView& pending);
  Result<bool> follows(const Anchor& anchor, uint64_t newest);
  Result<bool> read_header(const Anchor& anchor);
  Result<bool> read_record();
  Result<void> begin_anew(Anchor& anchor, uint64_t newest);
  Result<void> put_header(uint64_t sequence, uint64_t commit, uint64_t follows = 0);
  Result<void> put_down(Anchor& anchor, bool waits = true);

  int descriptor_;
  ChangeList changes_;
  log_layout::Place place_;  // none: not known yet
  std::string record_;       // of the commit at hand, from its header on

  // The log as this process last saw it.
  uint64_t sequence_ = 0;  // of its anchor
  log_layout::Header header_;
  uint64_t ahead_ = 0;  // of LMDB's numbers, what the log's have come to be
  End end_;
  End before_;                 // the record that this process wrote last
  bool has_put_down_ = false;  // that record is of the commit at hand

  uint32_t small_commits_ = 0;
  bool was_in_use_ = false;
  bool stands_back_ = false;
  bool has_outgrown_ = false;  // the last commit was too large for it
  size_t wanted_bytes_ = 0;    // that should_grow() has found it should have
  std::chrono::steady_clock::time_point last_small_commit_{};
  struct KnownName {
    Table table;
    std::string name;
  };
  std::vector<KnownName> names_;  // by slot
};

}  // namespace quire::engine
