// All items as NDJSON in a file: `quire FILE '.export readings -'`, the whole process, beside SQLite's JSON
// column written by C++.
#include <filesystem>

#include "tests/bench/child_process.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"
#include "tests/bench/sqlite_connection.h"

namespace quire::bench {

Sample quire_export(const Fixture& fixture) {
  must(!fixture.shell.empty(), "the quire program is not beside quire-bench; name it by --shell");
  const std::string path = fixture.new_file("export.ndjson");
  const double seconds =
      seconds_of([&] { run_into(path, {fixture.shell, fixture.quire_file(), ".export readings -"}); });
  return {static_cast<double>(fixture.readings.count()) / seconds,
          std::to_string(std::filesystem::file_size(path))};
}

Sample sqlite_export(const Fixture& fixture) {
  constexpr size_t kBuffer = size_t{16} << 10;  // no slower than 1 MB
  const std::string path = fixture.new_file("export.ndjson");
  const double seconds = seconds_of([&] {
    Connection connection(fixture.sqlite_file(fixture.forced_layout.value_or(SqliteLayout::rowid)),
                          fixture.sqlite_json);
    const SqlStatement statement = connection.prepare("SELECT shown(json) FROM readings");
    const File file = open_file(path, "wb");
    std::setvbuf(file.get(), nullptr, _IOFBF, kBuffer);
    while (connection.step(statement)) {
      const std::string_view item = text_of(statement, 0);
      must(std::fwrite(item.data(), 1, item.size(), file.get()) == item.size() &&
               std::fputc('\n', file.get()) != EOF,
           "cannot write " + path);
    }
  });
  return {static_cast<double>(fixture.readings.count()) / seconds,
          std::to_string(std::filesystem::file_size(path))};
}

}  // namespace quire::bench
