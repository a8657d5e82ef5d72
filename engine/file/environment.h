// The file: one LMDB environment. Nothing outside engine/file sees LMDB.
//
// Reads are snapshots and wait for nobody. Writes queue: the first waiting thread becomes the leader of a
// commit group, runs the waiting transactions one after another (nested when there is more than one, so that
// one that fails rolls back alone) and commits, which syncs, once. The map grows by itself.
//
// Threads: every function may be called from any thread. Processes: any number may open the file at once, the
// second one some 20 ms after it asked for it where the first is writing, or when an ExplicitWrite that the
// first holds has ended; after fork() the child must open its own Environment: what it begins with its
// parent's is misuse, what it ends stays as it is for the parent. It must not come to the parent's
// destructor.
//
// The same file may be opened several times within a process: the Environments share one LMDB environment
// (LMDB allows no second one), at the strongest durability that any of them asked for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/file_cursor.h"
#include "engine/file/page_fault.h"
#include "engine/file/table.h"
#include "engine/file/this_process.h"
#include "engine/file/transaction.h"
#include "sql/error.h"

namespace quire::engine {

// What a power cut may do to acknowledged commits. A crash of the process alone loses nothing in any mode.
enum class Durability : uint8_t {
  full,     // nothing: acknowledged means on disk
  relaxed,  // undo the last second or so, whole commits; the file stays whole
  none,     // damage the file: for scratch data
};

// When a commit is as durable as was asked for.
enum class Sync : uint8_t {
  with_commit,  // when write() returns
  later,        // when sync() does: a power cut may undo it until then, the file stays whole
};

struct FileOptions {
  bool read_only = false;
  bool must_exist = false;
  Durability durability = Durability::full;
  uint64_t map_size = 0;  // first size of the map in bytes; 0: generous address space
  // A file of more bytes is not read ahead but where it is walked (map_advice.h); 0: half of the memory.
  uint64_t most_read_ahead = 0;
  uint32_t busy_timeout_ms = 60'000;
  // Walk all of its pages before it is used: for a file from elsewhere, or one that may be damaged.
  bool is_untrusted = false;
};

// The version of the file format that this library writes, kept in table "meta".
inline constexpr uint32_t kFormatVersion = 8;

struct FileFacts {
  uint64_t file_bytes = 0;
  uint64_t used_bytes = 0;  // up to the last page ever used
  uint64_t map_bytes = 0;
  uint64_t commit_number = 0;
  uint32_t readers = 0;            // open snapshots, all processes
  uint64_t oldest_reader_lag = 0;  // commits since the oldest open snapshot
  int oldest_reader_process = 0;   // whose that is; 0: there is none
};

// "LMDB 0.9.24"
std::string storage_library();

// Unix seconds.
using UnixClock = uint32_t (*)() noexcept;

class ExplicitWrite;
class FileState;

class Environment {
 public:
  // The path of a database that lives in memory, private to the Environment, and ends with it.
  static constexpr std::string_view kInMemory = ":memory:";

  // Errors: cannot_open (missing file or folder, a directory, no file can be made), permission, no_space,
  // not_a_database, newer_format, truncated, corrupt, read_only (the file is new, or of an older format),
  // misuse (the process has it open read-only and now wants to write), busy (another process has commits in
  // memory and does not let others in), io, out_of_memory. A file that was not closed is opened for writing
  // first (cannot_open).
  static Result<std::unique_ptr<Environment>> open(std::string_view path, const FileOptions& options = {});
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // misuse in a child of fork(), which has this of its parent.
  Result<void> check_process() const;

  // Errors: busy (all 1,024 reader slots are taken), misuse (in a child of fork()), out_of_memory, io.
  Result<ReadTransaction> begin_read() const;

  // Waits until there is a commit, by any thread or process, newer than the one numbered `seen`
  // (Transaction::number); false past the deadline. No transaction of the caller should be open meanwhile.
  bool wait_for_commit(uint64_t seen, std::chrono::steady_clock::time_point deadline) const;

  // Runs `work` in a write transaction, possibly on another thread and in one commit with others' work, and
  // returns once it is committed as durably as asked for, or undone: `work` returned an error (which is
  // passed on), or the commit failed. `work` may run more than once, each time from the same starting state,
  // so it must only change what the transaction undoes, and start its own results afresh. It must not call
  // write or begin_write. Errors besides the work's own: read_only, busy, no_space, io, out_of_memory,
  // misuse.
  Result<void> write(const std::function<Result<void>(WriteTransaction&)>& work,
                     Sync sync = Sync::with_commit);

  // Makes what was written with Sync::later as durable as was asked for: once, at the end of many commits
  // that nobody is told of before. The next commit of somebody else does so, too, and time. busy, io.
  Result<void> sync();

  // Whether that process, this one or another, has the file open.
  bool is_open_in(const ProcessIdentity& process) const;

  // Whether the calling thread holds a write transaction: it must not ask for another.
  bool is_writing_here() const;

  // From here on who waits to write ends with interrupted when the number changes, which must outlive the
  // Environment. For who has just opened it.
  void heed(const std::atomic<uint64_t>& interrupts) noexcept { interrupts_ = &interrupts; }

  // Begins a write transaction held over several calls; other writers wait meanwhile. All calls on it and its
  // destruction belong to this thread. Errors as of write.
  Result<std::unique_ptr<ExplicitWrite>> begin_write();

  // Whether the map has to grow, which waits for the snapshots of this process to end: who can do with a
  // newer one should end its own. Who holds one must not wait for a write.
  bool wants_snapshots_to_end() const noexcept;

  // Opens a table for all transactions that begin (or are renewed) from now on; nothing if there is none.
  // Inside a write transaction use WriteTransaction::open_table.
  Result<std::optional<Table>> open_table(std::string_view name);
  // Whether the calling thread's write transaction has made or opened a table: until it ends, none can be
  // opened outside of it, nor is one of its own known.
  bool is_making_tables_here() const;

  // Tables that another process has dropped, so that no transaction that begins from now on sees them: their
  // slots are free for others once no transaction of this process is at work. Who has one of them gets
  // container_not_found from then on.
  void close_gone_tables(std::vector<std::string> names);

  // What this process keeps in memory about a table, once for all Environments of the file, and as long as
  // somebody has it: one kind of thing for each table. `make` gives a shared_ptr to it, null if it cannot.
  template <typename Object, typename Make>
  std::shared_ptr<Object> share(Table table, const Make& make) const {
    return std::static_pointer_cast<Object>(share_any(table, make));
  }

  // What holds for the file in this process. strengthen() never weakens it, since others may rely on it.
  Durability durability() const noexcept;
  void strengthen(Durability durability) noexcept;

  // Frees what processes that died have left in the reader table; how many. Done by itself at open, when
  // slots run out, and when the map grows.
  Result<uint32_t> clear_stale_readers();

  // Has the machine begin to write to the disk what the file has in memory, without waiting for it: a commit
  // that is under way then has less to wait for.
  void begin_writeback() const noexcept;

  // Room in the file that commits have left, and that is kept while they are not synced, is used again from
  // the next write with Sync::later on, which waits for the disk once for it.
  void reuse_room() const noexcept;

  // Tests put their own time here; it holds for the file in this process. Transactions that have begun keep
  // theirs.
  void use_clock(UnixClock clock) noexcept;

  // What is wrong with the pages that the newest commit leads to, up to so many faults. Until this says that
  // nothing is, LMDB must not be asked to walk a damaged file. `on_bytes` is told of those that were read;
  // its error ends the walk. busy, io.
  Result<std::vector<PageFault>> check_pages(
      size_t most_faults, const std::function<Result<void>(uint64_t bytes)>& on_bytes) const;
  Result<FileFacts> facts() const;
  // Writes a copy of the file as it is now, without its free pages, while others read and write; it
  // gets its name when it is whole and on the disk. `on_bytes` is told of those that were read, to look at
  // the pages first, and then of those that were written; its error ends the copy. Errors besides:
  // cannot_open (there is a file already, or none can be made), busy, corrupt, no_space, io.
  Result<void> copy_to(const std::string& path,
                       const std::function<Result<void>(uint64_t bytes)>& on_bytes = nullptr) const;
  const std::string& path() const noexcept { return path_; }
  // The folder that the file lies in now, wherever the process has gone since it was opened. Of a database in
  // memory: that for temporary files.
  std::string folder() const;
  bool is_read_only() const noexcept { return options_.read_only; }
  // Drawn at the file's creation; the root of _rid and _self.
  uint32_t database_number() const noexcept;
  Table meta() const noexcept;
  Table catalog() const noexcept;

 private:
  Environment(std::string path, const FileOptions& options, std::shared_ptr<FileState> state);
  std::shared_ptr<void> share_any(Table table, const std::function<std::shared_ptr<void>()>& make) const;

  std::string path_;
  FileOptions options_;
  const std::atomic<uint64_t>* interrupts_ = nullptr;
  // Shared, since the Environments of one file in a process share its LMDB environment; the last one closes
  // it.
  std::shared_ptr<FileState> state_;
};

// A write transaction over several calls. Rolls back when destroyed without a commit.
class ExplicitWrite {
 public:
  ~ExplicitWrite();
  ExplicitWrite(const ExplicitWrite&) = delete;
  ExplicitWrite& operator=(const ExplicitWrite&) = delete;

  WriteTransaction& transaction() noexcept;

  // Ends the transaction in either case. Fails with transaction_too_large, all undone, where it has gone past
  // its limit (WriteTransaction::limit_size); with busy, all undone, in the rare case that the map could not
  // take the transaction's data: it has been grown meanwhile, so run the transaction again.
  Result<void> commit();
  void rollback() noexcept;

 private:
  friend class Environment;
  struct Held;
  explicit ExplicitWrite(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

}  // namespace quire::engine
