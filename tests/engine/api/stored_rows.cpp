#include "tests/engine/api/stored_rows.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "engine/catalog/script_seals.h"
#include "engine/file/environment.h"
#include "engine/file/file_cursor.h"

namespace quire::tests {
namespace {

Result<std::vector<std::pair<std::string, std::string>>> rows_of(const engine::Transaction& transaction,
                                                                 engine::Table table,
                                                                 std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> rows;
  QUIRE_ASSIGN(auto cursor, engine::FileCursor::open(transaction, table));
  QUIRE_ASSIGN(bool is_there, cursor.seek(prefix));
  while (is_there && cursor.key().starts_with(prefix)) {
    rows.emplace_back(cursor.key(), cursor.record());
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return rows;
}

}  // namespace

size_t change_rows(const std::string& path, RowsOf table, std::string_view prefix,
                   const std::function<void(std::string& record)>& change) {
  size_t count = 0;
  const auto run = [&]() -> Result<void> {
    QUIRE_ASSIGN(const auto environment, engine::Environment::open(path));
    const engine::Table which = table == RowsOf::meta ? environment->meta() : environment->catalog();
    return environment->write([&](engine::WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(auto rows, rows_of(transaction, which, prefix));
      count = rows.size();
      for (auto& [key, record] : rows) {
        change(record);
        if (record.empty())
          QUIRE_TRY(transaction.erase(which, key));
        else
          QUIRE_TRY(transaction.put(which, key, record));
      }
      return {};
    });
  };
  const auto done = run();
  EXPECT_TRUE(done.has_value()) << done.error().message;
  return count;
}

bool machine_is_known() {
  return engine::machine_identity().is_lasting;
}

}  // namespace quire::tests
