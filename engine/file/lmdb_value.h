// Bytes as LMDB takes them. It does not write to those of a key, or of a record that it is given.
#pragma once

#include <lmdb.h>

#include <string_view>

namespace quire::engine {

inline MDB_val lmdb_value(std::string_view bytes) noexcept {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

}  // namespace quire::engine
