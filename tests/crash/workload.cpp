#include "tests/crash/workload.h"

#include <fmt/format.h>
#include <unistd.h>

#include <span>
#include <sstream>
#include <string_view>
#include <vector>

namespace quire::tests {
namespace {

constexpr int kPartitions = 4;
constexpr int kIds = 50;
constexpr int kBallastItems = 4;

std::string items_of(int writer) {
  return fmt::format("w{}", writer);
}
std::string scratch_of(int writer) {
  return fmt::format("scratch{}", writer);
}

std::string row(int p, const std::string& id, const Holdings::Item& item) {
  return fmt::format(R"({{"id":"{}","p":{},"n":{},"text":"{}"}})", id, p, item.n, item.text);
}

uint64_t hash_of(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

// What is not in the items.
std::string summary(const Holdings& holdings) {
  return fmt::format("scratch {} index {} all {} expires {} versions {} function {} ballast {}",
                     holdings.scratch.value_or(-1), holdings.has_index, holdings.indexes_all,
                     holdings.expires, holdings.keeps_versions, holdings.function, holdings.has_ballast);
}

Result<void> run_sql(Database& database, const std::string& sql) {
  Result<Statement> statement = database.prepare(sql);
  if (!statement) return Failure(statement.error());
  for (;;) {
    const Result<bool> has_row = statement->step();
    if (!has_row) return Failure(has_row.error());
    if (!*has_row) return {};
  }
}

template <typename T>
Result<void> without_value(const Result<T>& result) {
  if (!result) return Failure(result.error());
  return {};
}

// A step that must fail with this code, and change nothing.
template <typename T>
Result<void> must_fail(const Result<T>& result, int code, const char* what) {
  if (!result && result.error().code == code) return {};
  if (!result) return Failure(result.error());
  Error error{};
  error.message = fmt::format("{} succeeded", what);
  return Failure(error);
}

// ---- The kinds of steps. Each changes the holdings and gives what does the same to the database.

struct Choices {
  Holdings& holdings;
  std::mt19937_64& random;
  int writer;
  uint64_t number;

  // Small commits of long items in a row, of all writers at about the same time: the log fills, and what is
  // pending is applied, again and again.
  bool are_in_a_row() const { return number % 32 >= 16; }
  int below(int most) { return static_cast<int>(random() % static_cast<uint64_t>(most)); }
  int partition() { return below(kPartitions); }
  std::string id() { return fmt::format("i{}", below(kIds)); }
  Holdings::Item item() {
    // Now and then one of several pages.
    int length = below(12) == 0 ? 3000 + below(9000) : below(300);
    if (are_in_a_row()) length = 60'000 + below(90'000);
    return {below(1000), std::string(static_cast<size_t>(length), static_cast<char>('a' + below(26)))};
  }
  bool has(int p, const std::string& id) const { return holdings.items.contains({p, id}); }
};

using Action = std::function<Result<void>(Desk&)>;

Action create_item(Choices& choices) {
  const int p = choices.partition();
  const std::string id = choices.id();
  const auto item = choices.item();
  const bool is_there = choices.has(p, id);
  if (!is_there) choices.holdings.items[{p, id}] = item;
  return [json = row(p, id, item), is_there](Desk& desk) -> Result<void> {
    const auto outcome = desk.items.create(json);
    return is_there ? must_fail(outcome, QUIRE_CONFLICT, "a second create") : without_value(outcome);
  };
}

Action upsert_item(Choices& choices) {
  const int p = choices.partition();
  const std::string id = choices.id();
  const auto item = choices.holdings.items[{p, id}] = choices.item();
  return [json = row(p, id, item)](Desk& desk) { return without_value(desk.items.upsert(json)); };
}

Action patch_item(Choices& choices) {
  const int p = choices.partition();
  const std::string id = choices.id();
  const bool is_there = choices.has(p, id);
  if (is_there) ++choices.holdings.items[{p, id}].n;
  return [p, id, is_there](Desk& desk) -> Result<void> {
    const auto outcome = desk.items.patch(p, id, R"([{"op":"incr","path":"/n","value":1}])");
    return is_there ? without_value(outcome) : must_fail(outcome, QUIRE_NOT_FOUND, "a patch of nothing");
  };
}

Action delete_item(Choices& choices) {
  const int p = choices.partition();
  const std::string id = choices.id();
  const bool is_there = choices.holdings.items.erase({p, id}) > 0;
  return [p, id, is_there](Desk& desk) -> Result<void> {
    const auto outcome = desk.items.remove(p, id);
    return is_there ? outcome : must_fail(outcome, QUIRE_NOT_FOUND, "a deletion of nothing");
  };
}

Action batch(Choices& choices) {
  const int p = choices.partition();
  Batch batch;
  for (int i = 0; i < 6; ++i) {
    const std::string id = choices.id();
    if (i % 3 == 2 && choices.has(p, id)) {
      choices.holdings.items.erase({p, id});
      batch.remove(id);
    } else {
      const auto item = choices.holdings.items[{p, id}] = choices.item();
      batch.upsert(row(p, id, item));
    }
  }
  return [p, batch](Desk& desk) -> Result<void> {
    const auto outcome = desk.items.execute(p, batch);
    if (!outcome.succeeded()) return Failure(*outcome.error);
    return {};
  };
}

// Some grow beyond what is small, halfway.
Action transaction(Choices& choices) {
  constexpr size_t kMoreThanSmall = size_t{300} << 10;
  const bool commits = choices.below(4) != 0, grows = choices.below(4) == 0;
  std::vector<std::string> rows;
  for (int i = 0; i < 5; ++i) {
    const int p = choices.partition();
    const std::string id = choices.id();
    const auto item = choices.item();
    rows.push_back(row(p, id, item));
    if (commits) choices.holdings.items[{p, id}] = item;
  }
  if (grows) {
    const std::string filler = fmt::format(R"(,"filler":"{}"}})", std::string(kMoreThanSmall, 'f'));
    rows.insert(rows.begin() + 2, rows[2].substr(0, rows[2].size() - 1) + filler);
  }
  const auto run = [rows, commits](Desk& desk) -> Result<void> {
    auto transaction = desk.database.begin_transaction();
    if (!transaction) return Failure(transaction.error());
    for (const std::string& row : rows)
      if (const auto done = desk.items.upsert(row, {.transaction = &*transaction}); !done)
        return Failure(done.error());
    if (commits) return transaction->commit();
    transaction->rollback();
    return {};
  };
  // It is busy where the map has to grow first, or another thread has opened a container: who holds a
  // transaction over several calls is the one to run it again.
  return [run](Desk& desk) -> Result<void> {
    constexpr int kTimes = 5;
    auto outcome = run(desk);
    for (int again = 1; again < kTimes && !outcome && outcome.error().code == QUIRE_BUSY; ++again)
      outcome = run(desk);
    return outcome;
  };
}

Action statement(Choices& choices) {
  const int p = choices.partition();
  const std::string table = items_of(choices.writer);
  std::string sql;
  if (choices.below(3) == 0) {
    sql = fmt::format("DELETE FROM {} c WHERE c.p = {} AND c.n % 3 = 0 AND NOT IS_DEFINED(c.ttl)", table, p);
    std::erase_if(choices.holdings.items,
                  [&](const auto& entry) { return entry.first.first == p && entry.second.n % 3 == 0; });
  } else {
    sql = fmt::format("UPDATE {} c SET c.n = c.n + 1 WHERE c.p = {} AND NOT IS_DEFINED(c.ttl)", table, p);
    for (auto& [key, item] : choices.holdings.items)
      if (key.first == p) ++item.n;
  }
  return [sql](Desk& desk) { return run_sql(desk.database, sql); };
}

Action statements_between_begin_and_commit(Choices& choices) {
  std::vector<std::string> statements{"BEGIN"};
  for (int i = 0; i < 4; ++i) {
    const int p = choices.partition();
    const std::string id = choices.id();
    const auto item = choices.holdings.items[{p, id}] = choices.item();
    statements.push_back(fmt::format("UPSERT INTO {} VALUES {}", items_of(choices.writer), row(p, id, item)));
  }
  statements.emplace_back("COMMIT");
  return [statements](Desk& desk) -> Result<void> {
    for (const std::string& sql : statements)
      if (auto done = run_sql(desk.database, sql); !done) return done;
    return {};
  };
}

#if QUIRE_HAS_SCRIPTS
Action procedure(Choices& choices) {
  const int p = choices.partition();
  const bool throws = choices.below(4) == 0;
  const auto item = choices.item();
  std::string ids;
  for (int i = 0; i < 4; ++i) {
    const std::string id = choices.id();
    if (!throws) choices.holdings.items[{p, id}] = item;
    ids += fmt::format("{}\"{}\"", i == 0 ? "" : ",", id);
  }
  const std::string arguments = fmt::format(R"([{}, [{}], {}, "{}", {}])", p, ids, item.n, item.text, throws);
  return [p, arguments, throws](Desk& desk) -> Result<void> {
    const auto outcome = desk.items.execute("fill", p, arguments);
    return throws ? must_fail(outcome, QUIRE_SCRIPT_FAILED, "a procedure that throws")
                  : without_value(outcome);
  };
}

Action function(Choices& choices) {
  const int version = choices.holdings.function = choices.holdings.function + 1;
  return [version](Desk& desk) {
    return desk.items.create_script(ScriptKind::function, "version",
                                    fmt::format("function () {{ return 'version {}.'; }}", version),
                                    {.replace = true});
  };
}
#endif

Action index(Choices& choices) {
  const bool makes = choices.holdings.has_index = !choices.holdings.has_index;
  const std::string table = items_of(choices.writer);
  const std::string sql = makes ? fmt::format("CREATE INDEX by_n ON {} (n, text)", table)
                                : fmt::format("DROP INDEX by_n ON {}", table);
  return [sql](Desk& desk) { return run_sql(desk.database, sql); };
}

Action alter(Choices& choices) {
  Holdings& holdings = choices.holdings;
  std::string with;
  switch (choices.below(3)) {
    case 0:
      holdings.indexes_all = !holdings.indexes_all;
      with = holdings.indexes_all ? "{indexingPolicy: {includedPaths: [{path: '/*'}]}}"
                                  : "{indexingPolicy: null}";
      break;
    case 1:
      holdings.expires = !holdings.expires;
      with = holdings.expires ? "{defaultTtl: -1}" : "{defaultTtl: null}";
      break;
    default:
      holdings.keeps_versions = !holdings.keeps_versions;
      with = holdings.keeps_versions ? "{changeFeedPolicy: {retentionDuration: 60}}"
                                     : "{changeFeedPolicy: null}";
  }
  const std::string sql = fmt::format("ALTER CONTAINER {} WITH {}", items_of(choices.writer), with);
  return [sql](Desk& desk) { return run_sql(desk.database, sql); };
}

Action import(Choices& choices) {
  std::string lines;
  for (int i = 0; i < 80; ++i) {
    const int p = choices.partition();
    const std::string id = choices.id();
    const auto item = choices.holdings.items[{p, id}] = choices.item();
    lines += row(p, id, item) + "\n";
  }
  return [lines](Desk& desk) {
    std::istringstream input(lines);
    return without_value(desk.items.import(input, {.upsert = true}));
  };
}

// More than one commit, each of whole items: until it is done, any of them may be there.
Action long_import(Choices& choices) {
  choices.holdings.has_ballast = true;
  return [](Desk& desk) {
    constexpr size_t kBytes = 1'500'000;
    std::string lines;
    for (int i = 0; i < kBallastItems; ++i)
      lines +=
          fmt::format(R"({{"id":"b{}","p":{},"ballast":"{}"}})", i, kPartitions, std::string(kBytes, 'b')) +
          "\n";
    std::istringstream input(lines);
    return without_value(desk.items.import(input, {.upsert = true}));
  };
}

Action scratch(Choices& choices) {
  const std::string name = scratch_of(choices.writer);
  std::vector<std::string> statements;
  if (choices.holdings.scratch) {
    statements.push_back("DROP CONTAINER " + name);
    choices.holdings.scratch.reset();
  } else {
    statements.push_back(fmt::format("CREATE CONTAINER {} PARTITION KEY (/p)", name));
    choices.holdings.scratch = 0;
  }
  return [statements](Desk& desk) { return run_sql(desk.database, statements.front()); };
}

Action insert_into_scratch(Choices& choices) {
  if (!choices.holdings.scratch) return scratch(choices);
  std::string values;
  for (int i = 0; i < 5; ++i)
    values += fmt::format("{}{{id: '{}', p: {}}}", i == 0 ? "" : ", ", ++*choices.holdings.scratch, i);
  const std::string sql = fmt::format("INSERT INTO {} VALUES {}", scratch_of(choices.writer), values);
  return [sql](Desk& desk) { return run_sql(desk.database, sql); };
}

// Items that expire soon: whether they are there still is not looked at, but what they leave must be right.
Action expiring_items(Choices& choices) {
  std::string values;
  for (int i = 0; i < 8; ++i)
    values += fmt::format("{}{{id: 't{}', p: {}, n: {}, ttl: 1}}", i == 0 ? "" : ", ", choices.below(20),
                          choices.partition(), choices.below(100));
  const std::string sql = fmt::format("UPSERT INTO {} VALUES {}", items_of(choices.writer), values);
  return [sql](Desk& desk) { return run_sql(desk.database, sql); };
}
Action erase_expired(Choices&) {
  return [](Desk& desk) { return without_value(desk.database.erase_expired()); };
}

Action backup(Choices&) {
  return [](Desk& desk) {
    const std::string path = backup_path(desk.folder, desk.writer);
    ::unlink(path.c_str());
    return desk.database.backup(path);
  };
}

struct Kind {
  const char* what;
  int weight;
  Action (*make)(Choices&);
};
constexpr Kind kKinds[] = {{"create", 14, create_item},
                           {"upsert", 10, upsert_item},
                           {"patch", 8, patch_item},
                           {"delete", 10, delete_item},
                           {"batch", 10, batch},
                           {"transaction", 10, transaction},
                           {"statement", 10, statement},
                           {"begin, commit", 6, statements_between_begin_and_commit},
#if QUIRE_HAS_SCRIPTS
                           {"procedure", 8, procedure},
                           {"create function", 2, function},
#endif
                           {"index", 4, index},
                           {"alter container", 6, alter},
                           {"import", 4, import},
                           {"long import", 2, long_import},
                           {"scratch container", 3, scratch},
                           {"insert into scratch", 4, insert_into_scratch},
                           {"expiring items", 5, expiring_items},
                           {"erase expired", 2, erase_expired},
                           {"backup", 2, backup}};
constexpr Kind kKindsInARow[] = {{"create", 2, create_item},
                                 {"upsert", 6, upsert_item},
                                 {"patch", 2, patch_item},
                                 {"delete", 1, delete_item}};

}  // namespace

uint64_t Holdings::fingerprint(int writer) const {
  uint64_t sum = hash_of(items_of(writer)) ^ hash_of(summary(*this));
  for (const auto& [key, item] : items) sum += hash_of(row(key.first, key.second, item));
  return sum;
}

Result<Desk> open_desk(Database& database, int writer, std::string folder) {
  auto items = database.container(items_of(writer));
  if (!items) return Failure(items.error());
  return Desk{database, std::move(*items), writer, std::move(folder)};
}

Step next_step(Holdings& holdings, uint64_t seed, int writer, uint64_t number) {
  std::mt19937_64 random(seed * 1'000'003 + number * 131 + static_cast<uint64_t>(writer));
  Choices choices{holdings, random, writer, number};
  const std::span<const Kind> kinds = choices.are_in_a_row() ? std::span<const Kind>(kKindsInARow) : kKinds;
  int all = 0;
  for (const Kind& kind : kinds) all += kind.weight;
  int chosen = choices.below(all);
  for (const Kind& kind : kinds) {
    if (chosen < kind.weight) return {kind.what, kind.make == backup, kind.make(choices)};
    chosen -= kind.weight;
  }
  return {};
}

Result<void> lay_out(Database& database, int writers) {
  for (int writer = 0; writer < writers; ++writer) {
    if (auto made = run_sql(
            database, fmt::format("CREATE CONTAINER IF NOT EXISTS {} PARTITION KEY (/p)", items_of(writer)));
        !made)
      return made;
#if QUIRE_HAS_SCRIPTS
    auto items = database.container(items_of(writer));
    if (!items) return Failure(items.error());
    auto made = items->create_script(ScriptKind::procedure, "fill",
                                     "function (p, ids, n, text, throws) {"
                                     "  for (const id of ids)"
                                     "    __.upsertDocument(__.getSelfLink(), {id, p, n, text});"
                                     "  if (throws) throw new Error('no');"
                                     "}",
                                     {.replace = true});
    if (!made) return made;
#endif
  }
  return {};
}

std::string backup_path(const std::string& folder, int writer) {
  return fmt::format("{}/backup{}.quire", folder, writer);
}

// ---- Looking

namespace {

// Adds up the hashes of a query's rows.
Result<uint64_t> sum_of_rows(Database& database, const std::string& sql) {
  auto statement = database.prepare(sql);
  if (!statement) return Failure(statement.error());
  uint64_t sum = 0;
  for (;;) {
    const Result<bool> has_row = statement->step();
    if (!has_row) return Failure(has_row.error());
    if (!*has_row) return sum;
    const auto json = statement->row_json();
    if (!json) return Failure(json.error());
    sum += hash_of(*json);
  }
}

// The definition of one container out of the list of all.
std::string definition_of(const std::string& all, const std::string& name) {
  const size_t begin = all.find(fmt::format(R"("id":"{}")", name));
  if (begin == std::string::npos) return "";
  return all.substr(begin, all.find(R"("id":")", begin + 1) - begin);
}

Result<Holdings> look_beside_items(Database& database, int writer) {
  Holdings found;
  const auto all = database.containers();
  if (!all) return Failure(all.error());
  const std::string items = definition_of(*all, items_of(writer));
  found.has_index = items.find("\"by_n\"") != std::string::npos;
  found.indexes_all = items.find("\"/*\"") != std::string::npos;
  found.expires = items.find("\"defaultTtl\":-1") != std::string::npos;
  found.keeps_versions = items.find("\"retentionDuration\":60") != std::string::npos;
  if (const std::string scratch = definition_of(*all, scratch_of(writer)); !scratch.empty())
    found.scratch = std::stoi(scratch.substr(scratch.find("\"itemCount\":") + 12));
  auto container = database.container(items_of(writer));
  if (!container) return Failure(container.error());
  auto ballast = container->prepare("SELECT VALUE COUNT(1) FROM c WHERE IS_DEFINED(c.ballast)");
  if (!ballast) return Failure(ballast.error());
  if (const auto counted = ballast->step(); !counted) return Failure(counted.error());
  found.has_ballast = ballast->row().as_integer() == kBallastItems;
  const auto scripts = container->scripts();
  if (!scripts) return Failure(scripts.error());
  if (const size_t at = scripts->find("'version "); at != std::string::npos)
    found.function = std::stoi(scripts->substr(at + 9));
  return found;
}

}  // namespace

Found look_for_holdings(Database& database, int writer) {
  const auto beside = look_beside_items(database, writer);
  if (!beside) return {0, beside.error().message};
  const auto sum = sum_of_rows(
      database,
      fmt::format(
          "SELECT c.id, c.p, c.n, c.text FROM {} c WHERE NOT IS_DEFINED(c.ttl) AND NOT IS_DEFINED(c.ballast)",
          items_of(writer)));
  if (!sum) return {0, sum.error().message};
  return {beside->fingerprint(writer) + *sum, ""};
}

}  // namespace quire::tests
