#include "tests/bench/work.h"

#include "tests/bench/sides.h"

namespace quire::bench {

std::span<const Work> works() {
  static constexpr Work kWorks[] = {
      {"import", "items/s", true, quire_import, lmdb_import, sqlite_import},
      {"point_read_value", "reads/s", true, quire_point_read_value, lmdb_point_read, sqlite_point_read_value},
      {"point_read_json", "reads/s", true, quire_point_read_json, nullptr, sqlite_point_read_json},
      {"scan_filter", "items/s", true, quire_scan_filter, lmdb_walk_quire_file, sqlite_scan_filter},
      {"group_by", "items/s", true, quire_group_by, nullptr, sqlite_group_by},
      {"join_in", "items/s", true, quire_join_in, nullptr, sqlite_join_in},
      {"file_size", "bytes", false, quire_file_size, lmdb_file_size, sqlite_file_size},
      {"cold_open", "ms", false, quire_cold_open, nullptr, sqlite_cold_open},
  };
  return kWorks;
}

}  // namespace quire::bench
