// The works as each side does them, in quire_side.cpp, lmdb_side.cpp, sqlite_side.cpp and cold_open.cpp. Each
// opens and closes its file itself: LMDB and Quire must not have the same file open at once.
#pragma once

#include "tests/bench/work.h"

namespace quire::bench {

Sample quire_import(const Fixture& fixture);
Sample quire_point_read_value(const Fixture& fixture);
Sample quire_point_read_json(const Fixture& fixture);
Sample quire_scan_filter(const Fixture& fixture);
Sample quire_parallel_scan(const Fixture& fixture);
Sample quire_group_by(const Fixture& fixture);
Sample quire_join_in(const Fixture& fixture);
Sample quire_expression_filter(const Fixture& fixture);
Sample quire_like_filter(const Fixture& fixture);
Sample quire_regex_filter(const Fixture& fixture);
Sample quire_order_limit(const Fixture& fixture);
Sample quire_order_full(const Fixture& fixture);
Sample quire_join_three(const Fixture& fixture);
Sample quire_in_list(const Fixture& fixture);
Sample quire_prepare_in_list(const Fixture& fixture);
Sample quire_prepare_join(const Fixture& fixture);
Sample quire_file_size(const Fixture& fixture);
Sample quire_cold_open(const Fixture& fixture);

Sample lmdb_import(const Fixture& fixture);
// mdb_get of the same key, and a look at the value.
Sample lmdb_point_read(const Fixture& fixture);
// A bare cursor over the items of Quire's own file: what no scan can beat.
Sample lmdb_walk_quire_file(const Fixture& fixture);
Sample lmdb_file_size(const Fixture& fixture);

Sample sqlite_import(const Fixture& fixture);
Sample sqlite_point_read_value(const Fixture& fixture);
Sample sqlite_point_read_json(const Fixture& fixture);
Sample sqlite_scan_filter(const Fixture& fixture);
Sample sqlite_group_by(const Fixture& fixture);
Sample sqlite_join_in(const Fixture& fixture);
Sample sqlite_expression_filter(const Fixture& fixture);
Sample sqlite_like_filter(const Fixture& fixture);
Sample sqlite_order_limit(const Fixture& fixture);
Sample sqlite_order_full(const Fixture& fixture);
Sample sqlite_join_three(const Fixture& fixture);
Sample sqlite_in_list(const Fixture& fixture);
Sample sqlite_prepare_in_list(const Fixture& fixture);
Sample sqlite_file_size(const Fixture& fixture);
Sample sqlite_cold_open(const Fixture& fixture);

// All items written to a file: export_works.cpp.
Sample quire_export(const Fixture& fixture);
Sample sqlite_export(const Fixture& fixture);

// Of DuckDB's library, where one is given: duckdb_side.cpp.
Sample duckdb_import(const Fixture& fixture);
Sample duckdb_file_size(const Fixture& fixture);
Sample duckdb_scan_filter(const Fixture& fixture);
Sample duckdb_parallel_scan(const Fixture& fixture);
Sample duckdb_group_by(const Fixture& fixture);
Sample duckdb_join_in(const Fixture& fixture);
Sample duckdb_expression_filter(const Fixture& fixture);
Sample duckdb_like_filter(const Fixture& fixture);
Sample duckdb_regex_filter(const Fixture& fixture);
Sample duckdb_order_limit(const Fixture& fixture);
Sample duckdb_order_full(const Fixture& fixture);

// Memory: memory_works.cpp.
Sample quire_memory_import(const Fixture& fixture);
Sample quire_memory_scan(const Fixture& fixture);

// Server-side code: script_works.cpp. The second of each pair is what the first is measured beside.
Sample quire_procedure_10(const Fixture& fixture);
Sample native_procedure_10(const Fixture& fixture);
Sample quire_procedure_empty(const Fixture& fixture);
Sample quire_udf_where(const Fixture& fixture);
Sample sql_udf_where(const Fixture& fixture);
Sample quire_script_first(const Fixture& fixture);
Sample sql_script_first(const Fixture& fixture);

// Indexes: index_works.cpp.
Sample quire_index_build(const Fixture& fixture);
Sample sqlite_index_build(const Fixture& fixture);
Sample quire_index_point(const Fixture& fixture);
Sample sqlite_index_point(const Fixture& fixture);
Sample quire_index_range(const Fixture& fixture);
Sample quire_index_range_1(const Fixture& fixture);
Sample sqlite_index_range(const Fixture& fixture);
Sample quire_index_order_limit(const Fixture& fixture);
Sample tenth_index_order_limit(const Fixture& fixture);  // Quire over a tenth of the readings
Sample sqlite_index_order_limit(const Fixture& fixture);
Sample quire_partition_query(const Fixture& fixture);
Sample sqlite_partition_query(const Fixture& fixture);
Sample quire_insert_indexed(const Fixture& fixture);
Sample sqlite_insert_indexed(const Fixture& fixture);
Sample quire_plan_time(const Fixture& fixture);
Sample sqlite_plan_time(const Fixture& fixture);
Sample quire_prepare_again(const Fixture& fixture);
Sample sqlite_prepare_again(const Fixture& fixture);
Sample quire_array_contains(const Fixture& fixture);
Sample scan_array_contains(const Fixture& fixture);  // Quire without the index
Sample sqlite_array_contains(const Fixture& fixture);
Sample quire_import_all_paths(const Fixture& fixture);
Sample import_no_paths(const Fixture& fixture);  // Quire without indexes
// Their floor, entries and items in LMDB: lmdb_indexes.cpp.
Sample lmdb_index_point(const Fixture& fixture);
Sample lmdb_index_range(const Fixture& fixture);
Sample lmdb_insert_indexed(const Fixture& fixture);

// Durable commits of one item each: commit_works.cpp.
// _imported: into the imported file.
Sample quire_commit_imported(const Fixture& fixture);
Sample lmdb_commit_imported(const Fixture& fixture);
Sample sqlite_commit_imported(const Fixture& fixture);
Side quire_transactions(bool is_durable);
Side lmdb_transactions(bool is_durable);
Side sqlite_transactions(bool is_durable);
Sample quire_commit_1(const Fixture& fixture);
Sample lmdb_commit_1(const Fixture& fixture);
Sample sqlite_commit_1(const Fixture& fixture);
Sample quire_commit_16(const Fixture& fixture);
Sample lmdb_commit_16(const Fixture& fixture);
Sample sqlite_commit_16(const Fixture& fixture);

// The change feed, and Quire's own scan of the same items beside it: feed_works.cpp.
Sample quire_feed_read(const Fixture& fixture);
Sample quire_feed_scan(const Fixture& fixture);
Sample quire_feed_read_single(const Fixture& fixture);
Sample quire_feed_scan_single(const Fixture& fixture);

// For children whose memory is watched: an import into a file that is not there yet, or all the scans over
// it.
void quire_import_file(const std::string& readings_path, const std::string& path);
void quire_run_scans(const std::string& path);

}  // namespace quire::bench
