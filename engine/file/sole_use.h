// Who has a file open: nobody else, or somebody with another lock file. Internal to engine/file.
//
// LMDB's lock file holds the writers' mutex and the readers' table: with another one, two processes would not
// see each other and overwrite each other's commits. So each that has the database open says so in the
// database file, too, by a shared lock on a byte past every end.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "engine/file/file_state.h"
#include "sql/error.h"

namespace quire::engine {

// For whose turn it is: a descriptor of the lock file of the database at `path`; while it is open nobody can
// open the database, who tries waits. Nothing if somebody has it open. Not for a file that this process has
// open: closing the descriptor would drop LMDB's locks.
Result<std::optional<Descriptor>> lock_for_sole_use(const std::string& path);

// Who else has the database open: `one_alone` has locked it for sole use, or is about to open it.
enum class OpenBy : uint8_t { nobody, others, one_alone };
Result<OpenBy> opened_by(const std::string& path);

// Who opens a file does so in turn, from before it is settled until LMDB has it open; so does who holds it
// for sole use. LMDB sets its lock file up for who finds nobody else there; who had to wait for somebody
// takes it as it is, and after a kill, or when the log's commits have been made again, that leads to an older
// commit. Until end_turn(), or until the descriptor is closed. Readers may do so together. busy past the
// deadline.
Result<void> take_turn(int descriptor, const std::string& path, bool read_only, Clock::time_point deadline);
void end_turn(int descriptor) noexcept;

// cannot_open where something else has the lock file's name: a folder, say, or a pipe, which an open waits
// for.
Result<void> check_lock_file(const std::string& path);

// Before LMDB opens a file: waits while somebody has the lock file for sole use who took his turn at another
// file, the one that he compacted into this one. LMDB would wait, too, and then take a lock file as it is
// that was the other file's. busy past the deadline.
Result<void> wait_for_lock_file(const std::string& path, Clock::time_point deadline);

// Holds, as long as the descriptor of the database file is open, that it is in use; or until it is unmarked,
// which its close does not do where a child of fork() has the descriptor, too.
Result<void> mark_in_use(int descriptor, const std::string& path);
void unmark_in_use(int descriptor) noexcept;

// ---- Commits that only this process has in memory (small_commits.h)

// Before a file is opened: says that this process wants to have it open, waits until no other one keeps
// others out, and sees to it that none does, as long as the descriptor is open. busy past the deadline.
Result<void> come_in(int descriptor, const std::string& path, Clock::time_point deadline);
// For who has come in: false if others have, too. Until let_others_in().
bool keep_others_out(int descriptor) noexcept;
void let_others_in(int descriptor) noexcept;
// Whether others have come in, or wait for it.
bool is_open_elsewhere(int descriptor) noexcept;

// Has the disk keep room for the lock file of a database that this process is about to open: LMDB maps a new
// one, whose pages have no place yet, and dies of SIGBUS where there is none. no_space.
Result<void> reserve_lock_file(const std::string& path);

// busy where somebody has the database open, but not the lock file: that was deleted, or is another one's,
// since the file was moved, or has another name by a hard link. Before it is opened, in a process that does
// not have this lock file open.
Result<void> refuse_without_lock_file(int descriptor, const std::string& path);

// busy where somebody has the lock file open with another database, which was under this name. For who has
// come in, before it is opened, in a process that does not have this lock file open.
Result<void> refuse_foreign_lock_file(int descriptor, const std::string& path);
// Its error.
std::unexpected<Error> foreign_lock_file(const std::string& path);

}  // namespace quire::engine
