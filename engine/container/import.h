// Bulk import: JSON lines, or one JSON array of objects, into a container.
//
//   read -> split into texts -> map, encode -> sort by item key in bounded memory -> check keys -> append
//
// What can be wrong with an item is found before the first write, so an import that fails on its data loads
// nothing. The sorted items are then written in commits of a bounded size, since LMDB holds the pages of a
// transaction in memory: killed in between, the file holds the commits made so far, each whole. They are
// synced together at the end: a power cut before takes back all of them, or the last ones.
//
// Threads share the work: the caller's reads, checks and commits, and alone calls back; others encode, sort,
// spill and merge.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/container/container.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

// Gives the next bytes of the input: how many, 0 at the end, negative on failure.
using InputReader = std::function<int64_t(char* buffer, size_t capacity)>;

struct ImportOptions {
  bool skip_errors = false;  // leave bad items out and go on
  bool upsert = false;  // replace items that exist; of two with one key in the input, the later one stays
  bool extended_json = false;  // map mongoexport's {"$oid"}, {"$date"}, ... and _id
  std::string id_path;         // "/key": copied to id as a string; empty: the item's own
  bool generate_ids = false;   // give an item without an id a UUID; otherwise it is an error
  uint32_t first_line = 1;     // what the first line of the input counts as
  // A few times a second; false stops the import.
  std::function<bool(uint64_t bytes_read, uint64_t items)> progress;
  std::function<void(uint64_t line, std::string_view message)> skipped;
  // The import ends with ErrorCode::interrupted when this changes. May be null.
  const std::atomic<uint64_t>* interrupts = nullptr;
  size_t sort_memory = size_t{64} << 20;
};

struct ImportResult {
  uint64_t items = 0;
  uint64_t skipped = 0;
  uint64_t bytes_read = 0;
};

// Errors: those of ItemEncoder and conflict, with the position in the input (line and column); io;
// interrupted; no_space. Not for who holds a write transaction.
Result<ImportResult> import_items(Environment& environment, ContainerStore& store, const InputReader& read,
                                  const ImportOptions& options);

}  // namespace quire::engine
