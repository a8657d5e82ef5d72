// LMDB's return codes and errno as errors of ours.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "sql/error.h"

namespace quire::engine {

// `doing` completes "Quire could not ...": "open 'a.quire'".
Error lmdb_error(int code, std::string_view doing);
// A path as messages show it: of a long one the beginning, so that there is room for the reason.
std::string shown_path(std::string_view path);
// Of a file: "open", and its path.
std::unexpected<Error> cannot(int code, std::string_view doing, std::string_view path);
// Of what errno tells; of the disk where it tells nothing.
std::unexpected<Error> cannot(std::string_view doing);

}  // namespace quire::engine
