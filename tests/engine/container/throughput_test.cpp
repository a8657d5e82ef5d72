// Request units and throughput, at a clock of the test's own.
#include <gtest/gtest.h>

#include "engine/container/request_charge.h"
#include "engine/container/throughput.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using std::chrono::milliseconds;

TEST(RequestCharge, IsThatOfThePublishedTables) {
  EXPECT_DOUBLE_EQ(read_charge(100), 1.0);
  EXPECT_DOUBLE_EQ(read_charge(1024), 1.0);
  EXPECT_DOUBLE_EQ(read_charge(4096), 1.14);
  EXPECT_DOUBLE_EQ(read_charge(100 * 1024), 7.68) << "between 64 and 128 KiB";
  EXPECT_DOUBLE_EQ(read_charge(2048 * 1024), 291.8);
  EXPECT_DOUBLE_EQ(read_charge(4096 * 1024), 583.6) << "larger than the service takes";
  EXPECT_DOUBLE_EQ(read_charge(0), 1.0) << "not found";
  EXPECT_DOUBLE_EQ(create_charge(1024, 0), 4.95);
  EXPECT_DOUBLE_EQ(create_charge(1024, 10), 6.95);
  EXPECT_DOUBLE_EQ(replace_charge(1024, 4), 10.7) << "two terms changed";
  EXPECT_DOUBLE_EQ(delete_charge(2048, 1), 6.49);
  EXPECT_DOUBLE_EQ(patch_charge(3), 1.2);
  EXPECT_DOUBLE_EQ(query_charge(0, 0), 2.3);
  EXPECT_DOUBLE_EQ(query_charge(100, 10), 6.4);
  EXPECT_DOUBLE_EQ(feed_charge(0), 1.0);
  EXPECT_DOUBLE_EQ(feed_charge(500), 0.05);
}

TEST(ThroughputDefinition, IsANumberOfUnits) {
  EXPECT_EQ(value_of(throughput_from_json("400")), 400u);
  EXPECT_EQ(value_of(throughput_from_json("null")), 0u);
  for (const std::string_view bad : {"0", "-1", "1.5", "1000001", "\"400\"", "{}", "true"})
    EXPECT_TRUE(fails_with(throughput_from_json(bad), ErrorCode::invalid_definition, "throughput")) << bad;
}

TEST(PhysicalPartitions, AreAsManyAsThroughputAndSizeCallFor) {
  EXPECT_EQ(physical_partitions(400, 0), 1u);
  EXPECT_EQ(physical_partitions(10'000, 0), 1u);
  EXPECT_EQ(physical_partitions(10'001, 0), 2u);
  EXPECT_EQ(physical_partitions(400, kMostBytesOfPartition * 3), 3u);
  EXPECT_EQ(physical_partitions(45'000, kMostBytesOfPartition * 3), 5u);
}

class ThroughputTest : public testing::Test {
 protected:
  ThroughputTest() { now_ = Throughput::Clock::time_point(std::chrono::hours(1)); }
  static Throughput::Clock::time_point now() { return now_; }
  static void pass(milliseconds time) { now_ += time; }
  // A hash that lies so far, from 0 to 1, in the range of all.
  static std::string at(double share) {
    const auto first = static_cast<uint8_t>(share * 0x40);
    return std::string(1, static_cast<char>(first)) + std::string(15, '\0');
  }

  static inline Throughput::Clock::time_point now_;
  Throughput throughput_{now};
};

TEST_F(ThroughputTest, WithoutOneEverythingIsAdmitted) {
  EXPECT_FALSE(throughput_.is_limited());
  throughput_.take({}, 1e9);
  EXPECT_TRUE(succeeds(throughput_.admit({})));
}

TEST_F(ThroughputTest, WhatIsUsedUpComesBackWithTime) {
  throughput_.set(400, 0);
  throughput_.take({}, 399);
  EXPECT_TRUE(succeeds(throughput_.admit({}))) << "there is one left";
  throughput_.take({}, 201);
  const auto refused = throughput_.admit({});
  ASSERT_TRUE(fails_with(refused, ErrorCode::too_many_requests, "retry after 501 ms"));
  EXPECT_EQ(refused.error().retry_after_ms, 501u);
  EXPECT_EQ(refused.error().status(), 429);
  pass(milliseconds(500));
  EXPECT_TRUE(fails_with(throughput_.admit({}), ErrorCode::too_many_requests));
  pass(milliseconds(1));
  EXPECT_TRUE(succeeds(throughput_.admit({})));
}

TEST_F(ThroughputTest, WhatIsNotUsedIsLost) {
  throughput_.set(100, 0);
  pass(milliseconds(60'000));
  throughput_.take({}, 100);
  EXPECT_TRUE(fails_with(throughput_.admit({}), ErrorCode::too_many_requests));
}

TEST_F(ThroughputTest, IsDividedAmongPhysicalPartitions) {
  throughput_.set(40'000, 0);
  throughput_.take(at(0.3), 10'000);
  EXPECT_TRUE(fails_with(throughput_.admit(at(0.49)), ErrorCode::too_many_requests, "10000 request units"));
  EXPECT_TRUE(succeeds(throughput_.admit(at(0.2))));
  EXPECT_TRUE(succeeds(throughput_.admit(at(0.99))));
  EXPECT_TRUE(fails_with(throughput_.admit({}), ErrorCode::too_many_requests)) << "all partitions";
  pass(milliseconds(1000));
  throughput_.take({}, 40'000);
  for (const double share : {0.0, 0.3, 0.6, 0.9})
    EXPECT_TRUE(fails_with(throughput_.admit(at(share)), ErrorCode::too_many_requests)) << share;
}

TEST_F(ThroughputTest, ANewOneBeginsFull) {
  throughput_.set(1, 0);
  throughput_.take({}, 1000);
  EXPECT_TRUE(fails_with(throughput_.admit({}), ErrorCode::too_many_requests));
  throughput_.set(400, 0);
  EXPECT_TRUE(succeeds(throughput_.admit({})));
  throughput_.take({}, 1000);
  throughput_.set(0, 0);
  EXPECT_TRUE(succeeds(throughput_.admit({})));
}

}  // namespace
}  // namespace quire::engine
