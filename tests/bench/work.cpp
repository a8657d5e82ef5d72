#include "tests/bench/work.h"

#include <fmt/format.h>

#include "tests/bench/nobench/nobench.h"
#include "tests/bench/sides.h"
#include "tests/bench/tpcc/tpcc.h"
#include "tests/bench/ycsb/ycsb.h"

#include <iterator>

namespace quire::bench {

std::string long_list() {
  constexpr uint64_t kNumbers = 40'000;
  constexpr uint64_t kStep = 5;  // so that they are spread over the readings
  std::string list;
  for (uint64_t i = 0; i < kNumbers; ++i)
    fmt::format_to(std::back_inserter(list), "{}{}.000", i == 0 ? "(" : ", ", i * kStep);
  return list + ')';
}

namespace {

Work ycsb(std::string_view name, YcsbRun run) {
  return {name, "ops/s", true, quire_ycsb(run), lmdb_ycsb(run), sqlite_ycsb(run)};
}

Work transactions(std::string_view name, bool is_durable) {
  return {name,
          "tx/s",
          true,
          quire_transactions(is_durable),
          lmdb_transactions(is_durable),
          sqlite_transactions(is_durable)};
}
Work nobench(std::string_view name, int number) {
  return {name, number == kNobenchLoad ? "items/s" : "queries/s",
          true, quire_nobench(number),
          {},   sqlite_nobench(number)};
}
#if QUIRE_HAS_SCRIPTS
Work tpcc(std::string_view name, TpccRun run) {
  return {name, "tx/s", true, quire_tpcc(run), {}, sqlite_tpcc(run)};
}
#endif

}  // namespace

std::span<const Work> works() {
  static const Work kWorks[] = {
      {"import", "items/s", true, quire_import, lmdb_import, sqlite_import, duckdb_import, true},
      {"point_read_value",
       "reads/s",
       true,
       quire_point_read_value,
       lmdb_point_read,
       sqlite_point_read_value,
       {},
       true},
      {"point_read_json", "reads/s", true, quire_point_read_json, nullptr, sqlite_point_read_json},
      {"scan_filter", "items/s", true, quire_scan_filter, lmdb_walk_quire_file, sqlite_scan_filter,
       duckdb_scan_filter, true},
      {"parallel_scan", "items/s", true, quire_parallel_scan, quire_scan_filter, nullptr,
       duckdb_parallel_scan},
      {"group_by", "items/s", true, quire_group_by, nullptr, sqlite_group_by, duckdb_group_by, true},
      {"join_in", "items/s", true, quire_join_in, nullptr, sqlite_join_in, duckdb_join_in},
      {"expression_filter", "items/s", true, quire_expression_filter, nullptr, sqlite_expression_filter,
       duckdb_expression_filter},
      {"like_filter", "items/s", true, quire_like_filter, nullptr, sqlite_like_filter, duckdb_like_filter},
      {"regex_filter", "items/s", true, quire_regex_filter, nullptr, sqlite_like_filter, duckdb_regex_filter},
      {"order_limit", "items/s", true, quire_order_limit, nullptr, sqlite_order_limit, duckdb_order_limit},
      {"order_full", "items/s", true, quire_order_full, nullptr, sqlite_order_full, duckdb_order_full},
      {"join_three", "orders/s", true, quire_join_three, nullptr, sqlite_join_three},
      {"in_list", "items/s", true, quire_in_list, nullptr, sqlite_in_list},
      {"prepare_in_list", "ms", false, quire_prepare_in_list, nullptr, sqlite_prepare_in_list},
      {"prepare_join", "ms", false, quire_prepare_join, nullptr, nullptr},
      {"file_size", "bytes", false, quire_file_size, lmdb_file_size, sqlite_file_size, duckdb_file_size,
       true},
      {"memory_import", "MB", false, quire_memory_import, nullptr, nullptr, {}, true},
      {"memory_scan", "MB", false, quire_memory_scan, nullptr, nullptr, {}, true},
      {"export", "items/s", true, quire_export, nullptr, sqlite_export},
      {"cold_open", "ms", false, quire_cold_open, nullptr, sqlite_cold_open},
      {"partition_query", "items/s", true, quire_partition_query, nullptr, sqlite_partition_query},
      {"index_build", "items/s", true, quire_index_build, nullptr, sqlite_index_build},
      {"index_point", "reads/s", true, quire_index_point, lmdb_index_point, sqlite_index_point, {}, true},
      {"index_range", "items/s", true, quire_index_range, lmdb_index_range, sqlite_index_range},
      {"index_range_1", "items/s", true, quire_index_range_1, lmdb_index_range, sqlite_index_range},
      {"index_order_limit",
       "queries/s",
       true,
       quire_index_order_limit,
       tenth_index_order_limit,
       sqlite_index_order_limit,
       {},
       true},
      {"array_contains", "items/s", true, quire_array_contains, scan_array_contains, sqlite_array_contains},
      {"plan_time", "us", false, quire_plan_time, nullptr, sqlite_plan_time},
      {"prepare_again", "us", false, quire_prepare_again, nullptr, sqlite_prepare_again},
      {"insert_indexed", "items/s", true, quire_insert_indexed, lmdb_insert_indexed, sqlite_insert_indexed},
      {"import_all_paths", "items/s", true, quire_import_all_paths, import_no_paths, nullptr},
      {"commit_1", "commits/s", true, quire_commit_1, lmdb_commit_1, sqlite_commit_1},
      {"commit_16", "commits/s", true, quire_commit_16, lmdb_commit_16, sqlite_commit_16},
      transactions("transactions", false),
      transactions("transactions_durable", true),
      {"commit_imported",
       "commits/s",
       true,
       quire_commit_imported,
       lmdb_commit_imported,
       sqlite_commit_imported,
       {},
       true},
      {"feed_read", "items/s", true, quire_feed_read, quire_feed_scan, nullptr},
      {"feed_read_single", "items/s", true, quire_feed_read_single, quire_feed_scan_single, nullptr},
      ycsb("ycsb_a", {'a', 2, false}),
      ycsb("ycsb_a_durable", {'a', 2, true}),
      ycsb("ycsb_a_1", {'a', 1, false}),
      ycsb("ycsb_a_1_durable", {'a', 1, true}),
      ycsb("ycsb_b", {'b', 2, false}),
      ycsb("ycsb_b_durable", {'b', 2, true}),
      ycsb("ycsb_b_1", {'b', 1, false}),
      ycsb("ycsb_b_1_durable", {'b', 1, true}),
      ycsb("ycsb_c", {'c', 2, false}),
      ycsb("ycsb_c_durable", {'c', 2, true}),
      ycsb("ycsb_c_1", {'c', 1, false}),
      ycsb("ycsb_c_1_durable", {'c', 1, true}),
      ycsb("ycsb_d", {'d', 2, false}),
      ycsb("ycsb_d_durable", {'d', 2, true}),
      ycsb("ycsb_d_1", {'d', 1, false}),
      ycsb("ycsb_d_1_durable", {'d', 1, true}),
      ycsb("ycsb_e", {'e', 2, false}),
      ycsb("ycsb_e_durable", {'e', 2, true}),
      ycsb("ycsb_e_1", {'e', 1, false}),
      ycsb("ycsb_e_1_durable", {'e', 1, true}),
      ycsb("ycsb_f", {'f', 2, false}),
      ycsb("ycsb_f_durable", {'f', 2, true}),
      ycsb("ycsb_f_1", {'f', 1, false}),
      ycsb("ycsb_f_1_durable", {'f', 1, true}),
      nobench("nobench_1", 1),
      nobench("nobench_2", 2),
      nobench("nobench_3", 3),
      nobench("nobench_4", 4),
      nobench("nobench_5", 5),
      nobench("nobench_6", 6),
      nobench("nobench_7", 7),
      nobench("nobench_8", 8),
      nobench("nobench_9", 9),
      nobench("nobench_10", 10),
      nobench("nobench_11", 11),
      nobench("nobench_12", 12),
#if QUIRE_HAS_SCRIPTS
      tpcc("new_order", {TpccRequest::new_order, false}),
      tpcc("new_order_durable", {TpccRequest::new_order, true}),
      tpcc("payment", {TpccRequest::payment, false}),
      tpcc("payment_durable", {TpccRequest::payment, true}),
      {"procedure_10", "items/s", true, quire_procedure_10, native_procedure_10, nullptr},
      {"procedure_empty", "us", false, quire_procedure_empty, nullptr, nullptr},
      {"udf_where", "ms", false, quire_udf_where, sql_udf_where, nullptr},
      {"script_first", "ms", false, quire_script_first, sql_script_first, nullptr},
#endif
  };
  return kWorks;
}

}  // namespace quire::bench
