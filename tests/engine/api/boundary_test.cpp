// What goes through the C functions' arguments and comes out of their errors.
#include <cstdint>
#include <string>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

class BoundaryTest : public DatabaseTest {};

TEST_F(BoundaryTest, ScalarsAreChecked) {
  auto statement = database_->prepare("SELECT VALUE @a");
  quire_error error;
  EXPECT_EQ(quire_bind(statement->c_handle(), "a", {QUIRE_ARRAY, 0, 0, nullptr, 0}, &error),
            QUIRE_INVALID_ARGUMENT);
  EXPECT_EQ(quire_bind(statement->c_handle(), "a", {static_cast<quire_type>(77), 0, 0, nullptr, 0}, &error),
            QUIRE_INVALID_ARGUMENT);
  EXPECT_EQ(quire_bind(statement->c_handle(), "a", {QUIRE_STRING, 0, 0, nullptr, 5}, &error), QUIRE_MISUSE);
  EXPECT_EQ(quire_bind(statement->c_handle(), "a", {QUIRE_STRING, 0, 0, nullptr, 0}, &error), QUIRE_OK);
  EXPECT_EQ(rows(*statement), "\"\"\n");
}

TEST_F(BoundaryTest, ALongMessageIsCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "é";
  const auto error = database_->container(name).error();
  EXPECT_EQ(error.code, QUIRE_CONTAINER_NOT_FOUND);
  EXPECT_GE(error.message.size(), 1022u);
  EXPECT_EQ(error.message.substr(error.message.size() - 2), "é");
}

TEST_F(BoundaryTest, AMessageIsUtf8WhateverItNames) {
  EXPECT_TRUE(fails_with(database_->container("a\xFF\xC3z"), QUIRE_CONTAINER_NOT_FOUND, "'a\uFFFD\uFFFDz'"));
  EXPECT_TRUE(fails_with(Database::open(file("no\xFE/x")), QUIRE_CANNOT_OPEN, "no\uFFFD/x"));
  EXPECT_TRUE(
      fails_with(database_->container(std::string(1, '\0') + "é"), QUIRE_CONTAINER_NOT_FOUND, "'\\0é'"));
}

// As -1 is that another language passes on.
TEST_F(BoundaryTest, ALengthThatNoTextHasIsReported) {
  quire_statement* statement = nullptr;
  quire_error error;
  EXPECT_EQ(quire_prepare(database_->c_handle(), "SELECT 1", SIZE_MAX, &statement, &error), QUIRE_MISUSE);
  EXPECT_THAT(error.message, testing::HasSubstr("18446744073709551615 bytes"));
}

}  // namespace
}  // namespace quire::tests
