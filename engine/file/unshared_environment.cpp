#include "engine/file/unshared_environment.h"

#include <lmdb.h>

#include <cerrno>

#include "engine/file/table_registry.h"

namespace quire::engine {

int open_unshared(const std::string& path, uint64_t bytes, uint64_t room,
                  EnvironmentHandle& environment) noexcept {
  constexpr uint64_t kLeastRoom = uint64_t{4} << 20;
  constexpr uint64_t kMapUnit = uint64_t{1} << 16;  // a multiple of every page size
  for (;; room /= 2) {
    MDB_env* created = nullptr;
    int code = mdb_env_create(&created);
    environment.reset(created);
    if (code == MDB_SUCCESS) code = mdb_env_set_maxdbs(created, kMostTables);
    if (code == MDB_SUCCESS)
      code = mdb_env_set_mapsize(created, (bytes + room + kMapUnit - 1) / kMapUnit * kMapUnit);
    if (code == MDB_SUCCESS) code = mdb_env_open(created, path.c_str(), MDB_NOSUBDIR | MDB_NOLOCK, 0);
    // Valgrind calls a map that it has no room for an invalid argument.
    if ((code != ENOMEM && code != EINVAL) || room / 2 < kLeastRoom) return code;
  }
}

}  // namespace quire::engine
