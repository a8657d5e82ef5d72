#include "sql/value/extended_json.h"

#include <gtest/gtest.h>

#include "tests/sql/value/sample_documents.h"

namespace quire::sql {
namespace {

std::string mapped(std::string_view json) {
  SampleDocuments documents;
  Arena arena;
  const std::string built = json_of(map_extended_json(documents.build(json), arena));
  EXPECT_EQ(json_of(map_extended_json(documents.read(json), arena)), built) << "encoded and built map alike";
  return built;
}

TEST(ExtendedJson, AMongoexportLineBecomesAPlainItem) {
  EXPECT_EQ(
      mapped(R"({"_id":{"$oid":"5f1"},"at":{"$date":"2024-02-29T12:34:56.789Z"},"n":{"$numberLong":"42"}})"),
      R"({"id":"5f1","at":"2024-02-29T12:34:56.789Z","n":42})");
}

TEST(ExtendedJson, IdIsMadeAStringAndLeftAloneWhereThereIsOne) {
  EXPECT_EQ(mapped(R"({"_id":7})"), R"({"id":"7"})");
  EXPECT_EQ(mapped(R"({"_id":{"$numberInt":"7"},"a":{"_id":1}})"), R"({"id":"7","a":{"_id":1}})");
  EXPECT_EQ(mapped(R"({"_id":{"a":1}})"), R"({"id":"{\"a\":1}"})");
  EXPECT_EQ(mapped(R"({"_id":7,"id":"x"})"), R"({"_id":7,"id":"x"})");
}

TEST(ExtendedJson, DatesOfEveryFormBecomeIsoText) {
  const auto date = [](const std::string& inner) { return mapped(R"({"$date":)" + inner + "}"); };
  EXPECT_EQ(date(R"({"$numberLong":"1709210096789"})"), R"("2024-02-29T12:34:56.789Z")");
  EXPECT_EQ(date("1709210096789"), R"("2024-02-29T12:34:56.789Z")");
  EXPECT_EQ(date(R"({"$numberLong":"-1"})"), R"("1969-12-31T23:59:59.999Z")");
  EXPECT_EQ(date(R"("2024-02-29T12:34:56Z")"), R"("2024-02-29T12:34:56.000Z")");
  EXPECT_EQ(date(R"("2024-02-29T12:34:56.7+02:00")"), R"("2024-02-29T10:34:56.700Z")");
  EXPECT_EQ(date(R"("2024-02-29T12:34:56.1234567-0130")"), R"("2024-02-29T14:04:56.123Z")");
  for (const std::string bad : {R"("2023-02-29T12:34:56Z")", R"("2024-02-29")", R"("2024-02-29T12:34:56")",
                                R"("")", R"("2024-02-29T12:34:56.Z")", R"("2024-02-29T24:00:00Z")", "true",
                                "1e300", R"("2024-02-29T12:34:56+0")", R"("9999-12-31T23:59:59-01")"})
    EXPECT_EQ(date(bad), json_of(SampleDocuments().build(R"({"$date":)" + bad + "}")));
}

TEST(ExtendedJson, NumbersBecomeNumbers) {
  EXPECT_EQ(mapped(R"([{"$numberInt":"-5"},{"$numberLong":"9223372036854775807"},{"$numberDouble":"2.50"}])"),
            "[-5,9223372036854775807,2.5]");
  EXPECT_EQ(mapped(R"([{"$numberDouble":"NaN"},{"$numberDouble":"-Infinity"}])"), R"(["NaN","-Infinity"])");
  EXPECT_EQ(
      mapped(
          R"([{"$numberDecimal":"19.99"},{"$numberDecimal":"0.1234567890123456789"},{"$numberDecimal":"NaN"}])"),
      R"([19.99,"0.1234567890123456789","NaN"])");
}

TEST(ExtendedJson, TheOtherTypesBecomeTheirContent) {
  EXPECT_EQ(
      mapped(
          R"([{"$binary":{"base64":"AQID","subType":"00"}},{"$binary":"AQID","$type":"00"},{"$uuid":"u-1"}])"),
      R"(["AQID","AQID","u-1"])");
  EXPECT_EQ(mapped(R"([{"$timestamp":{"t":1,"i":2}},{"$regularExpression":{"pattern":"a","options":"i"}}])"),
            R"([{"t":1,"i":2},{"pattern":"a","options":"i"}])");
  EXPECT_EQ(mapped(R"([{"$minKey":1},{"$undefined":true}])"), "[null,null]");
}

TEST(ExtendedJson, WhatIsNoneOfTheseStaysAsItIs) {
  for (const std::string_view json : {R"({"$oid":5})", R"({"$oid":"a","b":1})", R"({"$numberLong":"x"})",
                                      R"({"$new":1})", R"({"$binary":{}})", "[]", "1"})
    EXPECT_EQ(mapped(json), json);
}

}  // namespace
}  // namespace quire::sql
