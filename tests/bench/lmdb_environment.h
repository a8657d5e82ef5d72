// LMDB's handles as the works use them: they close themselves, and what fails ends the run.
#pragma once

#include <lmdb.h>
#include <xxhash.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "tests/bench/must.h"

namespace quire::bench {

inline void lmdb_must(int code) {
  must(code == MDB_SUCCESS, std::string("lmdb: ") + mdb_strerror(code));
}

template <auto kRelease>
struct ReleaseLmdb {
  template <typename T>
  void operator()(T* handle) const noexcept {
    kRelease(handle);
  }
};
using Environment = std::unique_ptr<MDB_env, ReleaseLmdb<mdb_env_close>>;
using LmdbTransaction = std::unique_ptr<MDB_txn, ReleaseLmdb<mdb_txn_abort>>;
using Cursor = std::unique_ptr<MDB_cursor, ReleaseLmdb<mdb_cursor_close>>;

inline Environment open_environment(const std::string& path, unsigned flags) {
  MDB_env* handle = nullptr;
  lmdb_must(mdb_env_create(&handle));
  Environment environment(handle);
  lmdb_must(mdb_env_set_mapsize(handle, size_t{1} << 40));
  lmdb_must(mdb_env_set_maxdbs(handle, 64));
  lmdb_must(mdb_env_open(handle, path.c_str(), flags | MDB_NOSUBDIR, 0644));
  return environment;
}

inline LmdbTransaction begin_lmdb(MDB_env* environment, unsigned flags) {
  MDB_txn* handle = nullptr;
  lmdb_must(mdb_txn_begin(environment, nullptr, flags, &handle));
  return LmdbTransaction(handle);
}
inline void commit_lmdb(LmdbTransaction transaction) {
  lmdb_must(mdb_txn_commit(transaction.release()));
}
// The unnamed table.
inline MDB_dbi open_table(MDB_txn* transaction) {
  MDB_dbi table = 0;
  lmdb_must(mdb_dbi_open(transaction, nullptr, 0, &table));
  return table;
}

inline Cursor open_cursor(MDB_txn* transaction, MDB_dbi table) {
  MDB_cursor* handle = nullptr;
  lmdb_must(mdb_cursor_open(transaction, table, &handle));
  return Cursor(handle);
}

inline MDB_val value_of(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}
inline std::string_view view_of(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

// The key of a reading: the 16-byte hash of its device, then its id.
inline std::string lmdb_item_key(std::string_view device_id, std::string_view id) {
  const XXH128_hash_t hash = XXH3_128bits(device_id.data(), device_id.size());
  std::string key(sizeof hash, '\0');
  std::memcpy(key.data(), &hash, sizeof hash);
  return key.append(id);
}

}  // namespace quire::bench
