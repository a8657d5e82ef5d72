// Opening: from a path to the FileState that all Environments of the file in this process share. Internal to
// engine/file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/file/file_state.h"
#include "sql/error.h"

namespace quire::engine {

// The state of the file at `path`: the one that this process has already, or a new one.
Result<std::shared_ptr<FileState>> open_shared_file(const std::string& path, const FileOptions& options);
// Gives up a share. LMDB's environment closes with the last one, before any other thread may open the file
// again.
void close_shared_file(std::shared_ptr<FileState> state) noexcept;

// Runs `work` on a file that this process does not have open, and keeps it from opening or closing any
// meanwhile; busy if it has. Whoever opens and closes LMDB's lock file beside an open environment would drop
// that one's locks.
Result<void> while_not_open(const std::string& path, const std::function<Result<void>()>& work);

// Opens a table in a transaction of its own; the caller has claimed the registry.
Result<std::optional<Table>> open_table_of_file(FileState& state, const std::string& name);

}  // namespace quire::engine
