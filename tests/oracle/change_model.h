// What statements that change items make of lists of documents: the naive interpreter says what items a
// statement makes or takes away, and a few lines here write them down. Without indexes, transactions or
// files.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/oracle/generator.h"

namespace quire::sql::oracle {

// The items of a container as JSON.
using Items = std::vector<std::string>;

// Containers "c", with partition key /k, and "d", without one.
class ChangeModel {
 public:
  ChangeModel(Items first, Items second) : items_{{"c", std::move(first)}, {"d", std::move(second)}} {
    put_in_order();
  }

  // False: the statement is refused. Nothing: it does not mean anything.
  std::optional<bool> run(const std::string& sql, std::span<const Parameter> parameters);
  const std::map<std::string, Items>& items() const { return items_; }

 private:
  // Those of "d" lie by their ids, as in the database: an array that a subquery makes of them tells.
  void put_in_order();

  std::map<std::string, Items> items_;
};

// In any order.
bool hold_the_same(const Items& a, const Items& b);

}  // namespace quire::sql::oracle
