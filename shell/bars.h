// Pictures in the terminal: bars and histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace quire::shell {

// As long as the value's part in the greatest one, which is 30 columns; at least a sliver unless it is 0.
std::string bar(uint64_t value, uint64_t greatest);

// How many things have up to so much, and more than the row before.
struct HistogramRow {
  uint64_t up_to = 0;
  uint64_t count = 0;
};
// A line for each row; each begins with `indent` blanks.
std::string histogram(std::span<const HistogramRow> rows, size_t indent);

}  // namespace quire::shell
