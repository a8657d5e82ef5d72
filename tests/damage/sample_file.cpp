#include "tests/damage/sample_file.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "quire/quire.hpp"
#include "tests/file_bytes.h"

namespace quire::tests {
namespace {

constexpr std::string_view kContainers[] = {
    // A hierarchical key, indexes of each kind, versions in the feed.
    R"({"id":"orders","partitionKey":{"paths":["/tenant","/customer"]},
        "changeFeedPolicy":{"retentionDuration":60},
        "indexes":[{"name":"total","paths":[{"path":"/total"}]},
                   {"name":"tags","paths":[{"path":"/tags/[]"}]},
                   {"name":"number","unique":true,"paths":[{"path":"/number"}]}]})",
    // All paths indexed, items that expire.
    R"({"id":"sessions","partitionKey":{"paths":["/user"]},"defaultTtl":100000,
        "indexingPolicy":{"includedPaths":[{"path":"/*"}]}})",
    // No partition key, records of several pages.
    R"({"id":"texts"})"};

constexpr std::string_view kStatements[] = {
    "CREATE INDEX late ON orders (customer, total DESC)",
    "DELETE FROM orders WHERE orders.total % 10 = 3",
    "UPDATE orders SET orders.seen = true WHERE orders.total % 10 = 4",
};
// Where this build has JavaScript.
constexpr std::string_view kScripts[] = {
    "CREATE PROCEDURE total ON orders AS $$ function total() { getContext().getResponse().setBody(1); } $$",
    "CREATE FUNCTION twice ON orders AS $$ function twice(x) { return 2 * x; } $$",
    "CREATE TRIGGER stamp PRE CREATE ON sessions AS $$ function stamp() {} $$",
};

Result<void> run(Database& database, std::string_view sql) {
  auto statement = database.prepare(sql);
  if (!statement) return Failure(std::move(statement.error()));
  for (;;) {
    auto has_row = statement->step();
    if (!has_row) return Failure(std::move(has_row.error()));
    if (!*has_row) return {};
  }
}

std::string orders(int items) {
  std::string lines;
  for (int i = 0; i < items; ++i)
    lines += fmt::format(
        R"({{"id":"{}","tenant":"t{}","customer":{},"number":{},"total":{},"tags":["a","tag {}"],)"
        R"("address":{{"city":"city {}","zip":null}},"done":{}}})"
        "\n",
        i, i % 3, i % 11, i, i % 100, i % 17, i % 23, i % 2 == 0);
  return lines;
}
std::string sessions(int items) {
  std::string lines;
  for (int i = 0; i < items / 3; ++i)
    lines += fmt::format(R"({{"id":"{}","user":"user {}","ttl":{},"pages":[{},{{"deep":[{}]}}]}})"
                         "\n",
                         i, i % 40, i % 5 == 0 ? -1 : 1000 + i, i * 0.5, i);
  return lines;
}
std::string texts(int items) {
  constexpr int kLongest = 15'000;
  const int count = items / 30;
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += fmt::format(R"({{"id":"{}{}","text":"{}"}})"
                         "\n",
                         std::string(i % 3 == 0 ? 700 : 3, 'i'), i,
                         std::string(static_cast<size_t>(kLongest / count * i), 'x'));
  return lines;
}

Result<void> fill(Database& database, std::string_view name, const std::string& lines) {
  auto container = database.container(name);
  if (!container) return Failure(std::move(container.error()));
  std::istringstream stream(lines);
  auto done = container->import(stream);
  if (!done) return Failure(std::move(done.error()));
  return {};
}

Result<void> make(const std::string& path, int items) {
  auto database = Database::open(path, {.durability = Durability::none});
  if (!database) return Failure(std::move(database.error()));
  for (const std::string_view definition : kContainers)
    if (auto made = database->create_container(definition); !made) return made;
  if (auto filled = fill(*database, "orders", orders(items)); !filled) return filled;
  if (auto filled = fill(*database, "sessions", sessions(items)); !filled) return filled;
  if (auto filled = fill(*database, "texts", texts(items)); !filled) return filled;
  for (const std::string_view sql : kScripts) static_cast<void>(run(*database, sql));
  for (const std::string_view sql : kStatements)
    if (auto done = run(*database, sql); !done) return done;
  return database->close();
}

Result<void> write_to_log(Database& database) {
  constexpr int kCommits = 40;
  auto texts = database.container("texts");
  if (!texts) return Failure(std::move(texts.error()));
  for (int i = 0; i < kCommits; ++i)
    if (auto written = texts->upsert(fmt::format(R"({{"id":"logged{}","text":"{}"}})", i % 9, i)); !written)
      return Failure(std::move(written.error()));
  return {};
}

// What is in the file while it is open.
Result<void> leave_open(const std::string& path) {
  auto database = Database::open(path);
  if (!database) return Failure(std::move(database.error()));
  if (auto written = write_to_log(*database); !written) return written;
  const std::string bytes = file_bytes(path);
  if (auto closed = database->close(); !closed) return closed;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return {};
}

}  // namespace

bool make_sample_file(const std::string& path, int items, SampleState state) {
  auto made = make(path, items);
  if (made && state == SampleState::left_open) made = leave_open(path);
  if (!made) fmt::print(stderr, "the sample: {}\n", made.error().message);
  return made.has_value();
}

}  // namespace quire::tests
