// Which scripts of a file were stored here: by this user, on this machine. The others came with the file, and
// run only where they are trusted. Table "meta" has, for each script that was stored or trusted,
//
//   key      "seal/", the container's number (4 bytes, big-endian), the kind ('f', 'p' or 't'), the name
//   value    keyed_hash of the database's number, the user, and all of the script, under the machine's id
//
// Nobody who does not know the machine's id can make such a row, or change a script without breaking its
// seal; it tells neither id nor user. Where another has stored a script under the same name since, the
// older row does not fit. A file keeps its seals in backups and compactions; .recover leaves them behind.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/catalog/catalog.h"
#include "engine/catalog/keyed_hash.h"
#include "engine/catalog/script_catalog.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

// From /etc/machine-id. Containers often have none: then a number that is kept in the user's own state
// folder, or, without one, that lasts as long as the process: what it stored itself runs, nothing else.
struct MachineIdentity {
  HashKey key{};
  bool is_lasting = false;
};
MachineIdentity identity_from(const std::string& machine_id, const std::string& own_id);
const MachineIdentity& machine_identity();

// All of it is in the file; what is kept here are the last few hashes, since each call of a script looks at
// its seal. Thread-safe.
class ScriptSeals {
 public:
  explicit ScriptSeals(const Environment& environment)
      : meta_(environment.meta()), database_(environment.database_number()) {}

  Result<bool> has(const Transaction& transaction, ContainerNumber container,
                   const ScriptDefinition& script) const;
  // For a script that was just stored, or that the user trusts.
  Result<void> put(WriteTransaction& transaction, ContainerNumber container,
                   const ScriptDefinition& script) const;
  Result<void> erase(WriteTransaction& transaction, ContainerNumber container, sql::ScriptKind kind,
                     std::string_view name) const;
  // With the container.
  static Result<void> erase_all(WriteTransaction& transaction, Table meta, ContainerNumber container);

 private:
  struct Known {
    std::string message;
    KeyedHash hash;
  };
  static constexpr size_t kMostKnown = 4;

  KeyedHash seal_of(ContainerNumber container, const ScriptDefinition& script) const;

  Table meta_;
  uint32_t database_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::array<Known, kMostKnown> known_;
  mutable size_t next_known_ = 0;
};

}  // namespace quire::engine
