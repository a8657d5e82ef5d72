#include "tests/oracle/index_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "quire/quire.hpp"
#include "tests/oracle/answer.h"
#include "tests/oracle/generator.h"

namespace quire::sql::oracle {
namespace {

// Items that no query asks for by name, so that reading all is more work than a look into an index.
constexpr size_t kFillers = 24;
// So many, now and then, that what each row of a join leads to is less work than all pairs.
constexpr size_t kManyFillers = 300;

std::string filler(size_t number) {
  return fmt::format(
      R"({{"id":"f{0}","k":"k{1}","a":{0},"b":"b{1}","n":{2},"s":"s{0}","list":[{1},"x","e{0}"]}})", number,
      number % 5, static_cast<int>(number * 7 % 11) - 3);
}

std::string random_path(Choices& choices) {
  return std::string(choices.one_of({"/a", "/b", "/n", "/s", "/k", "/list", "/o", "/o/x", "/o/n", "/id"}));
}

// Queries of the kinds that indexes are for.
std::vector<std::string> queries_for_indexes(Choices& choices) {
  constexpr std::string_view kPaths[] = {"c.a",    "c.b", "c.n",   "c.s",   "c.k",
                                         "c.list", "c.o", "c.o.x", "c.o.n", "c.id"};
  constexpr std::string_view kValues[] = {"1",   "3",  "'b1'", "'k2'", "'a'", "null", "true",
                                          "[1]", "{}", "0.5",  "'s1'", "-1",  "-2.5", "-3"};
  constexpr std::string_view kTests[] = {"IS_DEFINED", "IS_NUMBER", "IS_STRING",
                                         "IS_NULL",    "IS_ARRAY",  "IS_PRIMITIVE"};
  const auto path = [&] { return choices.one_of(kPaths); };
  const auto value = [&] { return choices.one_of(kValues); };
  const auto comparison = [&] { return choices.one_of({"=", "<", "<=", ">", ">=", "!="}); };
  std::vector<std::string> queries;
  const auto number = [&] { return static_cast<int>(choices.pick(12)) - 4; };
  queries.push_back(
      fmt::format("SELECT VALUE c.id FROM c WHERE c.n = {} AND c.a {} {}", number(), comparison(), number()));
  queries.push_back(fmt::format(
      "SELECT VALUE c.id FROM c WHERE c.n IN ({}, {}) AND c.a >= {} ORDER BY c.a DESC OFFSET 0 LIMIT 3",
      number(), number(), number()));
  queries.push_back(fmt::format("SELECT MIN({0}) AS a, MAX({0}) AS b FROM c", path()));
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c ORDER BY {} {} OFFSET {} LIMIT {}", path(),
                                choices.one_of({"ASC", "DESC"}), choices.pick(3), 1 + choices.pick(9)));
  queries.push_back(
      fmt::format("SELECT VALUE [c.id, {0}] FROM c WHERE {1} {2} {3} ORDER BY {0} DESC, {4} DESC "
                  "OFFSET 0 LIMIT 5",
                  path(), path(), comparison(), value(), path()));
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.list, {})", value()));
  queries.push_back(
      fmt::format("SELECT VALUE t FROM c JOIN t IN c.list WHERE t {} {}", comparison(), value()));
  queries.push_back(
      fmt::format("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.list WHERE t {} {})",
                  comparison(), value()));
  const auto of_element = [&] {
    return choices.one_of({"t > 1", "t > 'e9'", "t LIKE 'e5%'", "t LIKE 'e1_'", "t LIKE '%5'",
                           "STARTSWITH(t, 'e5')", "t IN ('e5', 'e7')", "t != 'e5'", "IS_STRING(t)",
                           "LENGTH(t) = 3"});
  };
  queries.push_back(
      fmt::format("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.list WHERE {} AND {})",
                  of_element(), of_element()));
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c WHERE {} {} {} AND {} {} {}", path(), comparison(),
                                value(), path(), comparison(), value()));
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c WHERE {} {} {} OR {} {} {}", path(), comparison(),
                                value(), path(), comparison(), value()));
  queries.push_back(
      fmt::format("SELECT VALUE c.id FROM c WHERE {} IN ({}, {}, {})", path(), value(), value(), value()));
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS([{}, {}, {}], {})", value(),
                                value(), value(), path()));
  queries.push_back(
      fmt::format("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS([{}, {}], c.n) AND ARRAY_CONTAINS([{}, {}], "
                  "c.a) OR ARRAY_CONTAINS({}, {})",
                  number(), number(), number(), number(), value(), path()));
  queries.push_back(fmt::format("SELECT VALUE t FROM c JOIN t IN c.list WHERE ARRAY_CONTAINS([{}, {}], t)",
                                value(), value()));
  queries.push_back(fmt::format(
      "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS([{}, {}], c.n) ORDER BY {} DESC OFFSET 0 LIMIT 3",
      number(), number(), path()));
  queries.push_back(fmt::format("SELECT VALUE COUNT(1) FROM c WHERE {}({})", choices.one_of(kTests), path()));
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED({}) AND {} {} {}", path(),
                                path(), comparison(), value()));
  queries.push_back(
      fmt::format("SELECT c.n, {{a: c.a}} AS o FROM c WHERE c.n {} {}", comparison(), number()));
  queries.push_back(
      fmt::format("SELECT VALUE c.a FROM c WHERE c.n IN ({}, {}) ORDER BY c.n DESC", number(), number()));
  queries.push_back(
      fmt::format("SELECT c.a, COUNT(1) AS n, SUM(c.n) AS sum FROM c WHERE c.n > {} GROUP BY c.a", number()));
  queries.push_back(fmt::format("SELECT DISTINCT TOP {} VALUE c.b FROM c", 1 + choices.pick(9)));
  queries.push_back(fmt::format("SELECT {0} FROM c WHERE STARTSWITH({0}, '{1}') OR {0} LIKE 'b%'", path(),
                                choices.one_of({"", "s", "b1", "k"})));
  queries.push_back(
      fmt::format("SELECT VALUE [c.id, d.id] FROM c JOIN d ON d.{0} = c.{1} WHERE c.id IN ('0', '1', 'f2')",
                  path().substr(2), path().substr(2)));
  queries.push_back(
      fmt::format("SELECT VALUE [c.id, d.id] FROM c LEFT JOIN d ON d.{0} = c.{1} AND d.n > 2 WHERE c.id IN "
                  "('0', '1', 'f2')",
                  path().substr(2), path().substr(2)));
  queries.push_back(
      fmt::format("SELECT VALUE [c.id, d.id] FROM c JOIN d ON d.{} = c.{} WHERE d.id IN ('1', 'f2', 'f3')",
                  path().substr(2), path().substr(2)));
  queries.push_back(
      fmt::format("SELECT VALUE [x.id, y.id, e.id] FROM c x JOIN d y ON y.{} = x.{} JOIN d e ON e.{} = y.{} "
                  "AND e.id = 'f{}'",
                  path().substr(2), path().substr(2), path().substr(2), path().substr(2), choices.pick(9)));
  queries.push_back(
      fmt::format("SELECT VALUE [c.id, d.id] FROM c {} d ON d.{} = c.{} AND d.{} = c.{} WHERE c.id IN ('0', "
                  "'1', 'f2')",
                  choices.one_of({"JOIN", "LEFT JOIN"}), path().substr(2), path().substr(2), path().substr(2),
                  path().substr(2)));
  const std::string_view shared = path().substr(2);
  queries.push_back(fmt::format(
      "SELECT VALUE [x.id, y.id, e.id] FROM c x LEFT JOIN d y ON y.{0} = x.{0} JOIN d e ON e.{1} = "
      "x.{2} AND e.n = {3}",
      shared, path().substr(2), path().substr(2), number()));
  const std::string_view condition =
      choices.one_of({"c.n > 0", "c.n >= -2 AND c.a > 1", "IS_DEFINED(c.b)", "c.b = 'b1'", "c.a > 3",
                      "STARTSWITH(c.s, 's1')", "c.n = 3", "c.a IN (4, 5, 7)", "c.a > 5 AND c.a < 9",
                      "c.b = 'b1' AND c.n > 0"});
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c WHERE {} AND {} {} {}", condition, path(),
                                comparison(), value()));
  queries.push_back(fmt::format("SELECT VALUE COUNT(1) FROM c WHERE {}", condition));
  queries.push_back(fmt::format("SELECT VALUE [c.id, {0}] FROM c WHERE {1} ORDER BY {0} {2} OFFSET 0 LIMIT 4",
                                path(), condition, choices.one_of({"ASC", "DESC"})));
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c WHERE ({}) OR ({} {} {})", condition, path(),
                                comparison(), value()));
  queries.push_back(fmt::format("SELECT DISTINCT VALUE {0} FROM c", path()));
  queries.push_back(fmt::format("SELECT DISTINCT {0}, {1} FROM c WHERE {2} {3} {4}", path(), path(), path(),
                                comparison(), value()));
  return queries;
}

// Queries of which an index tells the order, the ends or the place of a row.
std::vector<std::string> queries_by_order(Choices& choices) {
  constexpr std::string_view kPaths[] = {"c.a", "c.b", "c.n", "c.s", "c.k", "c.o.x", "c.id"};
  constexpr std::string_view kConditions[] = {
      "true",       "c.n = 3",          "c.n >= -2",       "c.a > 5",
      "c.k = 'k2'", "c.b IN ('b1', 3)", "IS_DEFINED(c.o)", "c.n < 'b'"};
  const auto path = [&] { return choices.one_of(kPaths); };
  const auto condition = [&] { return choices.one_of(kConditions); };
  const auto key = [&] { return fmt::format("{} {}", path(), choices.one_of({"ASC", "DESC"})); };
  const auto keys = [&] {
    return choices.one_of(
        {"c.n ASC, c.a ASC", "c.n DESC, c.a DESC", "c.n DESC, c.a ASC", "c.n ASC, c.a DESC"});
  };
  const auto page = [&] { return fmt::format("OFFSET {} LIMIT {}", choices.pick(31), choices.pick(9)); };
  std::vector<std::string> queries;
  const std::string_view extreme = path();
  queries.push_back(fmt::format("SELECT MIN({0}) AS a, MAX({0}) AS b FROM c WHERE {1} AND {2}", extreme,
                                condition(), condition()));
  queries.push_back(fmt::format("SELECT VALUE MAX(c.a) FROM c WHERE c.n = {} AND c.a {} {}",
                                static_cast<int>(choices.pick(12)) - 4, choices.one_of({"<", ">=", ">"}),
                                choices.pick(24)));
  queries.push_back(fmt::format("SELECT VALUE {} FROM c WHERE {} ORDER BY {} {}",
                                choices.one_of({"c.id", "c.a", "[c.n]"}), condition(), key(), page()));
  queries.push_back(
      fmt::format("SELECT VALUE c.id FROM c WHERE {} ORDER BY {} {}", condition(), keys(), page()));
  queries.push_back(fmt::format("SELECT TOP {} VALUE [c.id, {}] FROM c ORDER BY {}, {}", choices.pick(9),
                                path(), key(), key()));
  queries.push_back(
      fmt::format("SELECT TOP {} VALUE c.id FROM c ORDER BY {}, {}", choices.pick(9), keys(), key()));
  queries.push_back(fmt::format("SELECT DISTINCT c.n, c.a FROM c WHERE {} ORDER BY {} {}", condition(),
                                keys(), choices.one_in(2) ? page() : ""));
  queries.push_back(
      fmt::format("SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n {}", choices.one_of({"", "DESC"})));
  queries.push_back(fmt::format("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS_{}(c.list, {}, 'x', {})",
                                choices.one_of({"ANY", "ALL"}), choices.pick(5), choices.pick(5)));
  queries.push_back(fmt::format(
      "SELECT VALUE [d.id, ARRAY(SELECT VALUE c.id FROM c WHERE {} AND {} = d.{} ORDER BY {} {})] FROM d",
      condition(), path(), path().substr(2), key(), page()));
  queries.push_back(
      fmt::format("SELECT VALUE [c.id, x.n] FROM c JOIN (SELECT d.{0} AS g, COUNT(1) AS n FROM d GROUP BY "
                  "d.{0}) x ON x.g = {1} "
                  "WHERE {2}",
                  path().substr(2), path(), condition()));
  return queries;
}

// Subqueries that join containers by what the row around them has, of which a run may keep what is the same
// in the next. They count: joined in another order the rows come in another order.
std::vector<std::string> queries_of_joins_within(Choices& choices) {
  constexpr std::string_view kNames[] = {"a", "b", "n", "s", "k", "id", "o.x"};
  const auto name = [&] { return choices.one_of(kNames); };
  const auto join = [&] { return choices.one_of({"JOIN", "JOIN", "LEFT JOIN"}); };
  const auto other = [&] { return choices.one_of({"c", "d"}); };
  const auto around = [&] {
    return fmt::format("{}.{} {} o.{}", choices.one_of({"x", "y", "z"}), name(),
                       choices.one_of({"=", "=", "=", "<", ">="}), name());
  };
  const auto within = [&] {
    std::string text =
        fmt::format("FROM {} x {} {} y ON y.{} = x.{} {} {} z ON z.{} = {}.{}", other(), join(), other(),
                    name(), name(), join(), other(), name(), choices.one_of({"x", "y"}), name());
    if (choices.one_in(2)) text += fmt::format(" AND z.{} = o.{}", name(), name());
    return text + " WHERE " + (choices.one_in(3) ? "x.n > 2" : around());
  };
  return {
      fmt::format("SELECT VALUE [o.id, (SELECT VALUE COUNT(1) {})] FROM {} o WHERE o.n < {}", within(),
                  other(), choices.pick(9)),
      fmt::format("SELECT VALUE o.id FROM {} o WHERE {}EXISTS(SELECT VALUE 1 {})", other(),
                  choices.one_of({"", "NOT "}), within()),
      fmt::format("SELECT VALUE o.id FROM {} o WHERE o.{} IN (SELECT VALUE {}.{} {})", other(), name(),
                  choices.one_of({"x", "y", "z"}), name(), within()),
      fmt::format("SELECT VALUE [o.id, w.n] FROM {} o JOIN (SELECT MAX(y.n) AS n {}) w", other(), within())};
}

// What the database with indexes is asked, and what the other one is: the same, or in words that lead it to
// no key.
struct Question {
  std::string query;
  std::string plainly;
};

// Items that others lead to by their keys.
std::vector<Question> queries_by_key(Choices& choices) {
  constexpr std::string_view kNames[] = {"a", "b", "n", "s", "k", "o.x", "id"};
  const auto name = [&] { return choices.one_of(kNames); };
  std::vector<Question> questions;
  // `text` has ITEM(x) for a path that may be a key.
  const auto ask_for = [&](const std::string& text) {
    Question question;
    for (size_t at = 0; at < text.size();) {
      const size_t key = text.find("ITEM(", at), end = text.find(')', std::min(key, text.size()));
      const std::string before = text.substr(at, key - at);
      question.query += before;
      question.plainly += before;
      if (key == std::string::npos) break;
      const std::string path = text.substr(key + 5, end - key - 5);
      question.query += path;
      question.plainly += fmt::format("({} ?? c.none)", path);
      at = end + 1;
    }
    questions.push_back(std::move(question));
  };
  const auto join = [&] { return choices.one_of({"JOIN", "LEFT JOIN"}); };
  ask_for(fmt::format("SELECT TOP {} VALUE [c.id, d.id] FROM c {} d ON ITEM(d.id) = c.{}", choices.pick(5),
                      join(), name()));
  ask_for(
      fmt::format("SELECT VALUE [d.id, c.id] FROM d {} c ON ITEM(c.id) = d.{} AND ITEM(c.k) = d.{} AND c.n > "
                  "{} WHERE d.id IN ('1', 'f2', 'f3')",
                  join(), name(), name(), static_cast<int>(choices.pick(9)) - 4));
  ask_for(
      fmt::format("SELECT VALUE [d.id, c.id] FROM d JOIN c ON ITEM(c.id) = d.{} WHERE d.id = 'f{}' AND c.k = "
                  "'k{}'",
                  name(), choices.pick(kFillers), choices.pick(5)));
  ask_for(
      fmt::format("SELECT VALUE [c.id, d.id] FROM c JOIN d ON ITEM(c.k) = d.{} AND ITEM(c.id) = d.{} WHERE "
                  "d.id IN ('f{}', '1')",
                  name(), name(), choices.pick(kFillers)));
  ask_for(fmt::format("SELECT TOP {} VALUE [c.id, d.id] FROM c JOIN d ON ITEM(d.id) = c.{} ORDER BY c.{} {}",
                      choices.pick(5), name(), name(), choices.one_of({"", "DESC"})));
  const auto arm = [&] {
    const std::string equality = fmt::format("ITEM(d.{}) = c.{}", name(), name());
    return choices.one_in(4) ? fmt::format("({} AND c.a > {})", equality, choices.pick(9)) : equality;
  };
  ask_for(fmt::format("SELECT VALUE [c.id, d.id] FROM c {} d ON {} OR {}", join(), arm(), arm()));
  ask_for(fmt::format("SELECT VALUE [c.id, d.id] FROM c {} d ON ITEM(d.id) IN (c.{}, c.{}, 'f3')", join(),
                      name(), name()));
  ask_for(fmt::format("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE {} OR {})", arm(), arm()));
  ask_for(
      fmt::format("SELECT VALUE c.id FROM c WHERE ITEM(c.{}) IN (SELECT VALUE d.{} FROM d WHERE d.n > {})",
                  name(), name(), static_cast<int>(choices.pick(9)) - 4));
  ask_for(
      fmt::format("SELECT VALUE c.id FROM c WHERE c.k = 'k{}' AND ITEM(c.id) IN (SELECT VALUE d.{} FROM d)",
                  choices.pick(5), name()));
  return questions;
}

// Conditions of partial indexes, some of which the queries below have.
constexpr std::string_view kConditions[] = {
    "c.n > 0", "c.n >= -2 AND c.a > 1", "IS_DEFINED(c.b)", "c.b = 'b1'", "c.a > 3", "STARTSWITH(c.s, 's1')"};

std::string random_indexes(Choices& choices) {
  if (choices.one_in(3)) return R"("indexingPolicy":{"includedPaths":[{"path":"/*"}]})";
  std::string json = R"("indexes":[)";
  const uint32_t count = 1 + choices.pick(4);
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) json += ',';
    json += fmt::format(R"({{"name":"i{}","paths":[)", i);
    if (choices.one_in(4)) {
      json += R"({"path":"/list/[]"})";
    } else {
      std::vector<std::string> paths;
      const uint32_t parts = 1 + choices.pick(3);
      for (uint32_t part = 0; part < parts; ++part)
        if (std::string path = random_path(choices); std::ranges::find(paths, path) == paths.end())
          paths.push_back(std::move(path));
      for (size_t part = 0; part < paths.size(); ++part)
        json += fmt::format(R"({}{{"path":"{}","order":"{}"}})", part == 0 ? "" : ",", paths[part],
                            choices.one_in(3) ? "descending" : "ascending");
    }
    json += "]";
    if (choices.one_in(3)) json += fmt::format(R"(,"where":"{}")", choices.one_of(kConditions));
    json += "}";
  }
  // One that a query below has conditions on both parts of.
  return json + fmt::format(
                    R"(,{{"name":"z","paths":[{{"path":"/n","order":"{}"}},{{"path":"/a","order":"{}"}}]}}])",
                    choices.one_of({"ascending", "descending"}), choices.one_of({"ascending", "descending"}));
}

}  // namespace

struct IndexChecker::Databases {
  // Some queries join so much that they never end: what is out of time says nothing.
  Databases() {
    for (Database* database : {&plain, &indexed}) (void)ask(*database, "PRAGMA statement_time = 1000");
  }
  Database plain = std::move(Database::open(":memory:").value());
  Database indexed = std::move(Database::open(":memory:").value());
};

IndexChecker::IndexChecker() : databases_(std::make_unique<Databases>()) {}
IndexChecker::~IndexChecker() = default;

namespace {

void make_container(Database& database, std::string_view name, const std::string& more) {
  (void)database.drop_container(name);
  const std::string key = name == "c" ? R"(,"partitionKey":{"paths":["/k"]})" : "";
  auto made = database.create_container(
      fmt::format(R"({{"id":"{}"{}{}{}}})", name, key, more.empty() ? "" : ",", more));
  if (!made) fmt::print(stderr, "{}\n", made.error().message);
}

// Changes within a transaction that is to be rolled back, so that queries read what is pending.
void begin_changes(Database& database, Choices choices) {
  (void)ask(database, "BEGIN");
  (void)ask(database, fmt::format("DELETE FROM c WHERE c.a = {}", choices.pick(kFillers)));
  (void)ask(database, fmt::format("UPDATE c SET c.n = {}, c.a = c.n WHERE c.k = 'k{}'", choices.pick(9),
                                  choices.pick(5)));
  (void)ask(database, fmt::format("UPSERT INTO c VALUES {{id: 'f{0}', k: 'k{1}', n: 3, list: ['x', {1}]}}",
                                  choices.pick(kFillers), choices.pick(5)));
}

// The documents, in a random way: some are written twice, some removed again, so that entries change.
void fill(Database& database, std::string_view name, const std::vector<std::string>& documents,
          Choices choices) {
  auto container = database.container(name).value();
  const bool are_many = name == "d" && choices.one_in(48);
  for (size_t i = 0; i < (are_many ? kManyFillers : kFillers); ++i) (void)container.create(filler(i));
  for (size_t i = 0; i < documents.size(); ++i) {
    if (choices.one_in(3))
      (void)container.upsert(documents[choices.pick(static_cast<uint32_t>(documents.size()))]);
    (void)container.upsert(documents[i]);
  }
  if (choices.one_in(3))
    (void)ask(database, fmt::format("DELETE FROM {0} WHERE {0}.id = 'f{1}'", name, choices.pick(kFillers)));
  if (choices.one_in(3))
    (void)ask(database, fmt::format("UPDATE {0} SET {0}.n = 3, {0}.list = ['x', 1, 1] WHERE {0}.a = {1}",
                                    name, choices.pick(kFillers)));
}

}  // namespace

std::optional<std::string> IndexChecker::check(uint64_t seed) {
  Choices choices(seed);
  const Case made = make_case(choices);
  Choices more(seed ^ 0x5DEECE66DULL);
  const std::string first = random_indexes(more), second = random_indexes(more);
  const bool is_built_later = more.one_in(2);
  for (Database* database : {&databases_->plain, &databases_->indexed}) {
    const bool has_indexes = database == &databases_->indexed && !is_built_later;
    make_container(*database, "c", has_indexes ? first : "");
    make_container(*database, "d", has_indexes ? second : "");
    fill(*database, "c", made.first, more);
    fill(*database, "d", made.second, more);
  }
  if (is_built_later) {
    for (const auto& [name, indexes] : {std::pair("c", &first), std::pair("d", &second)}) {
      const Answer altered =
          ask(databases_->indexed, fmt::format("ALTER CONTAINER {} WITH {{{}}}", name, *indexes));
      if (!altered.error.empty()) return fmt::format("seed {}: {}", seed, altered.error);
    }
  }
  if (more.one_in(2)) (void)ask(databases_->indexed, "ANALYZE");
  const bool has_pending = more.one_in(4);
  for (Database* database : {&databases_->plain, &databases_->indexed})
    if (has_pending) begin_changes(*database, more);
  std::vector<std::string> queries = queries_for_indexes(more);
  for (std::string& query : queries_by_order(more)) queries.push_back(std::move(query));
  for (std::string& query : queries_of_joins_within(more)) queries.push_back(std::move(query));
  queries.push_back(made.query);
  queries.push_back("SELECT VALUE COUNT(1)" + made.from + " WHERE " + made.predicate);
  queries.push_back("SELECT *" + made.from + " WHERE " + made.predicate + " ORDER BY c.n DESC");
  std::vector<Question> questions = queries_by_key(more);
  for (const std::string& query : queries) questions.push_back({query, query});
  for (const auto& [query, plainly] : questions) {
    const Answer plain = ask(databases_->plain, plainly, made.parameters);
    const Answer indexed = ask(databases_->indexed, query, made.parameters);
    run_ += plain.error.empty() ? 1 : 0;
    const auto plan = ask(databases_->indexed, "EXPLAIN " + query, made.parameters);
    indexed_ +=
        std::ranges::any_of(plan.rows, [](const std::string& line) { return line.contains("index"); });
    // An error that a row gives comes to light only where that row is read.
    if (plain.error.empty() != indexed.error.empty()) continue;
    // How many rows came in time says nothing.
    if (plain.is_out_of_time && indexed.is_out_of_time) continue;
    if (plain.error == indexed.error && plain.rows == indexed.rows) continue;
    return fmt::format(
        "seed {}\ncontainer c with {}\n{}\ncontainer d with {}\n{}\n{}\n{}\nwithout indexes {} {}\n{}\nwith "
        "indexes {} {}\n{}\n",
        seed, first, fmt::join(made.first, "\n"), second, fmt::join(made.second, "\n"), query,
        fmt::join(plan.rows, "\n"), plain.rows.size(), plain.error, fmt::join(plain.rows, "\n"),
        indexed.rows.size(), indexed.error, fmt::join(indexed.rows, "\n"));
  }
  for (Database* database : {&databases_->plain, &databases_->indexed})
    if (has_pending) (void)ask(*database, "ROLLBACK");
  const auto faults = databases_->indexed.check();
  if (!faults || *faults != "[]")
    return fmt::format("seed {}\ncontainer c with {}\n{}\ncontainer d with {}\n{}\nCHECK found {}\n", seed,
                       first, fmt::join(made.first, "\n"), second, fmt::join(made.second, "\n"),
                       faults ? *faults : faults.error().message);
  return std::nullopt;
}

}  // namespace quire::sql::oracle
