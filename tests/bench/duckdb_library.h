// DuckDB by its C API, from a library that is given by its path: no header of DuckDB's is needed, and nothing
// of it is part of the project.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace quire::bench {

// duckdb_result of duckdb.h: the caller's memory, read by functions alone.
struct DuckdbResult {
  uint64_t columns = 0, rows = 0, rows_changed = 0;
  void* column_data = nullptr;
  char* message = nullptr;
  void* internal = nullptr;
};

// The functions of duckdb.h that are used here, by their names there without "duckdb_".
struct DuckdbFunctions {
  int (*open)(const char* path, void** database);
  void (*close)(void** database);
  int (*connect)(void* database, void** connection);
  void (*disconnect)(void** connection);
  int (*query)(void* connection, const char* sql, DuckdbResult* result);
  int (*prepare)(void* connection, const char* sql, void** statement);
  const char* (*prepare_error)(void* statement);
  int (*execute_prepared)(void* statement, DuckdbResult* result);
  void (*destroy_prepare)(void** statement);
  const char* (*result_error)(DuckdbResult* result);
  void (*destroy_result)(DuckdbResult* result);
  uint64_t (*row_count)(DuckdbResult* result);
  uint64_t (*column_count)(DuckdbResult* result);
  char* (*value_varchar)(DuckdbResult* result, uint64_t column, uint64_t row);
  int64_t (*value_int64)(DuckdbResult* result, uint64_t column, uint64_t row);
  double (*value_double)(DuckdbResult* result, uint64_t column, uint64_t row);
  void (*free)(void* memory);
  const char* (*library_version)();
};

// Loads the library; throws where it cannot, or where a function is missing.
void load_duckdb(const std::string& path);
// Of the library that was loaded.
const DuckdbFunctions& duckdb();
std::string duckdb_version();  // "" without one

// The rows of a statement, all of them.
class DuckdbRows {
 public:
  explicit DuckdbRows(const DuckdbResult& result) : result_(result) {}
  DuckdbRows(const DuckdbRows&) = delete;
  DuckdbRows& operator=(const DuckdbRows&) = delete;
  ~DuckdbRows() { duckdb().destroy_result(&result_); }

  uint64_t count() { return duckdb().row_count(&result_); }
  int64_t integer(uint64_t row, uint64_t column) { return duckdb().value_int64(&result_, column, row); }
  double real(uint64_t row, uint64_t column) { return duckdb().value_double(&result_, column, row); }
  std::string text(uint64_t row, uint64_t column);

 private:
  DuckdbResult result_;
};

class DuckdbStatement {
 public:
  DuckdbStatement(void* connection, const std::string& sql);
  DuckdbStatement(const DuckdbStatement&) = delete;
  DuckdbStatement& operator=(const DuckdbStatement&) = delete;
  ~DuckdbStatement() { duckdb().destroy_prepare(&handle_); }
  DuckdbRows run();

 private:
  void* handle_ = nullptr;
};

class DuckdbFile {
 public:
  explicit DuckdbFile(const std::string& path, int threads = 1);
  DuckdbFile(const DuckdbFile&) = delete;
  DuckdbFile& operator=(const DuckdbFile&) = delete;
  ~DuckdbFile();
  void run(const std::string& sql);
  DuckdbStatement prepare(const std::string& sql) { return DuckdbStatement(connection_, sql); }

 private:
  void* database_ = nullptr;
  void* connection_ = nullptr;
};

}  // namespace quire::bench
