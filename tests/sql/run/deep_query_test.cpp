// The deepest and the widest statements that the parser takes run on a thread with a small stack.
#include <gtest/gtest.h>
#include <pthread.h>

#include <string>

#include "sql/bind/bound.h"
#include "sql/run/execution.h"
#include "tests/sql/run/memory_source.h"

namespace quire::sql {
namespace {

// A thread gets 512 KiB on some systems; the rest is for sanitizers, whose frames are larger.
constexpr size_t kStackBytes = size_t{2} << 20;

std::string repeated(std::string_view part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

std::string nested(std::string_view open, std::string_view inside, std::string_view close, size_t levels) {
  return repeated(open, levels) + std::string(inside) + repeated(close, levels);
}

struct Run {
  std::string query;
  std::string outcome;  // the first row, or the error's code
};

std::string outcome_of(const std::string& query) {
  MemorySource source;
  const auto added = source.make("c").add(R"({"id":"1","a":1,"list":[1]})");
  if (!added) return added.error().message;
  auto prepared = prepare_query(query, source, {.strict = false, .scope = "c"});
  if (!prepared) return std::string(error_code_row(prepared.error().code).name);
  auto execution = Execution::start(**prepared, source, {});
  if (!execution) return std::string(error_code_row(execution.error().code).name);
  const auto row = (*execution)->next();
  if (!row) return std::string(error_code_row(row.error().code).name);
  std::string json;
  if (*row) write_json(**row, json);
  return json;
}

std::string outcome_on_small_stack(std::string query) {
  Run run{std::move(query), {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const auto body = [](void* argument) -> void* {
    Run& to_run = *static_cast<Run*>(argument);
    to_run.outcome = outcome_of(to_run.query);
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, body, &run), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return run.outcome;
}

std::string joins(size_t count) {
  std::string text = "SELECT VALUE 1 FROM c";
  for (size_t i = 0; i < count; ++i) text += " JOIN x" + std::to_string(i) + " IN c.list";
  return text;
}

// Containers of which only the last three are connected, by very many equalities: the order of joins must not
// look at each of these for each pair of containers.
std::string cross_products(size_t containers, size_t equalities) {
  std::string text = "SELECT VALUE 1 FROM c c0";
  for (size_t i = 1; i < containers; ++i) text += " JOIN c c" + std::to_string(i) + " ON true";
  for (size_t i = 0; i < equalities; ++i)
    text += (i == 0 ? " WHERE c" : " AND c") + std::to_string(containers - 1 - i % 2) + ".a = c" +
            std::to_string(containers - 3) + ".a";
  return text;
}

TEST(DeepQueries, RunUpToTheLimit) {
  for (const std::string& query :
       {joins(kMostSources - 1), cross_products(kMostSources, 10'000),
        "SELECT VALUE CASE" + repeated(" WHEN c.a = 2 THEN 2", 999) + " WHEN c.a = 1 THEN 1 END FROM c",
        "SELECT VALUE " + nested("(SELECT VALUE ", "c.a", ")", 100) + " FROM c",
        "SELECT VALUE c.a FROM c WHERE " +
            nested("EXISTS(SELECT VALUE 1 FROM x IN c.list WHERE ", "c.a = 1", ")", 60),
        "SELECT VALUE " + nested("ABS(", "c.a", ")", 250) + " FROM c",
        "SELECT VALUE " + repeated("- - ", 120) + "c.a FROM c",
        "SELECT VALUE c.a" + repeated(" * 1", 250) + " FROM c",
        "SELECT VALUE 1 FROM c WHERE c.a = 1" + repeated(" AND c.a = 1", 20'000),
        "SELECT VALUE 1" + repeated(" UNION SELECT VALUE 1", 200)})
    EXPECT_EQ(outcome_on_small_stack(query), "1") << query.substr(0, 60);
}

TEST(DeepQueries, AreRefusedPastIt) {
  for (const std::string& query :
       {joins(kMostSources), "SELECT VALUE CASE" + repeated(" WHEN c.a = 2 THEN 2", 1001) + " END FROM c",
        "SELECT VALUE " + nested("(SELECT VALUE ", "c.a", ")", 5000) + " FROM c",
        "SELECT VALUE " + nested("[", "c.a", "]", 5000) + " FROM c",
        "SELECT VALUE " + nested("(", "c.a", ")", 5000) + " FROM c",
        "SELECT VALUE 1" + repeated(" UNION SELECT VALUE 1", 2000)})
    EXPECT_EQ(outcome_on_small_stack(query), "limit_exceeded") << query.substr(0, 60);
}

}  // namespace
}  // namespace quire::sql
