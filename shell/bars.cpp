#include "shell/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace quire::shell {
namespace {

constexpr uint64_t kWidest = 30;  // columns
// Parts of a column, an eighth each.
constexpr uint64_t kParts = 8;
constexpr std::string_view kPartial[kParts] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

}  // namespace

std::string bar(uint64_t value, uint64_t greatest) {
  if (value == 0 || greatest == 0) return {};
  const double share = std::min(1.0, static_cast<double>(value) / static_cast<double>(greatest));
  const auto eighths = std::max<uint64_t>(1, static_cast<uint64_t>(share * kWidest * kParts));
  std::string text;
  for (uint64_t i = 0; i < eighths / kParts; ++i) text += "█";
  return text.append(kPartial[eighths % kParts]);
}

std::string histogram(std::span<const HistogramRow> rows, size_t indent) {
  uint64_t most = 0;
  size_t widest = 0;
  for (const HistogramRow& row : rows) {
    most = std::max(most, row.count);
    widest = std::max(widest, fmt::formatted_size("{}", row.up_to));
  }
  std::string text;
  for (const HistogramRow& row : rows)
    text += fmt::format("{:{}}up to {:>{}} {} {}\n", "", indent, row.up_to, widest, bar(row.count, most),
                        row.count);
  return text;
}

}  // namespace quire::shell
