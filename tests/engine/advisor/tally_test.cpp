#include "engine/advisor/tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quire::engine {
namespace {

TEST(Tally, CountsExactlyAndEstimatesQuantiles) {
  Tally tally;
  EXPECT_EQ(tally.quantile(0.5), 0u);
  EXPECT_EQ(tally.gini(), 0);
  for (uint64_t value = 0; value <= 1000; ++value) tally.add(value);
  EXPECT_EQ(tally.count(), 1001u);
  EXPECT_EQ(tally.most(), 1000u);
  EXPECT_EQ(tally.least(), 0u);
  EXPECT_EQ(tally.mean(), 500);
  EXPECT_NEAR(static_cast<double>(tally.quantile(0.5)), 500, 60);
  EXPECT_NEAR(static_cast<double>(tally.quantile(0.95)), 950, 60);
}

TEST(Tally, GiniIsNoughtForEqualSharesAndNearOneWhereOneHasAll) {
  Tally equal, uneven;
  for (int i = 0; i < 100; ++i) {
    equal.add(7);
    uneven.add(i == 0 ? 1'000'000 : 0);
  }
  EXPECT_NEAR(equal.gini(), 0, 1e-9);
  EXPECT_NEAR(uneven.gini(), 0.99, 1e-6);
}

TEST(Tally, HistogramHasARowForEachDoubling) {
  Tally tally;
  for (const uint64_t value : {0, 1, 1, 2, 3, 900}) tally.add(value);
  EXPECT_EQ(tally.histogram_json(),
            R"([{"upTo":0,"count":1},{"upTo":1,"count":2},{"upTo":3,"count":2},{"upTo":1023,"count":1}])");
}

TEST(Tally, TakesTheGreatestNumbers) {
  Tally tally;
  tally.add(UINT64_MAX);
  tally.add(uint64_t{1} << 63);
  EXPECT_EQ(tally.most(), UINT64_MAX);
  EXPECT_THAT(tally.histogram_json(), testing::HasSubstr("\"count\":2"));
}

}  // namespace
}  // namespace quire::engine
