// LMDB copies its tree. What is pending beside it (small_commits.h) is put into the tree first; where another
// write transaction is at work, which may take its time, into the copy.
#include "engine/file/file_copy.h"

#include <fmt/format.h>
#include <lmdb.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "engine/file/disk_order.h"
#include "engine/file/file_format.h"
#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/log_replay.h"
#include "engine/file/snapshot_pages.h"
#include "engine/file/unshared_environment.h"

namespace quire::engine {
namespace {

// LMDB's code.
using Code = int;

class FileCopy {
 public:
  FileCopy(FileState& state, const std::string& to, const OnBytes& on_bytes)
      : state_(state), to_(to), on_bytes_(on_bytes) {}

  // Or errno, where there is no room or no folder for it.
  Result<Code> make() {
    SmallCommits& small = state_.small_commits();
    const Clock::time_point deadline = state_.deadline();
    do {
      const std::shared_ptr<const PendingView> pending = small.newest();
      const uint32_t upto = pending == nullptr ? 0 : pending->last();
      if (pending == nullptr || pending->commits() == 0) return copy_tree();
      QUIRE_ASSIGN(const bool is_applied, apply_pending(deadline));
      QUIRE_ASSIGN(const Code code, copy_tree());
      if (is_applied || code != MDB_SUCCESS) return code;
      // Then LMDB's tree has been one that they fit all the while.
      small.wait_for_newest();
      if (small.is_newest(pending.get())) return put(*pending, upto);
      unfinished_.reset();
    } while (Clock::now() < deadline);
    return fail(ErrorCode::busy, "the file cannot be copied while it is changed so often");
  }

  Result<void> finish(const std::string& name) {
    QUIRE_TRY(forget_pending(to_));
    return unfinished_->finish(name, false);
  }

 private:
  // Whatever comes of it is removed unless it is finished; but not what was there before.
  Result<Code> copy_tree() {
    std::string name = to_;
    const Result<Code> code = state_.copy_pages(to_, on_bytes_);
    if (code != EEXIST) unfinished_.emplace(std::move(name));
    return code;
  }

  // False if the lock that it takes, or LMDB's writing, is another's for longer.
  Result<bool> apply_pending(Clock::time_point deadline) const {
    constexpr std::chrono::milliseconds kPatience{100};
    deadline = std::min(deadline, Clock::now() + kPatience);
    if (!state_.queue().take_lead({deadline})) return false;
    const bool is_locked = state_.write_lock().acquire({deadline}).has_value();
    const Result<void> applied = is_locked ? state_.small_commits().apply(deadline) : Result<void>();
    if (is_locked) state_.write_lock().release();
    state_.queue().release();
    if (!applied && applied.error().code == ErrorCode::busy) return false;
    QUIRE_TRY(applied);
    return is_locked;
  }

  // The map of the file is large enough for the copy, too.
  Result<Code> put(const PendingView& pending, uint32_t upto) {
    const uint64_t used = state_.used_bytes();
    const uint64_t map = std::max(state_.map_bytes(), used);
    EnvironmentHandle copy;
    Code code = open_unshared(to_, used, map - used, copy);
    MDB_txn* begun = nullptr;
    if (code == MDB_SUCCESS) code = mdb_txn_begin(copy.get(), nullptr, 0, &begun);
    if (code != MDB_SUCCESS) return code;
    std::unique_ptr<MDB_txn, decltype(&mdb_txn_abort)> transaction(begun, mdb_txn_abort);
    uint32_t slot = 0;
    MDB_dbi table = 0;
    pending.for_each(upto, [&](uint32_t its_slot, const PendingView::Change& change) {
      if (its_slot != slot) code = mdb_dbi_open(begun, state_.tables().name_of(its_slot).c_str(), 0, &table);
      slot = its_slot;
      if (code == MDB_SUCCESS) code = put_into_tree(begun, table, change);
      return code == MDB_SUCCESS;
    });
    return code == MDB_SUCCESS ? mdb_txn_commit(transaction.release()) : code;
  }

  FileState& state_;
  const std::string& to_;
  const OnBytes& on_bytes_;
  std::optional<UnfinishedFile> unfinished_;
};

}  // namespace

// The copy has another name until it is whole and on the disk: one that no other copy has, so that two of
// them do not meet.
Result<void> copy_file(FileState& state, const std::string& path, const std::string& to,
                       const OnBytes& on_bytes) {
  if (to.empty()) return fail(ErrorCode::cannot_open, "the path of the copy is empty");
  // LMDB copies without a look at what it copies.
  QUIRE_TRY(check_shared(state, path, on_bytes));
  if (access(to.c_str(), F_OK) == 0)
    return fail(ErrorCode::cannot_open, "there is a file already: " + shown_path(to));
  const auto moment = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string name = fmt::format("{}-copy-{}-{:x}", to, getpid(), moment);
  FileCopy copy(state, name, on_bytes);
  QUIRE_ASSIGN(const Code code, copy.make());
  if (code == EEXIST || code == ENOENT || code == EACCES || code == ENOTDIR)
    return fail(ErrorCode::cannot_open,
                "cannot make the file " + shown_path(to) + ": " + std::strerror(code));
  if (code != MDB_SUCCESS)
    return std::unexpected(lmdb_error(code, fmt::format("copy to '{}'", shown_path(to))));
  return copy.finish(to);
}

}  // namespace quire::engine
