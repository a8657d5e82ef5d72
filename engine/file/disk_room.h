// Internal to engine/file.
#pragma once

#include <cstdint>

namespace quire::engine {

// Whether the disk lets a file grow by so many bytes now: 0, or what errno says of it. Nothing has changed
// then. For who holds the write lock.
int try_disk_room(int descriptor, uint64_t bytes) noexcept;

// Whether that, or what LMDB met, is for want of room.
bool is_no_room(int code) noexcept;

// LMDB reports a write that a full disk cut short as an I/O error: the code that says what it was.
int explain_io_error(int descriptor, int code) noexcept;

}  // namespace quire::engine
