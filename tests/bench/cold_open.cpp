// Opening the imported file and answering one point read, as a whole process: the shell of each side.
#include <fmt/format.h>

#include <algorithm>

#include "tests/bench/child_process.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

Sample measure_process(const std::vector<std::string>& command) {
  constexpr size_t kRuns = 15;
  std::string answer = output_of(command);
  std::vector<double> milliseconds;
  for (size_t run = 0; run < kRuns; ++run)
    milliseconds.push_back(1000 * seconds_of([&] { answer = output_of(command); }));
  std::ranges::nth_element(milliseconds, milliseconds.begin() + kRuns / 2);
  return {milliseconds[kRuns / 2], answer};
}

}  // namespace

Sample quire_cold_open(const Fixture& fixture) {
  must(!fixture.shell.empty(), "the quire program is not beside quire-bench; name it by --shell");
  const ReadingKey& key = fixture.probes.front();
  return measure_process(
      {fixture.shell, fixture.quire_file(),
       fmt::format("SELECT VALUE r.metricValue FROM readings r WHERE r.deviceId = '{}' AND r.id = '{}'",
                   key.device_id, key.id)});
}

Sample sqlite_cold_open(const Fixture& fixture) {
  must(is_installed("sqlite3"), "the program sqlite3 is not installed");
  const ReadingKey& key = fixture.probes.front();
  Fixture text = fixture;  // which the program that is installed knows in any case
  text.sqlite_json = SqliteJson::text;
  return measure_process(
      {"sqlite3", text.sqlite_file(SqliteLayout::rowid),
       fmt::format("SELECT json_extract(json, '$.metricValue') FROM readings WHERE pk = '{}' AND id = '{}'",
                   key.device_id, key.id)});
}

}  // namespace quire::bench
