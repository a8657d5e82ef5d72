// What a damaged file still holds, saved into a new one: every record whose checksum is right, the
// definitions, the scripts. The damaged file is only read, page by page, so that it does not matter which of
// its trees are broken.
//
// Items get new numbers (_lsn, _rid, and with them _etag); their _ts stays. Indexes and the change feed are
// made anew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/container/long_work.h"
#include "sql/error.h"

namespace quire::engine {

struct RecoveredContainer {
  std::string name;
  uint64_t salvaged = 0;  // items
  uint64_t lost = 0;      // as far as is known: where the counters are lost too, those that were seen
  std::vector<std::string> notes;
};

struct Recovery {
  std::vector<RecoveredContainer> containers;
  uint64_t salvaged = 0;
  uint64_t lost = 0;

  // {"container": "c", "salvaged": 98, "lost": 2, "notes": ["..."]} each.
  std::vector<std::string> rows() const;
};

// cannot_open (no such file; or there is one where the new one is to be), permission, not_a_database (not one
// page of it is of use), busy (it was written to meanwhile), errors of writing the new file, interrupted. If
// it fails there is no new file. It tells of bytes read.
Result<Recovery> recover_file(const std::string& damaged, const std::string& fresh,
                              const WorkOptions& options = {});

}  // namespace quire::engine
