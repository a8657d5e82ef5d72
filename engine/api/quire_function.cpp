// The table of built-in functions, for those who complete and document them.
#include "sql/functions/function.h"

#include "quire/quire.h"

extern "C" {

// Every text of the table is a literal, so it ends in NUL.
int quire_function_at(size_t index, quire_function* function) {
  if (function == nullptr) return 0;
  for (const auto family : quire::sql::all_functions()) {
    if (index < family.size()) {
      const quire::sql::Function& row = family[index];
      *function = {row.name.data(), row.signature.data(), row.summary.data()};
      return 1;
    }
    index -= family.size();
  }
  const auto aggregates = quire::sql::all_aggregates();
  if (index >= aggregates.size()) return 0;
  const quire::sql::AggregateRow& row = aggregates[index];
  *function = {row.name.data(), row.name.data(), row.summary.data()};
  return 1;
}

}  // extern "C"
