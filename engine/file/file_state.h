// What the Environments that one process has open on one file share: the LMDB environment, the pool of
// snapshots, the writers' queue and locks, the open tables. Internal to engine/file.
//
// Order of locks, outermost first: lead of the WriteQueue, WriteLock, LMDB's writer mutex, claim on the
// TableRegistry, ReaderPool's mutex. A thread that applies what is pending (small_commits.h) takes LMDB's
// without the first two: who holds those does not ask for it before the thread is done.
#pragma once

#include <lmdb.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "engine/file/anchor.h"
#include "engine/file/anchor_keeper.h"
#include "engine/file/commit_log.h"
#include "engine/file/commit_watch.h"
#include "engine/file/environment.h"
#include "engine/file/known_places.h"
#include "engine/file/page_reader.h"
#include "engine/file/process_mark.h"
#include "engine/file/reader_pool.h"
#include "engine/file/shared_objects.h"
#include "engine/file/small_commits.h"
#include "engine/file/table_registry.h"
#include "engine/file/tree_roots.h"
#include "engine/file/write_lock.h"
#include "engine/file/write_queue.h"

namespace quire::engine {

inline constexpr unsigned kMostReaders = 1024;

struct CloseEnvironment {
  void operator()(MDB_env* environment) const noexcept { mdb_env_close(environment); }
};
using EnvironmentHandle = std::unique_ptr<MDB_env, CloseEnvironment>;

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const noexcept { return number_; }

 private:
  int number_;
};

class FileState {
 public:
  FileState(EnvironmentHandle environment, Descriptor descriptor, ProcessMark mark,
            const FileOptions& options, bool is_in_memory)
      : descriptor_(std::move(descriptor)),
        mark_(std::move(mark)),
        in_use_{descriptor_.number()},
        environment_(std::move(environment)),
        readers_(environment_.get(), std::chrono::milliseconds(options.busy_timeout_ms)),
        write_lock_(options.read_only || is_in_memory ? -1 : descriptor_.number()),
        anchor_(environment_.get(), descriptor_.number()),
        log_(descriptor_.number()),
        is_read_only_(options.read_only),
        most_read_ahead_(options.most_read_ahead),
        is_in_memory_(is_in_memory),
        busy_timeout_(options.busy_timeout_ms),
        durability_(options.durability) {}
  ~FileState();

  MDB_env* environment() const noexcept { return environment_.get(); }
  ReaderPool& readers() noexcept { return readers_; }
  TableRegistry& tables() noexcept { return tables_; }
  SharedObjects& shared_objects() noexcept { return shared_objects_; }
  TreeRoots& roots() noexcept { return roots_; }
  KnownPlaces& places() noexcept { return places_; }
  const ProcessMark& mark() const noexcept { return mark_; }
  // To read(2) from.
  int data_descriptor() const noexcept { return descriptor_.number(); }
  WriteQueue& queue() noexcept { return queue_; }
  WriteLock& write_lock() noexcept { return write_lock_; }
  CommitWatch& commits() noexcept { return commits_; }
  Anchor& anchor() noexcept { return anchor_; }
  CommitLog& log() noexcept { return log_; }
  SmallCommits& small_commits() noexcept { return small_commits_; }
  AnchorKeeper& anchor_keeper() noexcept { return anchor_keeper_; }
  bool is_read_only() const noexcept { return is_read_only_; }
  uint64_t most_read_ahead() const noexcept { return most_read_ahead_; }  // as of FileOptions

  // The time of a transaction that begins now.
  uint32_t now() const noexcept { return clock_.load(std::memory_order_relaxed)(); }
  void use_clock(UnixClock clock) noexcept { clock_.store(clock, std::memory_order_relaxed); }

  Clock::time_point deadline() const { return Clock::now() + busy_timeout_; }

  // The strongest that was asked for holds; takes effect with the next write transaction.
  void ask_for(Durability durability) noexcept;
  Durability durability() const noexcept { return is_in_memory_ ? Durability::none : durability_.load(); }
  // Has LMDB's commits wait for the disk, or not; by the holder of the write lock.
  void let_commits_wait(bool do_wait) noexcept;
  bool is_in_memory() const noexcept { return is_in_memory_; }

  Result<uint64_t> file_bytes() const;
  void begin_writeback() const noexcept;
  // See disk_room.h.
  int explain_io_error(int code) const noexcept;
  uint64_t map_bytes() noexcept;
  uint64_t used_bytes() noexcept;
  // The newest commit, of whichever process, as Transaction::number() tells it.
  uint64_t newest_commit() noexcept;
  // LMDB's own number of its newest one.
  uint64_t newest_of_tree() noexcept;
  MDB_envinfo info() noexcept;
  // copy_tree() in a map that is as large as the file; besides its errors, why it could not begin.
  Result<int> copy_pages(const std::string& path, const OnBytes& on_bytes);
  // Doubles the map. No transaction of the caller may be at work.
  Result<void> grow_map(Clock::time_point deadline);
  // Whether a transaction was rolled back for want of room in the map.
  bool is_room_asked_for() const noexcept { return is_room_asked_for_.load(std::memory_order_relaxed); }
  void ask_for_room(bool is_asked_for = true) noexcept {
    is_room_asked_for_.store(is_asked_for, std::memory_order_relaxed);
  }

  struct Facts {
    uint32_t database_number = 0;
    Table meta;
    Table catalog;
    MDB_dbi main = 0;  // the tree of tables
    uint32_t page_bytes = 0;
  };
  Facts facts;  // set before the state is shared

 private:
  mode_t mode_of_copies() const noexcept;

  Descriptor descriptor_;  // of the data file, for WriteLock
  ProcessMark mark_;       // ends when LMDB has closed its lock file
  // Unmarks it when LMDB has closed its lock file.
  struct InUse {
    int descriptor;
    ~InUse();
  } in_use_;
  EnvironmentHandle environment_;
  ReaderPool readers_;
  TableRegistry tables_;
  SharedObjects shared_objects_;
  TreeRoots roots_;
  KnownPlaces places_;
  WriteQueue queue_;
  WriteLock write_lock_;
  CommitWatch commits_;
  Anchor anchor_;
  CommitLog log_;
  SmallCommits small_commits_{*this};
  AnchorKeeper anchor_keeper_{*this};
  bool is_read_only_;
  uint64_t most_read_ahead_;
  bool is_in_memory_;
  std::atomic<bool> is_room_asked_for_ = false;
  std::chrono::milliseconds busy_timeout_;
  std::atomic<Durability> durability_;
  std::atomic<UnixClock> clock_{[]() noexcept { return static_cast<uint32_t>(std::time(nullptr)); }};
};

}  // namespace quire::engine
