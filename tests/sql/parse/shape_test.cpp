#include "sql/parse/shape.h"

#include <gtest/gtest.h>

namespace quire::sql {
namespace {

TEST(Shape, LeavesLiteralsAndBlanksOut) {
  EXPECT_EQ(shape_of("SELECT  c.a\nFROM c WHERE c.x = 12.5 AND c.name='it\\'s'"),
            shape_of("SELECT c.a FROM c WHERE c.x = 7 AND c.name = \"b\" -- why not\n;"));
  EXPECT_EQ(shape_of("SELECT VALUE COUNT(1) FROM c WHERE c[\"order\"] = @o OR c.n IN (1, 2, 3)"),
            "SELECT VALUE COUNT(?) FROM c WHERE c[\"order\"] = @o OR c.n IN (?)");
  EXPECT_EQ(shape_of("SELECT * FROM c WHERE STARTSWITH(LOWER(c.a.b[0]), 'x')"),
            "SELECT * FROM c WHERE STARTSWITH(LOWER(c.a.b[?]), ?)");
}

TEST(Shape, TakesAnyText) {
  EXPECT_EQ(shape_of(""), "");
  EXPECT_EQ(shape_of("SELECT 'open"), "SELECT");
  EXPECT_LE(shape_of("SELECT " + std::string(5000, 'x')).size(), kLongestShape);
  // Cut between characters.
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "é";
  for (const char* first : {"", "x"}) {
    const std::string shape = shape_of("SELECT c[\"" + (first + name) + "\"]");
    EXPECT_LE(shape.size(), kLongestShape);
    EXPECT_TRUE(shape.ends_with("é...")) << shape;
  }
}

}  // namespace
}  // namespace quire::sql
