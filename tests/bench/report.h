// What a run found: medians, ratios, the table and the JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quire::bench {

enum class Peer { quire, lmdb, sqlite, sqlite_jsonb, duckdb };
inline constexpr size_t kPeers = 5;

// A row of the table: one work at one size, on all sides.
struct Comparison {
  std::string work, unit;
  bool more_is_better = true;
  uint64_t items = 0;
  std::array<std::optional<double>, kPeers> figures = {};  // medians; none: no such work
  std::array<std::vector<double>, kPeers> rounds = {};     // what they are of; not read back

  std::optional<double> figure(Peer peer) const { return figures[static_cast<size_t>(peer)]; }
  // The better of JSON text and JSONB.
  std::optional<double> best_sqlite() const;
  // Above 1: Quire is better. Peer::sqlite: than the better of SQLite's two.
  std::optional<double> ratio(Peer peer) const;
};

struct Report {
  std::string machine;  // one line
  std::vector<Comparison> results;
};

std::optional<double> median(std::vector<double> figures);

void print_table(const std::vector<Comparison>& results);
void write_json(const Report& report, const std::string& path);
// What write_json wrote.
Report read_json(const std::string& path);

}  // namespace quire::bench
