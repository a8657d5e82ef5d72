// The commits that the log holds behind an anchor, made again. Internal to engine/file.
#pragma once

#include <string>

#include "engine/file/anchor.h"
#include "sql/error.h"

namespace quire::engine {

// For a file that nobody else can open, which has been taken back to that anchor. All commits are made as
// one, which takes no page of the anchor: where it comes to nothing, or the power is cut, it can be done
// again. The pages are looked at before LMDB sees them, all of them unless the file is trusted. corrupt,
// no_space, io.
Result<void> replay_log(int descriptor, const std::string& path, const AnchorRecord& anchor, bool is_trusted);

// The same for what was pending behind the newest commit of a file, of durability `relaxed`.
Result<void> replay_pending(int descriptor, const std::string& path, bool is_trusted);

// What the log of a copy holds was pending behind a commit of the file that it is a copy of, which counts its
// commits otherwise: it is nothing any more. Not synced. no_space, io.
Result<void> forget_pending(const std::string& path);

}  // namespace quire::engine
