// SQLite at the settings that README.md says: what its side of every work uses.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

#include "tests/bench/must.h"
#include "tests/bench/work.h"

namespace quire::bench {

struct CloseConnection {
  void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* handle) const noexcept { sqlite3_finalize(handle); }
};
using SqlStatement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// Puts `to` in the places of `from`.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// In its SQL stored(x) is what is kept of JSON text, shown(x) the text of what is kept: both depend on how
// items are kept. So does json_set.
class Connection {
 public:
  explicit Connection(const std::string& path, SqliteJson json) : json_(json) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(
        path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    handle_.reset(handle);
    check(code);
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-262144; PRAGMA "
        "mmap_size=2147418112;"
        "PRAGMA temp_store=MEMORY");
  }
  void run(std::string_view sql) {
    check(sqlite3_exec(handle_.get(), adapted(sql).c_str(), nullptr, nullptr, nullptr));
  }
  SqlStatement prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(handle_.get(), adapted(sql).c_str(), -1, &statement, nullptr));
    return SqlStatement(statement);
  }
  // Whether there is a row.
  bool step(const SqlStatement& statement) {
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) check(code);
    return false;
  }

 private:
  std::string adapted(std::string_view sql) const {
    const bool is_text = json_ == SqliteJson::text;
    std::string text(sql);
    replace_all(text, "stored(", is_text ? "(" : "jsonb(");
    replace_all(text, "shown(", is_text ? "(" : "json(");
    if (!is_text) replace_all(text, "json_set(", "jsonb_set(");
    return text;
  }
  void check(int code) {
    must(code == SQLITE_OK,
         std::string("sqlite: ") + (handle_ ? sqlite3_errmsg(handle_.get()) : "cannot open"));
  }
  SqliteJson json_;
  std::unique_ptr<sqlite3, CloseConnection> handle_;
};

inline void bind_text(const SqlStatement& statement, int parameter, std::string_view text) {
  sqlite3_bind_text(statement.get(), parameter, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}
inline std::string_view text_of(const SqlStatement& statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), column));
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement.get(), column))};
}

}  // namespace quire::bench
