// NoBench (Chasseur, Li, Patel: "Enabling JSON Document Stores in Relational Systems", 2013): objects with
// nested, dynamically typed and sparse members, and twelve queries on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/bench/work.h"

namespace quire::bench {

struct NobenchQuery {
  std::string_view quire;
  std::string_view sqlite;  // json as it is given out: {json}, {left}, {right}
  bool gives_items;         // whole items, of which a side may give what it stores; otherwise members
};
inline constexpr int kNobenchLoad = 12;  // the only one that is no query

const NobenchQuery& nobench_query(int number);  // 1 to 11

// The text with the values that the query looks for in the places of {str}, {from} and so on.
std::string nobench_text(const Fixture& fixture, std::string_view query);

// The path of NDJSON with the objects, written at the first call; and how many these are.
std::string nobench_file(const Fixture& fixture);
uint64_t nobench_items(const Fixture& fixture);

// What a query gave, to be compared: rows may come in any order.
class NobenchAnswer {
 public:
  void add_row() { ++rows_; }
  void add(std::string_view text) { bytes_ += text.size(); }
  void add(int64_t number) { sum_ += number; }
  std::string text() const;

 private:
  uint64_t rows_ = 0;
  uint64_t bytes_ = 0;
  int64_t sum_ = 0;
};

Side quire_nobench(int number);
Side sqlite_nobench(int number);

}  // namespace quire::bench
