#include "tests/bench/rounds.h"

#include <fmt/format.h>

#include "tests/bench/must.h"

namespace quire::bench {
namespace {

struct Row {
  const Work* work;
  std::array<std::vector<double>, kPeers> figures = {};  // one for each round; empty: no such work
};

// Who takes part, and with which fixture.
struct Turn {
  Peer peer;
  Side Work::* side;
  const Fixture& fixture;
};

// Runs one side and keeps its figure; answers must be equal.
void measure(const Turn& turn, Row& row, std::string& answer) {
  const Side& side = row.work->*turn.side;
  if (!side) return;
  const Sample sample = side(turn.fixture);
  row.figures[static_cast<size_t>(turn.peer)].push_back(sample.figure);
  if (sample.answer.empty()) return;
  must(answer.empty() || answer == sample.answer,
       fmt::format("{}: the answers differ:\n{}\n{}", row.work->name, answer, sample.answer));
  answer = sample.answer;
}

Comparison result_of(const Row& row, uint64_t items) {
  Comparison result{.work = std::string(row.work->name),
                    .unit = std::string(row.work->unit),
                    .more_is_better = row.work->more_is_better,
                    .items = items,
                    .rounds = row.figures};
  for (size_t peer = 0; peer < kPeers; ++peer) result.figures[peer] = median(row.figures[peer]);
  return result;
}

}  // namespace

std::vector<Comparison> run_rounds(const Fixture& fixture, const Wanted& wanted, size_t rounds) {
  Fixture binary = fixture;
  binary.sqlite_json = SqliteJson::jsonb;
  std::vector<Turn> turns = {{Peer::quire, &Work::quire, fixture},
                             {Peer::lmdb, &Work::lmdb, fixture},
                             {Peer::sqlite, &Work::sqlite, fixture}};
  if (wanted.has_jsonb) turns.push_back({Peer::sqlite_jsonb, &Work::sqlite, binary});
  if (wanted.has_duckdb) turns.push_back({Peer::duckdb, &Work::duckdb, fixture});
  std::vector<Row> rows;
  for (const Work& work : works())
    if (wanted.takes(work)) rows.push_back({&work});
  // The other works read what the imports leave.
  const Work& import = works().front();
  if (rows.empty() || rows.front().work != &import)
    for (const Turn& turn : turns) (import.*turn.side)(turn.fixture);
  for (size_t round = 0; round < rounds; ++round)
    for (Row& row : rows) {
      std::string answer;
      for (size_t i = 0; i < turns.size(); ++i) measure(turns[(round + i) % turns.size()], row, answer);
    }
  std::vector<Comparison> results;
  for (const Row& row : rows) results.push_back(result_of(row, fixture.readings.count()));
  return results;
}

}  // namespace quire::bench
