// quire-oracle: random queries through the engine and through a naive interpreter, until they disagree.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>

#include "tests/oracle/change_check.h"
#include "tests/oracle/check.h"
#include "tests/oracle/index_check.h"
#include "tests/oracle/page_check.h"

namespace {

using quire::sql::oracle::ChangeChecker;
using quire::sql::oracle::IndexChecker;
using quire::sql::oracle::PageChecker;

// How long to go on.
struct Deadline {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  uint64_t seconds = 0;  // 0: for ever

  bool is_over() const {
    return seconds != 0 && std::chrono::steady_clock::now() - start >= std::chrono::seconds(seconds);
  }
};

// `told`: what the checker has done.
template <typename Checker, typename Told>
int check_seeds(std::string_view flag, uint64_t seed, uint64_t seeds, const Deadline& deadline, Told told) {
  Checker checker;
  for (uint64_t i = 0; i < seeds && !deadline.is_over(); ++i) {
    const auto failure = checker.check(seed + i);
    if (!failure) continue;
    fmt::print("{}replay: quire-oracle {} --seed {} --queries 1\n", *failure, flag, seed + i);
    return 1;
  }
  fmt::print("{}, no disagreement\n", told(checker));
  return 0;
}

int check_changes(uint64_t seed, uint64_t seeds, const Deadline& deadline) {
  return check_seeds<ChangeChecker>("--changes", seed, seeds, deadline, [](const ChangeChecker& checker) {
    return fmt::format("{} statements run, {} of them changed something", checker.run(), checker.effective());
  });
}

int check_indexes(uint64_t seed, uint64_t seeds, const Deadline& deadline) {
  return check_seeds<IndexChecker>("--indexes", seed, seeds, deadline, [](const IndexChecker& checker) {
    return fmt::format("{} queries run, {} of them by an index", checker.run(), checker.indexed());
  });
}

int check_pages(uint64_t seed, uint64_t seeds, const Deadline& deadline) {
  return check_seeds<PageChecker>("--pages", seed, seeds, deadline, [](const PageChecker& checker) {
    return fmt::format("{} queries run, {} of them in several pages", checker.run(), checker.paged());
  });
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
  bool checks_pages = false;
  app.add_flag("--pages", checks_pages, "compare the pages of scripts with the whole instead");
  CLI11_PARSE(app, argc, argv);
  if (checks_changes) return check_changes(seed, queries, deadline);
  if (checks_indexes) return check_indexes(seed, queries, deadline);
  if (checks_pages) return check_pages(seed, queries, deadline);
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
