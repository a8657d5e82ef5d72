#include "tests/bench/duckdb_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "tests/bench/must.h"

namespace quire::bench {
namespace {

DuckdbFunctions loaded;

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  must(function != nullptr, fmt::format("the DuckDB library has no function {}", name));
}

}  // namespace

void load_duckdb(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(fmt::format("cannot load DuckDB: {}", dlerror()));
  find(library, "duckdb_open", loaded.open);
  find(library, "duckdb_close", loaded.close);
  find(library, "duckdb_connect", loaded.connect);
  find(library, "duckdb_disconnect", loaded.disconnect);
  find(library, "duckdb_query", loaded.query);
  find(library, "duckdb_prepare", loaded.prepare);
  find(library, "duckdb_prepare_error", loaded.prepare_error);
  find(library, "duckdb_execute_prepared", loaded.execute_prepared);
  find(library, "duckdb_destroy_prepare", loaded.destroy_prepare);
  find(library, "duckdb_result_error", loaded.result_error);
  find(library, "duckdb_destroy_result", loaded.destroy_result);
  find(library, "duckdb_row_count", loaded.row_count);
  find(library, "duckdb_column_count", loaded.column_count);
  find(library, "duckdb_value_varchar", loaded.value_varchar);
  find(library, "duckdb_value_int64", loaded.value_int64);
  find(library, "duckdb_value_double", loaded.value_double);
  find(library, "duckdb_free", loaded.free);
  find(library, "duckdb_library_version", loaded.library_version);
}

const DuckdbFunctions& duckdb() {
  return loaded;
}

std::string duckdb_version() {
  return loaded.library_version == nullptr ? "" : loaded.library_version();
}

std::string DuckdbRows::text(uint64_t row, uint64_t column) {
  char* const found = duckdb().value_varchar(&result_, column, row);
  std::string text = found == nullptr ? "" : found;
  duckdb().free(found);
  return text;
}

DuckdbStatement::DuckdbStatement(void* connection, const std::string& sql) {
  if (duckdb().prepare(connection, sql.c_str(), &handle_) == 0) return;
  const std::string why = duckdb().prepare_error(handle_);
  duckdb().destroy_prepare(&handle_);
  throw std::runtime_error("duckdb: " + why);
}

DuckdbRows DuckdbStatement::run() {
  DuckdbResult result;
  const int code = duckdb().execute_prepared(handle_, &result);
  if (code == 0) return DuckdbRows(result);
  const std::string why = duckdb().result_error(&result);
  duckdb().destroy_result(&result);
  throw std::runtime_error("duckdb: " + why);
}

DuckdbFile::DuckdbFile(const std::string& path, int threads) {
  must(duckdb().open(path.c_str(), &database_) == 0, "duckdb: cannot open " + path);
  if (duckdb().connect(database_, &connection_) != 0) {
    duckdb().close(&database_);
    throw std::runtime_error("duckdb: cannot connect to " + path);
  }
  run(fmt::format("SET threads = {}", threads));
}

DuckdbFile::~DuckdbFile() {
  duckdb().disconnect(&connection_);
  duckdb().close(&database_);
}

void DuckdbFile::run(const std::string& sql) {
  DuckdbResult result;
  const int code = duckdb().query(connection_, sql.c_str(), &result);
  const std::string why = code == 0 ? "" : duckdb().result_error(&result);
  duckdb().destroy_result(&result);
  must(code == 0, "duckdb: " + why);
}

}  // namespace quire::bench
