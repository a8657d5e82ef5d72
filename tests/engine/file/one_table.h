#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/file/environment.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {

inline Result<Table> make_table(Environment& environment, std::string_view name) {
  Table table;
  QUIRE_TRY(environment.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(table, transaction.create_table(name));
    return {};
  }));
  return table;
}

// A database with one table, "t".
class OneTable : public testing::Test {
 protected:
  void open(const FileOptions& options = {}) {
    environment_ = value_of(Environment::open(path_, options));
    const auto existing = value_of(environment_->open_table("t"));
    table_ = existing ? *existing : value_of(make_table(*environment_, "t"));
  }
  Result<void> put(std::string_view key, std::string_view record) {
    return environment_->write(
        [&](WriteTransaction& transaction) { return transaction.put(table_, key, record); });
  }
  std::optional<std::string> get(std::string_view key) {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    const auto record = value_of(snapshot.get(table_, key));
    return record ? std::optional<std::string>(*record) : std::nullopt;
  }
  uint64_t count() { return value_of(value_of(environment_->begin_read()).count(table_)); }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.quire");
  std::unique_ptr<Environment> environment_;
  Table table_;
};

}  // namespace quire::engine
