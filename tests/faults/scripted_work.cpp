#include "tests/faults/scripted_work.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "quire/quire.hpp"
#include "tests/faults/several_containers.h"

namespace quire::tests {
namespace {

constexpr std::string_view kItem =
    R"({"id":"one","k":"a","n":1,"tags":["x","y"],"text":"a lamp by the door"})";

// Asked for again, a row that memory ran out for is whole.
int row_is_whole(quire_statement* statement) {
  quire_error ignored;
  const char* json = nullptr;
  size_t length = 0;
  if (quire_row_json(statement, &json, &length, &ignored) != QUIRE_OK) return QUIRE_OUT_OF_MEMORY;
  const std::string_view text(json, length);
  const char last = text.starts_with('{') ? '}' : text.starts_with('[') ? ']' : text.back();
  return text.ends_with(last) ? QUIRE_OUT_OF_MEMORY : QUIRE_CORRUPT;
}

// `rows`, which may be null, gets how many there were.
int run_statement(quire_database* database, std::string_view sql, quire_error* error,
                  size_t* rows = nullptr) {
  quire_statement* statement = nullptr;
  int code = quire_prepare(database, sql.data(), sql.size(), &statement, error);
  if (code != QUIRE_OK) return code;
  for (size_t count = 1; (code = quire_step(statement, error)) == QUIRE_ROW; ++count) {
    if (rows != nullptr) *rows = count;
    const char* json = nullptr;
    size_t length = 0;
    if (const int written = quire_row_json(statement, &json, &length, error); written != QUIRE_OK) {
      code = written == QUIRE_OUT_OF_MEMORY ? row_is_whole(statement) : written;
      break;
    }
    // Where memory runs out for it, the next step says so.
    static_cast<void>(quire_row_value(statement));
  }
  quire_finalize(statement);
  return code == QUIRE_DONE ? static_cast<int>(QUIRE_OK) : code;
}

int statement(Bench& bench, const WorkStep& step, quire_error* error) {
  return run_statement(bench.database, step.what, error);
}

int query_several_containers(Bench& bench, const WorkStep&, quire_error* error) {
  for (const auto& [sql, expected] : kQueriesOfSeveral) {
    size_t rows = 0;
    if (const int code = run_statement(bench.database, sql, error, &rows); code != QUIRE_OK) return code;
    if (rows == expected) continue;
    sql.copy(error->message, sizeof error->message - 1);
    return error->code = QUIRE_CORRUPT;
  }
  return QUIRE_OK;
}

quire_scalar text_of(std::string_view text) {
  return {QUIRE_STRING, 0, 0, text.data(), text.size()};
}

int open_database(Bench& bench, const WorkStep&, quire_error* error) {
  quire_options options{};
  options.struct_size = sizeof options;
  options.durability = bench.durability;
  options.map_size = 256 << 10;
  return quire_open(bench.path.c_str(), &options, &bench.database, error);
}
int open_items(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_container_open(bench.database, "items", 5, &bench.items, error);
}
int create(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_create(bench.items, nullptr, kItem.data(), kItem.size(), nullptr, error);
}
int upsert(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_upsert(bench.items, nullptr, kItem.data(), kItem.size(), nullptr, nullptr, error);
}
int replace(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_replace(bench.items, nullptr, kItem.data(), kItem.size(), nullptr, nullptr, error);
}
int read(Bench& bench, const WorkStep&, quire_error* error) {
  const quire_scalar key = text_of("a");
  return quire_read(bench.items, nullptr, &key, 1, "one", 3, nullptr, &bench.out, nullptr, error);
}
int patch(Bench& bench, const WorkStep&, quire_error* error) {
  constexpr std::string_view kPatch =
      R"({"condition":"FROM c WHERE c.n = 1","operations":[{"op":"set","path":"/more","value":[1,{"a":2}]}]})";
  const quire_scalar key = text_of("a");
  const int code = quire_patch(bench.items, nullptr, &key, 1, "one", 3, kPatch.data(), kPatch.size(), nullptr,
                               nullptr, error);
  return code;
}
int remove_and_create_in_batch(Bench& bench, const WorkStep&, quire_error* error) {
  const quire_scalar key = text_of("a");
  quire_batch_operation operations[3] = {};
  operations[0].kind = QUIRE_BATCH_DELETE;
  operations[1].kind = QUIRE_BATCH_CREATE;
  operations[1].json = kItem.data();
  operations[1].json_length = kItem.size();
  operations[2].kind = QUIRE_BATCH_READ;
  for (const int i : {0, 2}) operations[i].id = "one", operations[i].id_length = 3;
  quire_batch_result results[3] = {};
  const int code = quire_batch(bench.items, nullptr, &key, 1, operations, 3, results, error);
  for (quire_batch_result& result : results) quire_buffer_release(&result.item);
  return code;
}
int transaction(Bench& bench, const WorkStep&, quire_error* error) {
  quire_transaction* transaction = nullptr;
  int code = quire_transaction_begin(bench.database, &transaction, error);
  if (code != QUIRE_OK) return code;
  const quire_scalar key = text_of("a");
  code = quire_delete(bench.items, transaction, &key, 1, "one", 3, nullptr, error);
  if (code == QUIRE_OK)
    code = quire_create(bench.items, transaction, kItem.data(), kItem.size(), nullptr, error);
  if (code == QUIRE_OK) return quire_transaction_commit(transaction, error);
  quire_transaction_rollback(transaction);
  return code;
}
int snapshot(Bench& bench, const WorkStep&, quire_error* error) {
  quire_snapshot* snapshot = nullptr;
  int code = quire_snapshot_begin(bench.database, &snapshot, error);
  if (code != QUIRE_OK) return code;
  const quire_scalar key = text_of("a");
  quire_value value;
  code = quire_snapshot_read(snapshot, bench.items, &key, 1, "one", 3, &value, error);
  if (code == QUIRE_OK) code = quire_value_json(value, &bench.out, error);
  quire_snapshot_end(snapshot);
  return code;
}
int begin_and_commit(Bench& bench, const WorkStep& step, quire_error* error) {
  // The rollback of the time before may have failed, too.
  quire_error ignored;
  if (bench.may_be_open) run_statement(bench.database, "ROLLBACK", &ignored);
  int code = run_statement(bench.database, "BEGIN", error);
  bench.may_be_open = code == QUIRE_OK;
  if (code == QUIRE_OK) code = run_statement(bench.database, step.what, error);
  if (code == QUIRE_OK) code = run_statement(bench.database, "COMMIT", error);
  if (code != QUIRE_OK) run_statement(bench.database, "ROLLBACK", &ignored);
  return code;
}
// A build that failed goes on later, unless the index is dropped.
int index(Bench& bench, const WorkStep& step, quire_error* error) {
  const char* const drop = std::string_view(step.what).contains(" few ")
                               ? "DROP INDEX IF EXISTS few ON items"
                               : "DROP INDEX IF EXISTS by_n ON items";
  const int code = run_statement(bench.database, drop, error);
  return code == QUIRE_OK ? run_statement(bench.database, step.what, error) : code;
}
int import(Bench& bench, const WorkStep& step, quire_error* error) {
  std::string_view left = step.what;
  quire_import_options options{};
  options.struct_size = sizeof options;
  options.upsert = 1;
  const auto give = [](void* context, char* buffer, size_t capacity) -> int64_t {
    auto& left = *static_cast<std::string_view*>(context);
    const size_t count = left.copy(buffer, capacity);
    left.remove_prefix(count);
    return static_cast<int64_t>(count);
  };
  return quire_import(bench.items, give, &left, &options, nullptr, error);
}
int follow(Bench& bench, const WorkStep&, quire_error* error) {
  quire_feed_close(bench.feed);
  bench.feed = nullptr;
  int code = quire_feed_open(bench.items, nullptr, &bench.feed, error);
  if (code != QUIRE_OK) return code;
  quire_change change;
  while ((code = quire_feed_next(bench.feed, 0, &change, error)) == QUIRE_ROW)
    if (code = quire_feed_json(bench.feed, &bench.out, error); code != QUIRE_OK) return code;
  if (code != QUIRE_DONE) return code;
  return quire_feed_token(bench.feed, &bench.out, error);
}
int list(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_containers(bench.database, &bench.out, error);
}
#if QUIRE_HAS_SCRIPTS
int scripts(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_scripts(bench.items, &bench.out, error);
}
#endif
int check(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_check(bench.database, nullptr, 0, &bench.out, error);
}
int backup(Bench& bench, const WorkStep&, quire_error* error) {
  unlink(bench.backup_path.c_str());
  return quire_backup(bench.database, bench.backup_path.c_str(), error);
}
int erase_expired(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_erase_expired(bench.database, 100, nullptr, error);
}
int compact(Bench& bench, const WorkStep&, quire_error* error) {
  bench.close();
  return quire_compact(bench.path.c_str(), nullptr, error);
}
int open_again(Bench& bench, const WorkStep&, quire_error* error) {
  return bench.open_again(error);
}
// So many in a row that the last ones go to the log alone, and are pending in the steps that follow.
int replace_in_a_row(Bench& bench, const WorkStep& step, quire_error* error) {
  constexpr int kCommits = 13;
  int code = QUIRE_OK;
  for (int commits = 0; commits < kCommits && code == QUIRE_OK; ++commits) code = replace(bench, step, error);
  return code;
}
// An item that is not small, made without a request for memory.
constexpr auto kLarge = [] {
  constexpr std::string_view kBegin = R"({"id":"large","k":"a","text":")", kEnd = "\"}";
  std::array<char, size_t{300} << 10> item;
  // The compiler goes round no more than 262,144 times.
  std::fill_n(item.begin(), item.size() / 2, 'x');
  std::fill(item.begin() + item.size() / 2, item.end(), 'x');
  std::ranges::copy(kBegin, item.begin());
  std::ranges::copy(kEnd, item.end() - kEnd.size());
  return item;
}();
// While its first changes are pending; what it brings then is not small any more.
int transaction_that_grows(Bench& bench, const WorkStep&, quire_error* error) {
  quire_transaction* transaction = nullptr;
  int code = quire_transaction_begin(bench.database, &transaction, error);
  if (code != QUIRE_OK) return code;
  code = quire_upsert(bench.items, transaction, kItem.data(), kItem.size(), nullptr, nullptr, error);
  unlink(bench.backup_path.c_str());
  if (code == QUIRE_OK) code = quire_backup(bench.database, bench.backup_path.c_str(), error);
  if (code == QUIRE_OK)
    code = quire_upsert(bench.items, transaction, kLarge.data(), kLarge.size(), nullptr, nullptr, error);
  const quire_scalar key = text_of("a");
  if (code == QUIRE_OK) code = quire_delete(bench.items, transaction, &key, 1, "large", 5, nullptr, error);
  if (code == QUIRE_OK) return quire_transaction_commit(transaction, error);
  quire_transaction_rollback(transaction);
  return code;
}
// From here on an anchor is held.
int open_for_relaxed(Bench& bench, const WorkStep&, quire_error* error) {
  bench.durability = QUIRE_RELAXED;
  return bench.open_again(error);
}
// From here on small commits go by the log.
int open_for_full(Bench& bench, const WorkStep&, quire_error* error) {
  bench.durability = QUIRE_FULL;
  return bench.open_again(error);
}
int recover(Bench& bench, const WorkStep&, quire_error* error) {
  bench.close();
  unlink(bench.recovered_path.c_str());
  const int code = quire_recover(bench.path.c_str(), bench.recovered_path.c_str(), &bench.out, error);
  return code == QUIRE_OK ? bench.open_again(error) : code;
}
int advise(Bench& bench, const WorkStep&, quire_error* error) {
  return quire_advise(bench.database, "items", 5, &bench.out, error);
}
int read_json(Bench& bench, const WorkStep&, quire_error* error) {
  const quire_scalar key = text_of("a");
  return quire_read_json(bench.items, &key, 1, "one", 3, 0, &bench.out, error);
}
// With the etag that the item has.
int write_if_match(Bench& bench, const WorkStep&, quire_error* error) {
  const quire_scalar key = text_of("a");
  quire_item_info info{};
  const int code = quire_read(bench.items, nullptr, &key, 1, "one", 3, nullptr, &bench.out, &info, error);
  if (code != QUIRE_OK) return code;
  quire_write_options options{};
  options.struct_size = sizeof options;
  options.if_match = info.etag;
  return quire_write(bench.items, nullptr, QUIRE_REPLACE, kItem.data(), kItem.size(), &options, nullptr,
                     error);
}
int prepare_in_and_bind(Bench& bench, const WorkStep& step, quire_error* error) {
  quire_statement* statement = nullptr;
  int code = quire_prepare_in(bench.items, step.what, strlen(step.what), &statement, error);
  if (code != QUIRE_OK) return code;
  constexpr std::string_view kList = R"([1,2,{"a":"long enough for memory of its own"}])";
  code = quire_bind_json(statement, "list", kList.data(), kList.size(), error);
  for (const std::string_view k : {"a", "b"}) {
    if (code == QUIRE_OK) code = quire_bind(statement, "@k", text_of(k), error);
    if (code != QUIRE_OK) break;
    while ((code = quire_step(statement, error)) == QUIRE_ROW) static_cast<void>(quire_row_value(statement));
    if (code != QUIRE_DONE) break;
    quire_reset(statement);
    code = QUIRE_OK;
  }
  quire_finalize(statement);
  return code;
}
int native_procedure(void*, quire_call* call, const char*, size_t, quire_error* error) {
  constexpr std::string_view kQuery =
      R"({"query":"SELECT VALUE c.n FROM c WHERE c.n > @n","parameters":[{"name":"@n","value":0}]})";
  quire_buffer rows{};
  int code = quire_call_upsert(call, kItem.data(), kItem.size(), nullptr, nullptr, error);
  if (code == QUIRE_OK) code = quire_call_query(call, kQuery.data(), kQuery.size(), &rows, error);
  if (code == QUIRE_OK) code = quire_call_respond(call, rows.data, rows.length, error);
  quire_call_log(call, "done", 4);
  quire_buffer_release(&rows);
  return code;
}
int execute_native(Bench& bench, const WorkStep&, quire_error* error) {
  int code = quire_register_procedure(bench.database, "native", 6, native_procedure, nullptr, nullptr, error);
  if (code != QUIRE_OK) return code;
  const quire_scalar key = text_of("a");
  return quire_execute(bench.items, nullptr, "native", 6, &key, 1, "[]", 2, &bench.out, nullptr, error);
}

constexpr WorkStep kSteps[] = {
    {"open", open_database},
    {"CREATE CONTAINER IF NOT EXISTS items PARTITION KEY (/k) WITH {defaultTtl: -1}", statement},
    {"open the container", open_items},
    {"create", create},
    {"read", read},
    {"upsert", upsert},
    {"patch", patch},
    {"replace", replace},
    {"batch", remove_and_create_in_batch},
    {"transaction", transaction},
    {"snapshot", snapshot},
    {"UPSERT INTO items VALUES {id: '2', k: 'a', n: 2, tags: ['y']}, {id: '3', k: 'b', n: 3, text: 'the "
     "door'}, {id: '4', "
     "k: 'b', n: 4, ttl: 1000}",
     statement},
    {"CREATE CONTAINER IF NOT EXISTS others PARTITION KEY (/k)", statement},
    {"UPSERT INTO others SELECT c.id, c.k, c.n FROM items c", statement},
    {"SELECT VALUE c.n FROM items c WHERE c.k = 'a' AND c.id = '2'", statement},
    {"SELECT c.id, c.n * 2 AS twice FROM items c WHERE c.n > 1 ORDER BY c.n DESC OFFSET 1 LIMIT 2",
     statement},
    {"SELECT c.k, COUNT(1) AS n, AVG(c.n) AS mean FROM items c GROUP BY c.k ORDER BY c.k", statement},
    {"SELECT * FROM items c WHERE c.k = 'a'", statement},
    {"SELECT DISTINCT VALUE t FROM c IN items.tags JOIN t IN items.tags", statement},
    {"SELECT i.id, o.n FROM items i JOIN others o ON o.id = i.id WHERE EXISTS (SELECT VALUE t FROM t IN "
     "i.tags WHERE t = 'y')",
     statement},
    {"SELECT VALUE COUNT(1) FROM items c WHERE c.text LIKE '%door%' OR RegexMatch(c.text, '^the')",
     statement},
    {"SELECT VALUE {a: ARRAY(SELECT VALUE t FROM t IN c.tags), b: UPPER(c.text)} FROM items c", statement},
    {"SELECT VALUE c.id FROM items c UNION SELECT VALUE o.id FROM others o", statement},
    {"EXPLAIN SELECT VALUE c FROM items c WHERE c.n = 1 ORDER BY c.text", statement},
    {kMakeMany, statement},
    {kFillMany, statement},
    {"queries of several containers", query_several_containers},
    {"DROP CONTAINER IF EXISTS many", statement},
    {"CREATE INDEX by_n ON items (n, text)", index},
    {"CREATE INDEX few ON items (text) WHERE k = 'b'", index},
    {"SELECT VALUE c.n FROM items c WHERE c.k = 'b' AND c.text = 'the door'", statement},
    {"SELECT VALUE c.text FROM items c WHERE c.n >= 2", statement},
    {"ALTER CONTAINER items WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}", statement},
    {"UPDATE items c SET c.m = c.n + 1 WHERE c.k = 'b' RETURNING c.m", statement},
    {"ANALYZE items", statement},
    {"ADVISE items", statement},
    {"DELETE FROM items c WHERE c.k = 'c'", statement},
    {"UPSERT INTO items VALUES {id: '5', k: 'b', n: 5}", begin_and_commit},
    {"{\"id\":\"6\",\"k\":\"c\",\"n\":6}\n{\"id\":\"7\",\"k\":\"c\",\"n\":7,\"tags\":[\"z\"]}\n", import},
#if QUIRE_HAS_SCRIPTS
    {"CREATE OR REPLACE FUNCTION twice ON items AS $$ function (x) { return x * 2; } $$", statement},
    {"SELECT VALUE udf.twice(c.n) FROM items c", statement},
    {"CREATE OR REPLACE PROCEDURE fill ON items AS $$ function (p) { __.upsertDocument(__.getSelfLink(), "
     "{id: '8', k: p, n: 0}, "
     "(e, d) => getContext().getResponse().setBody(d)); } $$",
     statement},
    {"EXECUTE fill('c') ON items IN PARTITION 'c'", statement},
    {"scripts", scripts},
#endif
    {"open for relaxed durability", open_for_relaxed},
    {"replace in a row", replace_in_a_row},
    {"patch", patch},
    {"transaction that grows", transaction_that_grows},
    {"SELECT c.id FROM items c ORDER BY c.id DESC", statement},
    {"open for full durability", open_for_full},
    {"replace in a row", replace_in_a_row},
    {"SELECT VALUE c.n FROM items c WHERE c.k = 'a'", statement},
    {"patch", patch},
    {"transaction", transaction},
    {"transaction that grows", transaction_that_grows},
    {"UPSERT INTO items VALUES {id: '2', k: 'a', n: 2, tags: ['y', 'x']}", begin_and_commit},
    {"with an etag", write_if_match},
    {"CREATE CONTAINER IF NOT EXISTS places PARTITION KEY (/land, /town) WITH {defaultTtl: 100000, "
     "uniqueKeyPolicy: {uniqueKeys: [{paths: ['/name']}]}, computedProperties: [{name: 'loud', query: "
     "'SELECT "
     "VALUE UPPER(c.name) FROM c'}], indexingPolicy: {includedPaths: [{path: '/*'}], excludedPaths: [{path: "
     "'/at/*'}], compositeIndexes: [[{path: '/land'}, {path: '/size', \"order\": 'descending'}]]}}",
     statement},
    {"UPSERT INTO places VALUES {id: '1', land: 'pl', town: 'Gdansk', name: 'Mill', size: 12.5, at: {type: "
     "'Point', coordinates: [18.65, 54.35]}, v: [1, 0, 2], notes: 'A mill by the canal, and two lamps'}, "
     "{id: "
     "'2', land: 'pl', town: 'Gdansk', name: 'Crane', size: 30, at: {type: 'Point', coordinates: [18.66, "
     "54.36]}, v: [0, 1, 1], opened: '2024-05-01T10:00:00Z', tags: ['port', 'wood']}, {id: '3', land: 'ua', "
     "town: 'Lviv', name: 'Opera', size: 45, at: {type: 'Polygon', coordinates: [[[24.0, 49.8], [24.1, "
     "49.8], "
     "[24.1, 49.9], [24.0, 49.8]]]}, v: [2, 2, 0], rooms: [{n: 1, seats: 40}, {n: 2, seats: 900}]}",
     statement},
    {"SELECT p.loud, ST_DISTANCE(p.at, {type: 'Point', coordinates: [18.6, 54.3]}) AS far FROM places p "
     "WHERE "
     "ST_WITHIN(p.at, {type: 'Polygon', coordinates: [[[18, 54], [19, 54], [19, 55], [18, 55], [18, 54]]]}) "
     "ORDER BY p.land, p.size DESC",
     statement},
    {"SELECT TOP 2 p.name FROM places p ORDER BY VectorDistance(p.v, [1, 1, 1])", statement},
    {"SELECT VALUE p.name FROM places p WHERE FullTextContains(p.notes, 'lamp') OR p.land IN ('ua', 'pl') "
     "AND "
     "p.town LIKE 'G%'",
     statement},
    {"SELECT VALUE DateTimeDiff('day', p.opened, '2024-06-01T00:00:00Z') FROM places p WHERE p.size < 100",
     statement},
    {"SELECT MIN(p.size) AS least, MAX(p.size) AS most, COUNT(1) AS n FROM places p WHERE p.land = 'pl'",
     statement},
    {"SELECT VALUE StringToObject(ToString(p.at)).type FROM places p WHERE ARRAY_CONTAINS(p.tags, 'port')",
     statement},
    {"SELECT DISTINCT VALUE SetUnion(r, {n: 1}) FROM places p JOIN r IN p.rooms ORDER BY r.n OFFSET 0 LIMIT "
     "5",
     statement},
    {"SELECT p.name, (SELECT VALUE COUNT(1) FROM items i WHERE i.n > p.size - 11) AS n FROM places p WHERE "
     "p.id IN ('1', '3')",
     statement},
    {"EXPLAIN ANALYZE SELECT VALUE p.size FROM places p WHERE p.size > 10 AND p.name = 'Crane'", statement},
    {"PATCH places p WITH [{op: 'set', path: '/size', \"value\": 46}, {op: 'add', path: '/tags', \"value\": "
     "['old']}] WHERE p.land = 'ua' AND p.town = 'Lviv' RETURNING p.size",
     statement},
    {"REPLACE INTO places SELECT * FROM places p WHERE p.land = 'pl'", statement},
#if QUIRE_HAS_SCRIPTS
    {"CREATE OR REPLACE TRIGGER mark PRE ALL ON places AS $$ function () { var r = "
     "getContext().getRequest(), d = r.getBody(); d.marked = true; r.setBody(d); } $$",
     statement},
    {"UPSERT INTO places VALUES {id: '4', land: 'de', town: 'Ulm', name: 'Tower'} PRE TRIGGER mark RETURNING "
     "places.marked",
     statement},
#endif
    {"DELETE FROM places p WHERE p.name = 'Opera' RETURNING VALUE p.id", statement},
    {"CHECK places", statement},
    {"SELECT VALUE [c.n, @list] FROM c WHERE c.k = @k", prepare_in_and_bind},
    {"a native procedure", execute_native},
    {"read JSON", read_json},
    {"advise", advise},
    {"PRAGMA erase_expired", statement},
    {"DROP CONTAINER IF EXISTS places", statement},
    {"recover", recover},
    {"feed", follow},
    {"list", list},
    {"erase expired", erase_expired},
    {"check", check},
    {"backup", backup},
    {"compact", compact},
    {"open again", open_again},
    {"SELECT VALUE COUNT(1) FROM items c", statement},
};

}  // namespace

Bench::~Bench() {
  close();
  quire_buffer_release(&out);
}

void Bench::close() noexcept {
  quire_feed_close(feed);
  quire_container_close(items);
  quire_close(database, nullptr);
  feed = nullptr;
  items = nullptr;
  database = nullptr;
}

int Bench::open_again(quire_error* error) noexcept {
  close();
  const int code = open_database(*this, {}, error);
  if (code != QUIRE_OK) return code;
  // Before the first container there is none to open.
  const int opened = open_items(*this, {}, error);
  if (opened == QUIRE_CONTAINER_NOT_FOUND) return QUIRE_OK;
  if (opened != QUIRE_OK) close();
  return opened;
}

std::span<const WorkStep> work_steps() {
  return kSteps;
}

std::string fault_of_work(const Bench& bench) {
  for (const std::string& path : {bench.path, bench.backup_path, bench.recovered_path}) {
    auto database = Database::open(path, {.must_exist = true, .durability = Durability::none});
    if (!database) return path + " does not open: " + database.error().message;
    const auto found = database->check();
    if (!found) return "CHECK: " + found.error().message;
    if (*found != "[]") return "CHECK finds " + *found;
    auto statement = database->prepare("SELECT VALUE COUNT(1) = @items AND SUM(c.n) = 28 FROM items c");
    if (!statement) return statement.error().message;
    if (auto bound = statement->bind("items", QUIRE_HAS_SCRIPTS ? 8 : 7); !bound)
      return bound.error().message;
    const auto has_row = statement->step();
    if (!has_row) return has_row.error().message;
    if (!*has_row || !statement->row().as_boolean()) return path + " lacks items";
  }
  return "";
}

}  // namespace quire::tests
