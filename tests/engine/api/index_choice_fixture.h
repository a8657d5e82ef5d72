// A container with indexes beside one of the same items without: for tests of which way a plan takes.
#pragma once

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <string_view>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {

// Containers c, with indexes, and d, without, of the same items.
class IndexChoiceTest : public DatabaseTest {
 protected:
  void SetUp() override {
    for (const char* name : {"c", "d"}) {
      make(name, "/p");
      std::string lines;
      for (int i = 0; i < 20'000; ++i)
        lines += fmt::format(R"({{"id":"{}","p":"p{}","a":{},"b":{},"few":{},"text":"{:0>6}"}})", i, i % 50,
                             i % 100, i * 7 % 101, i % 10, i * 7919 % 20'000) +
                 "\n";
      std::istringstream input(lines);
      ASSERT_TRUE(succeeds(database_->container(name)->import(input)));
    }
    for (const char* path : {"a", "b", "few", "text"})
      ASSERT_EQ(query(fmt::format("CREATE INDEX {0} ON c ({0})", path)), "");
  }
  std::string plan(std::string_view sql) { return query("EXPLAIN " + std::string(sql)); }
  // The same without indexes.
  std::string scanned(std::string sql) {
    const size_t at = sql.find("FROM c");
    return query(sql.replace(at, 6, "FROM d c"));
  }
};

}  // namespace quire::tests
