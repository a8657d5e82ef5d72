// Values through the public API.
#include <cmath>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

class ValueTest : public DatabaseTest {
 protected:
  // Good until the next call.
  Value value_of(std::string_view json) {
    statement_.emplace(std::move(database_->prepare("SELECT VALUE @v").value()));
    EXPECT_TRUE(succeeds(statement_->bind("v", Json{json})));
    EXPECT_TRUE(statement_->step().value());
    return statement_->row();
  }
  std::optional<Statement> statement_;
};

TEST_F(ValueTest, ReadsPathsWhereTheyLie) {
  const Value value = value_of(R"({"a":[{"b":"text"},7],"n":null,"t":true})");
  EXPECT_EQ(value["a"][0]["b"].as_string(), "text");
  EXPECT_EQ(value["a"][1].as_integer(), 7);
  EXPECT_TRUE(value["n"].is_null());
  EXPECT_TRUE(value["t"].as_boolean());
  EXPECT_TRUE(value["a"][2].is_undefined());
  EXPECT_TRUE(value["x"]["y"][SIZE_MAX].is_undefined());
  EXPECT_TRUE(Value().is_undefined());
}

TEST_F(ValueTest, IteratesElementsAndMembersInSourceOrder) {
  std::string seen;
  const Value value = value_of(R"({"z":[1,2],"é":"x","a":{}})");
  for (const auto& [name, member] : value.members()) seen += std::string(name) + member.to_json().value();
  EXPECT_EQ(seen, R"(z[1,2]é"x"a{})");
  int64_t sum = 0;
  for (const Value element : value["z"].elements()) sum += element.as_integer();
  EXPECT_EQ(sum, 3);
  EXPECT_TRUE(value.elements().empty());
  EXPECT_TRUE(value["z"].members().empty());
  EXPECT_EQ(value.member_at(1).name, "é");
  EXPECT_TRUE(value.member_at(3).value.is_undefined());
  static_assert(std::forward_iterator<decltype(value.elements().begin())>);
}

TEST_F(ValueTest, AMemberWithoutALetterInItsNameIsFoundByIt) {
  const Value value = value_of(R"({"":5})");
  EXPECT_EQ(value[std::string_view()].as_integer(), 5);
  EXPECT_EQ(value[""].as_integer(), 5);
  EXPECT_NE(value.member_at(0).name.data(), nullptr);
  EXPECT_EQ(value.member_at(1).name.data(), nullptr);
}

// A character may be meant as a text or as a number.
TEST_F(ValueTest, AScalarIsMadeOfNumbersAndTextsButOfNoCharacter) {
  const auto are_scalars = []<typename... Types>() {
    return (std::is_constructible_v<Scalar, Types> && ...);
  };
  static_assert(are_scalars.operator()<bool, signed char, unsigned char, short, unsigned, long, uint64_t>());
  static_assert(are_scalars.operator()<float, double, const char*, std::string, std::nullptr_t>());
  const auto is_any = []<typename... Types>() { return (std::is_constructible_v<Scalar, Types> || ...); };
  static_assert(!is_any.operator()<char, wchar_t, char8_t, char16_t, char32_t>());
}

TEST_F(ValueTest, ConvertsNumbersWithinTheirBounds) {
  const Value value = value_of("[9223372036854775807,1e300,-1e300,2.9,-2.9,\"5\"]");
  EXPECT_EQ(value[0].as_integer(), INT64_MAX);
  EXPECT_EQ(value[1].as_integer(), INT64_MAX);
  EXPECT_EQ(value[2].as_integer(), INT64_MIN);
  EXPECT_EQ(value[3].as_integer(), 2);
  EXPECT_EQ(value[4].as_integer(), -2);
  EXPECT_EQ(value[5].as_integer(), 0);
  EXPECT_EQ(value[3].as_real(), 2.9);
  EXPECT_TRUE(value[0].is_integer());
  EXPECT_TRUE(value[3].is_number());
}

TEST_F(ValueTest, AnotherTypeGivesNothing) {
  const Value value = value_of(R"("")");
  EXPECT_EQ(value.as_string(), "");
  size_t length = 9;
  EXPECT_NE(quire_value_string(value.c_value(), &length), nullptr);
  EXPECT_EQ(length, 0u);
  EXPECT_EQ(quire_value_string(Value().c_value(), &length), nullptr);
  EXPECT_FALSE(value.as_boolean());
  EXPECT_EQ(value.as_real(), 0.0);
  EXPECT_EQ(value.size(), 0u);
}

TEST_F(ValueTest, PrintsCompactAndPrettyJson) {
  const Value value = value_of(R"({"a":[1,{"b":"\u00e9\n"}],"c":{}})");
  EXPECT_EQ(value.to_json().value(), R"({"a":[1,{"b":"é\n"}],"c":{}})");
  EXPECT_EQ(value["a"].to_pretty_json().value(), "[\n  1,\n  {\n    \"b\": \"é\\n\"\n  }\n]");
}

TEST_F(ValueTest, ABufferIsReusedAndReleased) {
  quire_buffer buffer{};
  ASSERT_EQ(quire_value_json(value_of("\"a long enough text\"").c_value(), &buffer, nullptr), QUIRE_OK);
  const char* const data = buffer.data;
  ASSERT_EQ(quire_value_json(value_of("1").c_value(), &buffer, nullptr), QUIRE_OK);
  EXPECT_EQ(buffer.data, data);
  EXPECT_EQ(std::string_view(buffer.data, buffer.length), "1");
  quire_buffer_release(&buffer);
  EXPECT_EQ(buffer.data, nullptr);
  quire_buffer_release(&buffer);
  quire_buffer_release(nullptr);
}

}  // namespace
}  // namespace quire::tests
