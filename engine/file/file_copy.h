// A copy of the file as it is at one commit. Internal to engine/file.
#pragma once

#include <string>

#include "engine/file/page_reader.h"
#include "sql/error.h"

namespace quire::engine {

class FileState;

// As Environment::copy_to, of the file at `path`.
Result<void> copy_file(FileState& state, const std::string& path, const std::string& to,
                       const OnBytes& on_bytes);

}  // namespace quire::engine
