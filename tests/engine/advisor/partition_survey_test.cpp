#include "engine/advisor/partition_survey.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sql/value/document.h"
#include "sql/value/json.h"
#include "sql/value/key_dictionary.h"

namespace quire::engine {
namespace {

class PartitionSurveyTest : public testing::Test {
 protected:
  PartitionSurveyTest() : keys_(sql::KeyDictionary::create()) {
    keys_->add("device");
    survey_ = PartitionSurvey(paths_, keys_->number());
  }

  void add(std::string_view json, int64_t written) {
    const std::string& document = *documents_.emplace_back(std::make_unique<std::string>());
    ASSERT_TRUE(reader_.to_document(json, *keys_, *documents_.back()).has_value());
    survey_.add(sql::read_document(std::as_bytes(std::span(document)), keys_->number()), document.size(),
                written);
  }

  std::unique_ptr<sql::KeyDictionary> keys_;
  sql::JsonReader reader_;
  const std::vector<std::vector<std::string>> paths_{{"device"}};
  PartitionSurvey survey_;
  // The survey looks back at the item before.
  std::vector<std::unique_ptr<std::string>> documents_;
};

// 40 devices write 30 items each: all of them at any time, or one after the other.
TEST_F(PartitionSurveyTest, WritesThatGoToOnePartitionAtATimeAreSeen) {
  for (int device = 0; device < 40; ++device)
    for (int i = 0; i < 30; ++i)
      add(fmt::format(R"({{"device":{}}})", device), 1'700'000'000 + device * 30 + i);
  survey_.finish();
  EXPECT_EQ(survey_.count(), 40u);
  EXPECT_GT(survey_.busiest_share(), 0.4);
}

TEST_F(PartitionSurveyTest, WritesThatAreSpreadAreNot) {
  for (int device = 0; device < 40; ++device)
    for (int i = 0; i < 30; ++i)
      add(fmt::format(R"({{"device":{}}})", device), 1'700'000'000 + i * 40 + device);
  survey_.finish();
  EXPECT_LT(survey_.busiest_share(), 0.1);
}

TEST_F(PartitionSurveyTest, AnImportSaysNothingOfTimes) {
  for (int device = 0; device < 40; ++device)
    for (int i = 0; i < 30; ++i) add(fmt::format(R"({{"device":{}}})", device), 1'700'000'000);
  survey_.finish();
  EXPECT_EQ(survey_.busiest_share(), 0);
}

TEST_F(PartitionSurveyTest, TheLargestAreKeptWithTheirKeys) {
  for (int device = 0; device < 50; ++device)
    for (int i = 0; i <= device; ++i) add(fmt::format(R"({{"device":"d{}"}})", device), i);
  add("{}", 1);
  add(R"({"device":null})", 1);
  survey_.finish();
  ASSERT_EQ(survey_.largest().size(), PartitionSurvey::kLargest);
  EXPECT_EQ(survey_.largest()[0].key, "\"d49\"");
  EXPECT_EQ(survey_.largest()[0].items, 50u);
  EXPECT_EQ(survey_.items_without_key(), 2u);
  EXPECT_EQ(survey_.count(), 52u);
}

}  // namespace
}  // namespace quire::engine
