// The functions that library.js may call out of the sandbox, one row each; the library gets their numbers by
// name.
#pragma once

#include <cstdint>
#include <string_view>

namespace quire::engine {

enum class HostFunction : uint32_t {
  accept,
  collection,
  read,
  create,
  upsert,
  replace,
  patch,
  remove,
  feed,
  log,
  random,
  abort
};
inline constexpr std::string_view kHostFunctionNames[] = {"accept", "collection", "read",   "create",
                                                          "upsert", "replace",    "patch",  "remove",
                                                          "feed",   "log",        "random", "abort"};

// How stacks name the library; frames of it are not shown.
inline constexpr std::string_view kLibraryFile = "quire:library";

}  // namespace quire::engine
