#include "tests/bench/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/bench/must.h"

namespace quire::bench {
namespace {

std::optional<double> median(std::vector<double> figures) {
  if (figures.empty()) return std::nullopt;
  std::ranges::sort(figures);
  const size_t middle = figures.size() / 2;
  return figures.size() % 2 == 1 ? figures[middle] : (figures[middle - 1] + figures[middle]) / 2;
}

// Above 1: Quire is better.
std::optional<double> ratio(const Row& row, const std::vector<double>& peer) {
  const auto ours = median(row.quire), theirs = median(peer);
  if (!ours || !theirs) return std::nullopt;
  return row.work->more_is_better ? *ours / *theirs : *theirs / *ours;
}

std::string figure_text(std::optional<double> figure) {
  if (!figure) return "-";
  return *figure >= 1000 ? fmt::format("{:.0f}", *figure) : fmt::format("{:.2f}", *figure);
}
std::string ratio_text(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}
std::string json_number(std::optional<double> number) {
  return number ? fmt::format("{}", *number) : "null";
}

}  // namespace

void print_table(const std::vector<Row>& rows) {
  constexpr auto kLine = "{:<18}{:<9}{:>14}{:>14}{:>14}{:>9}{:>10}\n";
  fmt::print(kLine, "work", "unit", "quire", "lmdb", "sqlite", "/ lmdb", "/ sqlite");
  for (const Row& row : rows)
    fmt::print(kLine, row.work->name, row.work->unit, figure_text(median(row.quire)),
               figure_text(median(row.lmdb)), figure_text(median(row.sqlite)),
               ratio_text(ratio(row, row.lmdb)), ratio_text(ratio(row, row.sqlite)));
}

void write_json(const std::vector<Row>& rows, const std::string& path) {
  const File file = open_file(path, "wb");
  fmt::print(file.get(), "[");
  for (const Row& row : rows)
    fmt::print(
        file.get(),
        R"({}{{"work":"{}","unit":"{}","quire":{},"lmdb":{},"sqlite":{},"ratio_lmdb":{},"ratio_sqlite":{}}})",
        &row == rows.data() ? "\n" : ",\n", row.work->name, row.work->unit, json_number(median(row.quire)),
        json_number(median(row.lmdb)), json_number(median(row.sqlite)), json_number(ratio(row, row.lmdb)),
        json_number(ratio(row, row.sqlite)));
  fmt::print(file.get(), "\n]\n");
}

}  // namespace quire::bench
