// Engine and oracle agree on random queries. QUIRE_ORACLE_QUERIES says on how many; a failing seed is
// replayed by quire-oracle --seed.
#include <gtest/gtest.h>

#include "tests/oracle/change_check.h"
#include "tests/oracle/check.h"
#include "tests/oracle/index_check.h"
#include "tests/oracle/page_check.h"

namespace quire::sql::oracle {
namespace {

template <typename Checker>
void check_seeds(Checker& checker, uint64_t seeds) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const auto failure = checker.check(seed);
    ASSERT_FALSE(failure) << *failure;
  }
}

TEST(Oracle, AgreesWithTheEngine) {
  constexpr uint64_t kQueries = QUIRE_ORACLE_QUERIES;
  uint64_t run = 0, reordered = 0;
  for (uint64_t seed = 0; seed < kQueries; ++seed) {
    const Outcome outcome = check_seed(seed);
    run += outcome.has_run ? 1 : 0;
    reordered += outcome.is_reordered ? 1 : 0;
    ASSERT_FALSE(outcome.finding) << "seed " << seed << "\n" << report(*outcome.finding);
  }
  // Queries that do not bind teach nothing.
  EXPECT_GT(run * 10, kQueries * 8);
  EXPECT_GT(reordered, kQueries / 200);
}

TEST(Oracle, AgreesOnChanges) {
  ChangeChecker checker;
  constexpr uint64_t kSeeds = QUIRE_ORACLE_QUERIES / 20;
  check_seeds(checker, kSeeds);
  EXPECT_GT(checker.effective(), kSeeds / 4);
}

TEST(Oracle, ResultsDoNotDependOnIndexes) {
  IndexChecker checker;
  constexpr uint64_t kSeeds = QUIRE_ORACLE_QUERIES / 50;
  check_seeds(checker, kSeeds);
  EXPECT_GT(checker.indexed(), kSeeds / 10);
}

#if QUIRE_HAS_SCRIPTS
TEST(Oracle, PagesOfScriptsMakeTheWhole) {
  PageChecker checker;
  constexpr uint64_t kSeeds = QUIRE_ORACLE_QUERIES / 50;
  check_seeds(checker, kSeeds);
  EXPECT_GT(checker.paged(), kSeeds / 10);
}
#endif

}  // namespace
}  // namespace quire::sql::oracle
