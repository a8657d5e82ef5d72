// quire-oracle: random queries through the engine and through a naive interpreter, until they disagree.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>

#include "tests/oracle/change_check.h"
#include "tests/oracle/check.h"
#include "tests/oracle/index_check.h"

namespace {

// How long to go on.
struct Deadline {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  uint64_t seconds = 0;  // 0: for ever

  bool is_over() const {
    return seconds != 0 && std::chrono::steady_clock::now() - start >= std::chrono::seconds(seconds);
  }
};

int check_indexes(uint64_t seed, uint64_t queries, const Deadline& deadline) {
  quire::sql::oracle::IndexChecker checker;
  for (uint64_t i = 0; i < queries && !deadline.is_over(); ++i) {
    const auto failure = checker.check(seed + i);
    if (!failure) continue;
    fmt::print("{}replay: quire-oracle --indexes --seed {} --queries 1\n", *failure, seed + i);
    return 1;
  }
  fmt::print("{} queries run, {} of them by an index, no disagreement\n", checker.run(), checker.indexed());
  return 0;
}

int check_changes(uint64_t seed, uint64_t cases, const Deadline& deadline) {
  quire::sql::oracle::ChangeChecker checker;
  for (uint64_t i = 0; i < cases && !deadline.is_over(); ++i) {
    const auto failure = checker.check(seed + i);
    if (!failure) continue;
    fmt::print("{}replay: quire-oracle --changes --seed {} --queries 1\n", *failure, seed + i);
    return 1;
  }
  fmt::print("{} statements run, {} of them changed something, no disagreement\n", checker.run(),
             checker.effective());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seed = 0, queries = 100'000;
  Deadline deadline;
  CLI::App app(
      "Random queries through the engine and through a naive interpreter; the first on which they disagree");
  app.add_option("--seed", seed, "the first seed (0)");
  app.add_option("--queries", queries, "how many queries, a seed each (100,000)");
  bool prints = false;
  app.add_flag("--print", prints, "print each query");
  app.add_option("--seconds", deadline.seconds, "stop after so many seconds");
  bool checks_indexes = false;
  app.add_flag("--indexes", checks_indexes, "compare databases with and without indexes instead");
  bool checks_changes = false;
  app.add_flag("--changes", checks_changes, "run statements that change items instead, 1 to 3 a seed");
  CLI11_PARSE(app, argc, argv);
  if (checks_changes) return check_changes(seed, queries, deadline);
  if (checks_indexes) return check_indexes(seed, queries, deadline);
  const bool shows_progress = isatty(STDERR_FILENO) == 1;
  uint64_t done = 0, run = 0, reordered = 0;
  for (; done < queries; ++done) {
    if (prints) {
      quire::sql::oracle::Choices choices(seed + done);
      fmt::print("{}\n", quire::sql::oracle::make_case(choices).query);
    }
    const auto outcome = quire::sql::oracle::check_seed(seed + done);
    run += outcome.has_run ? 1 : 0;
    reordered += outcome.is_reordered ? 1 : 0;
    if (outcome.finding) {
      fmt::print("{}replay: quire-oracle --seed {} --queries 1\n",
                 quire::sql::oracle::report(*outcome.finding), seed + done);
      return 1;
    }
    if (done % 1000 != 0) continue;
    if (shows_progress) fmt::print(stderr, "\r{} queries", done);
    if (deadline.is_over()) break;
  }
  fmt::print("{}seeds {} to {}: {} queries run, {} with joins reordered, no disagreement\n",
             shows_progress ? "\r" : "", seed, seed + done - (done == 0 ? 0 : 1), run, reordered);
  return 0;
}
