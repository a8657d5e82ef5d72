// LMDB's environment of a file that nobody else has open: a copy, or one whose log's commits are made again.
// Internal to engine/file.
#pragma once

#include <cstdint>
#include <string>

#include "engine/file/file_state.h"

namespace quire::engine {

// With a map of the file's `bytes` and `room` more, or less where there is not so much address space. LMDB's
// code.
int open_unshared(const std::string& path, uint64_t bytes, uint64_t room,
                  EnvironmentHandle& environment) noexcept;

}  // namespace quire::engine
