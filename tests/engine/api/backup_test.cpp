// Copies of a database in use, and the table of functions.
#include <filesystem>
#include <set>
#include <string>

#include "quire/quire.hpp"
#include "tests/engine/api/database_fixture.h"

namespace quire {
namespace {

TEST(BackupTest, ACopyHasWhatWasThereAndNothingLater) {
  const auto folder = std::filesystem::temp_directory_path() / ("quire-backup-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  {
    auto database = Database::open((folder / "a.quire").string());
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->create_container(R"({"id":"c"})"));
    auto container = database->container("c");
    ASSERT_TRUE(container->create(R"({"id":"1"})"));
    ASSERT_TRUE(database->backup((folder / "b.quire").string()));
    ASSERT_TRUE(container->create(R"({"id":"2"})"));
    const auto again = database->backup((folder / "b.quire").string());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, QUIRE_CANNOT_OPEN);
    EXPECT_FALSE(database->backup((folder / "none" / "b.quire").string()));
    EXPECT_TRUE(tests::fails_with(database->backup(""), QUIRE_CANNOT_OPEN, "the path of the copy is empty"));
  }
  {
    auto copy = Database::open((folder / "b.quire").string());
    ASSERT_TRUE(copy);
    auto container = copy->container("c");
    ASSERT_TRUE(container);
    EXPECT_TRUE(container->read_json({}, "1"));
    EXPECT_FALSE(container->read_json({}, "2"));
  }
  std::filesystem::remove_all(folder);
}

TEST(FunctionTableTest, HoldsEachFunctionOnceAndThenEnds) {
  std::set<std::string> names;
  quire_function function;
  size_t count = 0;
  for (; quire_function_at(count, &function) != 0; ++count) {
    EXPECT_TRUE(names.insert(function.name).second) << function.name;
    EXPECT_TRUE(std::string(function.signature).starts_with(function.name)) << function.signature;
    EXPECT_FALSE(std::string(function.summary).empty()) << function.name;
  }
  EXPECT_GT(count, 100U);
  EXPECT_TRUE(names.contains("ARRAY_CONTAINS") && names.contains("COUNT"));
  EXPECT_EQ(quire_function_at(count + 5, &function), 0);
  EXPECT_EQ(quire_function_at(0, nullptr), 0);
}

}  // namespace
}  // namespace quire
