// The pages that the newest commit leads to, walked while a snapshot keeps them from reuse.
#pragma once

#include <string_view>
#include <vector>

#include "engine/file/file_state.h"
#include "engine/file/page_fault.h"
#include "engine/file/page_reader.h"
#include "engine/file/page_walk.h"
#include "sql/error.h"

namespace quire::engine {

// busy, io, errors of on_bytes, as of the functions below.
Result<std::vector<PageFault>> walk_snapshot(FileState& state, const PageWalk::Options& options,
                                             const OnBytes& on_bytes);

// Before a file's tables are opened, in a read transaction of that commit: all of its pages if it is not
// trusted or has no more than kPagesAlwaysWalked, else the roots alone. False if the commit's meta page is
// gone already: to be tried with a newer one. corrupt, saying what is wrong.
Result<bool> check_before_use(const FileState& state, uint64_t commit, std::string_view path,
                              bool is_trusted);
// All pages of a file that is open already. corrupt.
Result<void> check_shared(FileState& state, std::string_view path, const OnBytes& on_bytes = nullptr);
// What is wrong with the newest commit of a file that nobody has open. io, errors of on_bytes.
Result<std::vector<PageFault>> walk_unused(int descriptor, std::string_view path,
                                           const PageWalk::Options& options, const OnBytes& on_bytes);
// check_shared() of a file that nobody has open, of all pages or, where it is trusted, as before use.
// corrupt.
Result<void> check_unused(int descriptor, std::string_view path, bool is_trusted,
                          const OnBytes& on_bytes = nullptr);

// A file of up to so many pages is walked at each open.
inline constexpr uint64_t kPagesAlwaysWalked = 128;

}  // namespace quire::engine
