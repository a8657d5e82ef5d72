#include "sql/run/vector.h"

namespace quire::sql {
namespace {

constexpr std::array<RowNumber, kBatchSize> number_rows() {
  std::array<RowNumber, kBatchSize> rows{};
  for (size_t i = 0; i < kBatchSize; ++i) rows[i] = static_cast<RowNumber>(i);
  return rows;
}
constexpr std::array<RowNumber, kBatchSize> kRowNumbers = number_rows();

}  // namespace

Rows first_rows(size_t count) {
  return Rows(kRowNumbers).first(count);
}

}  // namespace quire::sql
