#include "tests/bench/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "quire/quire.hpp"
#include "tests/bench/must.h"

namespace quire::bench {
namespace {

constexpr std::array<std::string_view, kPeers> kNames = {"quire", "lmdb", "sqlite", "sqlite_jsonb", "duckdb"};
constexpr Peer kRatios[] = {Peer::lmdb, Peer::sqlite, Peer::duckdb};

std::string_view name_of(Peer peer) {
  return kNames[static_cast<size_t>(peer)];
}
bool is_among(const std::vector<Peer>& peers, Peer peer) {
  return std::ranges::find(peers, peer) != peers.end();
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
std::optional<double> number_of(Value value) {
  return value.is_number() ? std::optional(value.as_real()) : std::nullopt;
}

}  // namespace

std::optional<double> median(std::vector<double> figures) {
  if (figures.empty()) return std::nullopt;
  std::ranges::sort(figures);
  const size_t middle = figures.size() / 2;
  return figures.size() % 2 == 1 ? figures[middle] : (figures[middle - 1] + figures[middle]) / 2;
}

std::optional<double> Comparison::best_sqlite() const {
  const auto text = figure(Peer::sqlite), jsonb = figure(Peer::sqlite_jsonb);
  if (!text || !jsonb) return text;
  return more_is_better ? std::max(*text, *jsonb) : std::min(*text, *jsonb);
}

std::optional<double> Comparison::ratio(Peer peer) const {
  const auto ours = figure(Peer::quire);
  const auto theirs = peer == Peer::sqlite ? best_sqlite() : figure(peer);
  if (!ours || !theirs) return std::nullopt;
  return more_is_better ? *ours / *theirs : *theirs / *ours;
}

void print_table(const std::vector<Comparison>& results) {
  std::vector<Peer> peers = {Peer::quire, Peer::lmdb, Peer::sqlite};
  for (const Peer peer : {Peer::sqlite_jsonb, Peer::duckdb})
    if (std::ranges::any_of(results,
                            [&](const Comparison& result) { return result.figure(peer).has_value(); }))
      peers.push_back(peer);
  size_t longest = 0;
  for (const Comparison& result : results) longest = std::max(longest, result.work.size());
  const auto print_left = [&](std::string_view work, std::string_view unit) {
    fmt::print("{:<{}}{:<10}", work, longest + 2, unit);
  };
  print_left("work", "unit");
  for (const Peer peer : peers) fmt::print("{:>14}", name_of(peer));
  for (const Peer peer : kRatios)
    if (is_among(peers, peer)) fmt::print("{:>10}", fmt::format("/ {}", name_of(peer)));
  fmt::print("\n");
  for (const Comparison& result : results) {
    print_left(result.work, result.unit);
    for (const Peer peer : peers) fmt::print("{:>14}", figure_text(result.figure(peer)));
    for (const Peer peer : kRatios)
      if (is_among(peers, peer)) fmt::print("{:>10}", ratio_text(result.ratio(peer)));
    fmt::print("\n");
  }
}

void write_json(const Report& report, const std::string& path) {
  const File file = open_file(path, "wb");
  fmt::print(file.get(), "[");
  for (const Comparison& result : report.results) {
    fmt::print(file.get(), R"({}{{"work":"{}","unit":"{}","items":{},"more_is_better":{})",
               &result == report.results.data() ? "\n" : ",\n", result.work, result.unit, result.items,
               result.more_is_better);
    for (size_t peer = 0; peer < kPeers; ++peer)
      fmt::print(file.get(), R"(,"{}":{})", kNames[peer], json_number(result.figures[peer]));
    for (const Peer peer : kRatios)
      fmt::print(file.get(), R"(,"ratio_{}":{})", name_of(peer), json_number(result.ratio(peer)));
    for (size_t peer = 0; peer < kPeers; ++peer)
      if (!result.rounds[peer].empty())
        fmt::print(file.get(), R"(,"rounds_{}":[{}])", kNames[peer], fmt::join(result.rounds[peer], ","));
    fmt::print(file.get(), R"(,"machine":"{}"}})", report.machine);
  }
  fmt::print(file.get(), "\n]\n");
}

// Read by Quire itself.
Report read_json(const std::string& path) {
  Database database = must(Database::open(":memory:"));
  must(database.create_container(R"({"id":"results"})"));
  Container container = must(database.container("results"));
  const File input = open_file(path, "rb");
  const auto imported = container.import(
      [&](char* buffer, size_t capacity) {
        return static_cast<int64_t>(std::fread(buffer, 1, capacity, input.get()));
      },
      {.generate_ids = true});
  if (!imported) {
    const Error& error = imported.error();
    must(false, fmt::format("{}, line {}, column {}: {}", path, error.line, error.column, error.message));
  }
  Report report;
  Statement statement = must(container.prepare("SELECT VALUE r FROM r"));
  for (const Value row : statement.rows()) {
    Comparison& result = report.results.emplace_back();
    result.work = row["work"].as_string();
    result.unit = row["unit"].as_string();
    result.items = static_cast<uint64_t>(row["items"].as_integer());
    result.more_is_better = row["more_is_better"].as_boolean();
    for (size_t peer = 0; peer < kPeers; ++peer) result.figures[peer] = number_of(row[kNames[peer]]);
    report.machine = row["machine"].as_string();
  }
  must(!statement.error() && !report.results.empty(), "there are no results in " + path);
  return report;
}

}  // namespace quire::bench
