#include "tests/histories/disturbers.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace quire::tests {
namespace {

std::string message_of(std::string_view doing, const Error& error) {
  // Others have the file for longer than the deadline; or do the same at the same time.
  for (const int code : {QUIRE_BUSY, QUIRE_CONTAINER_NOT_FOUND, QUIRE_CONTAINER_EXISTS, QUIRE_CONFLICT,
                         QUIRE_NOT_FOUND, QUIRE_INVALID_DEFINITION})
    if (error.code == code) return "";
  return fmt::format("{}: {}: {}", doing, error.name(), error.message);
}

std::string run(Database& database, const std::string& sql) {
  auto statement = database.prepare(sql);
  if (!statement) return message_of(sql, statement.error());
  for (;;) {
    const auto has_row = statement->step();
    if (!has_row) return message_of(sql, has_row.error());
    if (!*has_row) return "";
  }
}

// Containers, indexes and functions come and go.
std::function<std::string()> definer(Database& database, const std::string&, int process) {
  const auto next = std::make_shared<size_t>(0);
  const std::vector<std::string> statements = {
      fmt::format("CREATE CONTAINER IF NOT EXISTS passing{} PARTITION KEY (/p)", process),
      "CREATE INDEX by_id ON lists (id)",
      fmt::format("UPSERT INTO passing{} SELECT c.id, c.p FROM lists c", process),
      "ALTER CONTAINER lists WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}",
#if QUIRE_HAS_SCRIPTS
      "CREATE OR REPLACE FUNCTION f ON lists AS $$ function (x) { return x; } $$",
#endif
      fmt::format("DROP CONTAINER IF EXISTS passing{}", process),
      "DROP INDEX IF EXISTS by_id ON lists",
      "ALTER CONTAINER lists WITH {indexingPolicy: null}",
      "ANALYZE lists",
      "PRAGMA erase_expired"};
  return [&database, next, statements] { return run(database, statements[(*next)++ % statements.size()]); };
}

// A feed gives ascending LSNs, and goes on from its token.
std::function<std::string()> follower(Database& database, const std::string&, int) {
  struct Follower {
    std::string token;
    uint64_t last = 0;
  };
  const auto state = std::make_shared<Follower>();
  return [&database, state]() -> std::string {
    auto lists = database.container("lists");
    if (!lists) return message_of("open a container", lists.error());
    auto feed = lists->feed(
        {.mode = FeedMode::all_versions,
         .start = state->token.empty() ? FeedStart::beginning() : FeedStart::token(state->token)});
    if (!feed) return message_of("open a feed", feed.error());
    for (int i = 0; i < 200; ++i) {
      const auto change = feed->next(std::chrono::milliseconds(5));
      if (!change) return message_of("follow", change.error());
      if (!*change) break;
      if ((*change)->lsn() < state->last)
        return fmt::format("the feed gives LSN {} after {}", (*change)->lsn(), state->last);
      state->last = (*change)->lsn();
    }
    const auto token = feed->token();
    if (!token) return message_of("a feed's token", token.error());
    state->token = *token;
    return "";
  };
}

// Opens the file again, reads, and closes.
std::function<std::string()> opener(Database&, const std::string& path, int) {
  return [path]() -> std::string {
    auto database = Database::open(path);
    if (!database) return message_of("open", database.error());
    return run(*database, "SELECT VALUE COUNT(1) FROM lists c JOIN v IN c.list");
  };
}

// Looks whether all is right.
std::function<std::string()> checker(Database& database, const std::string&, int) {
  return [&database]() -> std::string {
    const auto found = database.check();
    if (!found) return message_of("check", found.error());
    return *found == "[]" ? "" : "CHECK finds " + *found;
  };
}

constexpr MakeDisturber kDisturbers[] = {definer, follower, opener, checker};

}  // namespace

std::span<const MakeDisturber> disturbers() {
  return kDisturbers;
}

}  // namespace quire::tests
