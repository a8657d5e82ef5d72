// Reading a container's change feed from its beginning, beside Quire's own scan of the same items: all items
// in place, one member of each looked at.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "quire/quire.hpp"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

constexpr uint64_t kWrittenAlone = 50'000;
constexpr uint64_t kItemsACommit = 1'000;

struct OpenFile {
  Database database;
  Container container;

  explicit OpenFile(const std::string& path)
      : database(must(Database::open(path))), container(must(database.container("readings"))) {}
};

Sample feed_of(const std::string& path, uint64_t items) {
  OpenFile file(path);
  uint64_t read = 0;
  double sum = 0;
  const double rate = rate_of(items, [&] {
    Feed feed = must(file.container.feed());
    read = 0;
    sum = 0;
    for (auto change = must(feed.next()); change; change = must(feed.next())) {
      ++read;
      sum += change->current()["metricValue"].as_real();
    }
  });
  return {rate, fmt::format("{} {:.2f}", read, sum)};
}

Sample scan_of(const std::string& path, uint64_t items) {
  OpenFile file(path);
  Statement statement = must(file.container.prepare("SELECT VALUE c FROM c"));
  uint64_t read = 0;
  double sum = 0;
  const double rate = rate_of(items, [&] {
    read = 0;
    sum = 0;
    for (const Value item : statement.rows()) {
      ++read;
      sum += item["metricValue"].as_real();
    }
    must(!statement.error(), "quire: a query failed");
  });
  return {rate, fmt::format("{} {:.2f}", read, sum)};
}

// The first readings, written one by one, so that each has a row of its own in the feed.
std::string file_of_single_items(const Fixture& fixture) {
  std::string path = fixture.folder + "/single.quire";
  if (std::filesystem::exists(path)) return path;
  Database database = must(Database::open(path));
  must(database.create_container(R"({"id":"readings","partitionKey":{"paths":["/deviceId"]}})"));
  Container container = must(database.container("readings"));
  const File input = open_file(fixture.readings.path(), "rb");
  char line[4096];
  for (uint64_t i = 0; i < kWrittenAlone;) {
    Transaction transaction = must(database.begin_transaction());
    for (uint64_t end = i + kItemsACommit; i < end; ++i)
      if (std::fgets(line, sizeof line, input.get()) != nullptr)
        must(container.create({line, std::strlen(line) - 1}, &transaction));
    must(transaction.commit());
  }
  return path;
}

}  // namespace

Sample quire_feed_read(const Fixture& fixture) {
  return feed_of(fixture.quire_file(), fixture.readings.count());
}
Sample quire_feed_scan(const Fixture& fixture) {
  return scan_of(fixture.quire_file(), fixture.readings.count());
}
Sample quire_feed_read_single(const Fixture& fixture) {
  return feed_of(file_of_single_items(fixture), std::min(kWrittenAlone, fixture.readings.count()));
}
Sample quire_feed_scan_single(const Fixture& fixture) {
  return scan_of(file_of_single_items(fixture), std::min(kWrittenAlone, fixture.readings.count()));
}

}  // namespace quire::bench
