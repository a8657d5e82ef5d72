#include "engine/file/file_state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "engine/file/disk_room.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/snapshot_pages.h"
#include "engine/file/sole_use.h"
#include "engine/file/tree_copy.h"

namespace quire::engine {

FileState::InUse::~InUse() {
  unmark_in_use(descriptor);
}

FileState::~FileState() {
  anchor_keeper_.stop();
  if (is_read_only_ || is_in_memory_) return;
  // What was not synced reaches the disk at the latest here.
  constexpr std::chrono::milliseconds kPatience{1000};
  small_commits_.wait_for_thread();
  if (anchor_.is_held() && write_lock_.acquire({Clock::now() + kPatience})) {
    // What cannot be applied stays in the log, for who opens the file next.
    if (small_commits_.apply_if_possible(Clock::now() + kPatience)) {
      anchor_.hurry();
      (void)anchor_.prepare(Durability::full, 0);
    }
    write_lock_.release();
  }
  if (durability_ != Durability::full) mdb_env_sync(environment_.get(), 1);
}

void FileState::ask_for(Durability durability) noexcept {
  Durability current = durability_.load();
  while (durability < current && !durability_.compare_exchange_weak(current, durability)) {
  }
}

void FileState::let_commits_wait(bool do_wait) noexcept {
  unsigned flags = 0;
  mdb_env_get_flags(environment_.get(), &flags);
  if (((flags & MDB_NOSYNC) == 0) != do_wait)
    mdb_env_set_flags(environment_.get(), MDB_NOSYNC, do_wait ? 0 : 1);
}

Result<uint64_t> FileState::file_bytes() const {
  struct stat status;
  if (fstat(descriptor_.number(), &status) != 0)
    return std::unexpected(lmdb_error(errno, "look at the file"));
  return static_cast<uint64_t>(status.st_size);
}

void FileState::begin_writeback() const noexcept {
  // A hint: what fails here fails again, and is told, where the commit waits.
  (void)sync_file_range(descriptor_.number(), 0, 0, SYNC_FILE_RANGE_WRITE);
}

int FileState::explain_io_error(int code) const noexcept {
  return quire::engine::explain_io_error(descriptor_.number(), code);
}

MDB_envinfo FileState::info() noexcept {
  MDB_envinfo info = {};
  const MapHold hold(readers_);
  if (!readers_.is_map_lost()) mdb_env_info(environment_.get(), &info);
  return info;
}

uint64_t FileState::map_bytes() noexcept {
  return info().me_mapsize;
}

uint64_t FileState::used_bytes() noexcept {
  MDB_envinfo info;
  MDB_stat stat;
  const MapHold hold(readers_);
  if (readers_.is_map_lost()) return 0;
  mdb_env_info(environment_.get(), &info);
  mdb_env_stat(environment_.get(), &stat);
  return (info.me_last_pgno + 1) * stat.ms_psize;
}

uint64_t FileState::newest_of_tree() noexcept {
  return info().me_last_txnid;
}

uint64_t FileState::newest_commit() noexcept {
  const auto pending = small_commits_.newest();
  const uint64_t newest = newest_of_tree();
  const bool is_beside = pending != nullptr && pending->base() >= newest;
  return is_beside ? commit_number(pending->base(), pending->last()) : commit_number(newest, 0);
}

// Who may not read the file may not read its copies.
mode_t FileState::mode_of_copies() const noexcept {
  constexpr mode_t kAnybody = 0666;
  struct stat status;
  return !is_in_memory_ && fstat(descriptor_.number(), &status) == 0 ? status.st_mode : kAnybody;
}

Result<int> FileState::copy_pages(const std::string& path, const OnBytes& on_bytes) {
  for (;;) {
    {
      // LMDB's own snapshot is not counted.
      const MapHold hold(readers_);
      if (readers_.is_map_lost()) return MDB_PANIC;
      WalkAhead walk_ahead;
      if (readers_.map().is_read_exactly())
        walk_ahead = [this](const OnBytes& on_read) {
          (void)walk_snapshot(*this, {.asks_for_long_data = true}, on_read);
        };
      QUIRE_ASSIGN(const int code,
                   copy_tree(environment_.get(), path, mode_of_copies(), on_bytes, walk_ahead));
      if (code != MDB_MAP_RESIZED) return code;
    }
    ::unlink(path.c_str());
    QUIRE_TRY(readers_.adopt_map_size(deadline()));
  }
}

Result<void> FileState::grow_map(Clock::time_point deadline) {
  int dead = 0;
  mdb_reader_check(environment_.get(), &dead);
  const uint64_t before = map_bytes();
  if (before == 0) return std::unexpected(lmdb_error(MDB_PANIC, "grow the file's map"));  // it is lost
  // Twice as large, or as much larger as there is address space. LMDB cannot go back to the map that it has:
  // so what would fail should fail here.
  constexpr uint64_t kLeastGrowth = uint64_t{1} << 20, kMapUnit = uint64_t{1} << 16;
  uint64_t size = before * 2;
  void* trial = MAP_FAILED;
  for (uint64_t more = before; more >= std::min(before, kLeastGrowth) && trial == MAP_FAILED; more /= 2) {
    size = (before + more) / kMapUnit * kMapUnit;
    trial = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor_.number(), 0);
  }
  if (trial == MAP_FAILED) return std::unexpected(lmdb_error(errno, "grow the file's map"));
  munmap(trial, size);
  return readers_.while_idle(deadline, [&] { return mdb_env_set_mapsize(environment_.get(), size); });
}

}  // namespace quire::engine
