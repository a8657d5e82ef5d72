// JSON text to documents and to built values, and back to text.
#include "sql/value/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sql/value/document_writer.h"
#include "sql/value/number_text.h"
#include "tests/sql/value/sample_documents.h"

namespace quire::sql {
namespace {

TEST(Json, TextsThatAreTheirOwnShortestFormComeBackUnchanged) {
  SampleDocuments documents;
  for (const std::string_view json : {"null",
                                      "true",
                                      "false",
                                      "0",
                                      "63",
                                      "64",
                                      "-1",
                                      "127",
                                      "128",
                                      "-128",
                                      "-129",
                                      "32767",
                                      "32768",
                                      "-32769",
                                      "2147483647",
                                      "2147483648",
                                      "-2147483649",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "1.5",
                                      "-0.25",
                                      "0.1",
                                      "1e+300",
                                      "1.7976931348623157e+308",
                                      "5e-324",
                                      "123456.789",
                                      "0.000001",
                                      "1e-7",
                                      "1e+21",
                                      "1.5e-9",
                                      R"("")",
                                      R"("text")",
                                      R"("a\"b\\c\n\t\r\b\f\u0001\u001f")",
                                      R"("Zürich 東京 😀")",
                                      "[]",
                                      "{}",
                                      R"([1,"two",null,[],{},[[3]]])",
                                      R"({"z":1,"a":{"z":[{}],"b":""},"m":[]})",
                                      R"({"":{"":[""]}})"}) {
    EXPECT_EQ(documents.round_trip(json), json);
    EXPECT_EQ(json_of(documents.build(json)), json);
  }
}

TEST(Json, OtherSpellingsOfNumbersBecomeTheOneOfJavaScript) {
  SampleDocuments documents;
  const std::pair<std::string_view, std::string_view> spellings[] = {
      {"-0", "0"},
      {"-0.0", "0"},
      {"1.0", "1"},
      {"1E3", "1000"},
      {"1e5", "100000"},
      {"0.10", "0.1"},
      {"1e400e", ""},
      {"9223372036854775808", "9223372036854776000"},
      {"18446744073709551615", "18446744073709552000"},
      {"-9223372036854775809", "-9223372036854775808"},
      {"1e20", "100000000000000000000"},
      {"123456789012345678901234567890", "1.2345678901234568e+29"},
      {"1e-400", "0"},
      {"0e999999999999999999", "0"},
      {"1152921504606846976.0", "1152921504606846976"},
      {"0.1e1", "1"},
      {"2.2250738585072014e-308", "2.2250738585072014e-308"}};
  for (const auto& [text, expected] : spellings) {
    if (expected.empty())
      EXPECT_EQ(documents.error_of(text).code, ErrorCode::invalid_json) << text;
    else
      EXPECT_EQ(documents.round_trip(text), expected) << text;
  }
}

TEST(Json, EveryDoubleReadsBackAsItself) {
  SampleDocuments documents;
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    double number = std::bit_cast<double>(random());
    if (i % 2) number = std::round(std::ldexp(static_cast<double>(random() >> 20), -30) * 1e4) / 1e4;
    if (!std::isfinite(number)) continue;
    const Value back = documents.build(json_of(Value::real(number)));
    ASSERT_EQ(back.as_double(), number) << json_of(Value::real(number));
  }
}

TEST(Json, EveryShortDecimalIsWrittenAsItWasRead) {
  SampleDocuments documents;
  for (int i = 1; i < 200'000; i += 7) {
    if (i % 10 == 0) continue;
    const std::string digits = std::to_string(100'000 + i);
    const std::string json = digits.substr(0, 1) + "." + digits.substr(1);
    ASSERT_EQ(documents.round_trip(json), json);
  }
}

// As the double that it stands for is written, whichever way documents keep it.
TEST(Json, ADecimalOfADocumentIsWrittenAsItsDouble) {
  const auto check = [](int32_t integer, int places) {
    const double real = integer / std::pow(10.0, places);
    char text[kLongestNumber], expected[kLongestNumber];
    const std::string_view written(text, put_decimal(integer, places, text));
    ASSERT_EQ(written, std::string_view(expected, put_number(Value::real(real), expected)))
        << integer << ' ' << places;
  };
  std::mt19937_64 random(11);
  for (int places = 1; places <= 8; ++places) {
    for (const int32_t integer :
         {0, 1, -1, 9, 10, -100, 99'999'999, 100'000'001, 1'000'000'000, INT32_MAX, INT32_MIN})
      check(integer, places);
    for (int64_t power = 1; power < INT32_MAX; power *= 10)
      for (int64_t near = -2; near <= 2; ++near) check(static_cast<int32_t>(power + near), places);
    for (int i = 0; i < 20'000; ++i) check(static_cast<int32_t>(random()) >> random() % 31, places);
  }
}

// As the first value of the smallest array and object, where little stands before its bytes, and behind
// others.
TEST(Json, IntegersOfEveryWidthAreWrittenWhereverTheyStand) {
  SampleDocuments documents;
  std::vector<int64_t> integers;
  for (int64_t i = -130; i <= 130; ++i) integers.push_back(i);
  for (int bits = 14; bits < 63; ++bits)
    for (const int64_t off : {-1, 0, 1})
      for (const int64_t sign : {-1, 1}) integers.push_back(sign * ((int64_t{1} << bits) + off));
  for (const int64_t i : integers)
    for (const char* const form : {"[{}]", R"({{"n":{}}})", R"([[{}],{{"a":1.5,"n":{}}},"x",{}])"}) {
      const std::string json = fmt::format(fmt::runtime(form), i, i, i);
      ASSERT_EQ(documents.round_trip(json), json);
    }
}

TEST(Json, EscapesAreFoundAtEveryPlaceOfStringsOfEveryLength) {
  SampleDocuments documents;
  for (const std::string filling : {"x", "é"}) {
    for (size_t length = 1; length <= 70; ++length) {
      for (size_t at = 0; at < length; ++at) {
        for (const char special : {'"', '\\', '\n', '\x1f', '\x7f', ' ', '!'}) {
          std::string text;
          for (size_t i = 0; i < length; ++i) text += i == at ? std::string(1, special) : filling;
          std::string json;
          write_json_string(text, json);
          ASSERT_EQ(documents.build(json).as_string(), text) << length << ' ' << at;
          ASSERT_EQ(documents.read(json).as_string(), text) << length << ' ' << at;
          const std::string within = R"([{"a":)" + json + R"(,"b":[)" + json + "]}]";
          ASSERT_EQ(documents.round_trip(within), within);
        }
      }
    }
  }
}

TEST(Json, NamesAreEscapedWhereverTheyAreKept) {
  SampleDocuments documents;
  const std::string long_name(KeyDictionary::kLongestName + 1, 'n');
  const std::string text =
      R"({"":1,"\"":2,"a\\b":{"\n\u0001":[{"é\"":3}]},")" + long_name + R"(\"":4,"plain":5})";
  EXPECT_EQ(documents.round_trip(text), text);
  EXPECT_EQ(json_of(documents.build(text)), text);
  std::string pretty;
  write_pretty_json(documents.read(text), pretty);
  EXPECT_EQ(documents.round_trip(pretty), text);
}

TEST(Json, NamesOfEveryLengthAreWritten) {
  SampleDocuments documents;
  for (size_t length = 0; length < KeyDictionary::kLongestName + 2; ++length) {
    for (const char last : {'n', '"'}) {
      std::string name(length, 'n');
      if (length > 0) name.back() = last;
      std::string json;
      write_json_string(name, json);
      const std::string inner = "\"2" + json.substr(1);
      const std::string object = "{" + json + ":1," + inner + ":{" + inner + ":0.5}}";
      ASSERT_EQ(documents.round_trip(object), object);
    }
  }
}

TEST(Json, WhiteSpaceAndEscapesAreTakenAwayInside) {
  SampleDocuments documents;
  EXPECT_EQ(
      documents.round_trip(" { \"a\" : [ 1 ,\t2 ] ,\r\n\"b\\u0041\" : \"\\u00e9\\ud83d\\ude00\\/\" } \n"),
      R"({"a":[1,2],"bA":"é😀/"})");
}

TEST(Json, TheLastOfDuplicateKeysWinsAtThePlaceOfTheFirst) {
  SampleDocuments documents;
  const std::string long_name(70, 'k');
  for (const std::string& json :
       {std::string(R"({"a":1,"b":{"a":2},"a":[3],"c":4,"c":5})"),
        R"({")" + long_name + R"(":1,"b":{"a":2},")" + long_name + R"(":[3],"c":4,"c":5})"}) {
    const std::string first = json.find("kk") == std::string::npos ? "a" : long_name;
    const std::string expected = "{\"" + first + R"(":[3],"b":{"a":2},"c":5})";
    EXPECT_EQ(documents.round_trip(json), expected);
    EXPECT_EQ(json_of(documents.build(json)), expected);
    EXPECT_TRUE(validate_document(bytes_of(documents.bytes(json)), documents.dictionary()));
  }
}

// Whichever of their bits they share.
TEST(Json, KeysThatDoNotRiseAreDuplicatesOnlyWhereTheyAreEqual) {
  SampleDocuments documents;
  for (int i = 0; i < 200; ++i) documents.dictionary().add("n" + std::to_string(i));
  const auto member = [](int name, int value) {
    return "\"n" + std::to_string(name) + "\":" + std::to_string(value);
  };
  for (int first = 0; first < 200; ++first)
    for (int second = 0; second < 200; ++second) {
      const std::string json = "{" + member(199, 1) + "," + member(first, 2) + "," + member(second, 3) + "}";
      std::string expected = json;
      if (first == 199 && second == 199)
        expected = "{" + member(199, 3) + "}";
      else if (first == 199)
        expected = "{" + member(199, 2) + "," + member(second, 3) + "}";
      else if (second == 199)
        expected = "{" + member(199, 3) + "," + member(first, 2) + "}";
      else if (first == second)
        expected = "{" + member(199, 1) + "," + member(first, 3) + "}";
      ASSERT_EQ(documents.round_trip(json), expected);
    }
}

TEST(Json, ManyDuplicateKeysAreNotQuadratic) {
  SampleDocuments documents;
  std::string json = "{";
  for (int i = 0; i < 100'000; ++i)
    json += "\"" + std::string(65, 'n') + std::to_string(i % 50'000) + "\":" + std::to_string(i) + ",";
  json.back() = '}';
  EXPECT_EQ(documents.read(json).size(), 50'000);
  EXPECT_EQ(documents.build(json).size(), 50'000);
}

// Whichever way the digits take, the bytes of a number are those of its double.
TEST(Json, ADecimalsBytesAreThoseOfItsDouble) {
  SampleDocuments documents;
  DocumentWriter writer;
  std::mt19937_64 random(7);
  std::vector<std::string> texts = {
      "0.0",         "-0.0",        "0.5",         "-0.5",         "1.50",          "10.0",
      "214748363.9", "214748364.1", "214748364.7", "-214748364.1", "21.47483647",   "21.47483648",
      "0.00000001",  "0.000000001", "0.12345678",  "1.5e0",        "15e-1",         "1.5E1",
      "123456.7",    "1234567.8",   "12345678.9",  "1000000.0001", "99999999.9999", "100000.00000001"};
  for (int i = 0; i < 100'000; ++i) {
    std::string digits = std::to_string(random() >> (random() % 64));
    const size_t places = 1 + random() % 10;
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, ".");
    texts.push_back((i % 2 == 0 ? "" : "-") + digits);
  }
  for (const std::string& text : texts) {
    writer.start(documents.dictionary());
    writer.real(std::strtod(text.c_str(), nullptr));
    std::string out;
    ASSERT_TRUE(JsonReader().to_document(text, documents.dictionary(), out)) << text;
    ASSERT_EQ(out, writer.bytes()) << text;
    // Where there is more to read behind it.
    const std::string& more = documents.bytes("[" + text + ",\"some more text\"]");
    ASSERT_EQ(more.substr(5, out.size()), out) << text;
  }
}

// As many at a time as a word holds, or one by one near the end of the text.
TEST(Json, NumbersOfEveryLengthAreReadAtEveryDistanceFromTheEnd) {
  SampleDocuments documents;
  for (size_t length = 1; length <= 18; ++length)
    for (size_t behind = 0; behind < 24; ++behind)
      for (const char stop : {'}', ']', ' '}) {
        const std::string digits =
            std::string("-987654321987654321").substr(behind % 2, length + 1 - behind % 2);
        const std::string white(behind, ' ');
        std::string json = digits + white;
        if (stop == '}') json = "{\"n\":" + digits + white + "}";
        if (stop == ']') json = "[" + digits + ",7" + white + "]";
        const Value value = documents.read(json);
        const Value number = stop == '}' ? value.member("n") : stop == ']' ? value.element(0) : value;
        ASSERT_EQ(number.kind(), Kind::integer) << json;
        ASSERT_EQ(std::to_string(number.as_integer()), digits) << json;
      }
  for (const char other : {'/', ':', 'a', '\x7F', '+', '"'}) {
    for (const std::string digits : {"123", "-1", "1.5", "-0.25", "1234567.1234567"}) {
      const std::string json = "[" + digits + other + "4567890123456789012345]";
      EXPECT_EQ(documents.error_of(json).code, ErrorCode::invalid_json) << json;
    }
  }
  for (const std::string bad : {"01", "-", "-01", "1.", "1.e1", "-.5", "00", "1.5.5", "1e", "1.5x", "--1"})
    EXPECT_EQ(documents.error_of("[" + bad + ",                         1]").code, ErrorCode::invalid_json)
        << bad;
}

TEST(Json, StringsOfEveryLengthAreTakenAtEveryDistanceFromTheEnd) {
  SampleDocuments documents;
  std::string text;
  for (size_t length = 0; length < 300; ++length) {
    for (size_t behind = 0; behind < 20; ++behind) {
      const std::string json = "[\"" + text + "\"" + std::string(behind, ' ') + "]";
      const Value value = documents.read(json);
      ASSERT_EQ(value.element(0).as_string(), text);
      ASSERT_TRUE(validate_document(value.encoded_bytes(), documents.dictionary()));
    }
    ASSERT_EQ(documents.round_trip("{\"s\":\"" + text + "\",\"t\":\"\\\\\"}"),
              "{\"s\":\"" + text + "\",\"t\":\"\\\\\"}");
    // An escape close behind is none of the string's.
    ASSERT_EQ(documents.round_trip("[\"" + text + "\",\"\\n\"]"), "[\"" + text + "\",\"\\n\"]");
    text += static_cast<char>('a' + length % 26);
  }
}

// What was learnt of names does not outlive them: numbers that were taken back are given to others.
TEST(Json, NamesThatWereTakenBackAreNotTakenForThoseThatCameInTheirPlace) {
  const auto dictionary = KeyDictionary::create();
  JsonReader reader;
  const auto round_trip = [&](std::string_view json) {
    std::string out;
    EXPECT_TRUE(reader.to_document(json, *dictionary, out));
    return json_of(read_document(bytes_of(out), dictionary->number()));
  };
  const std::string_view first = R"({"id":1,"kept":{"inner":2,"other":3},"gone":{"under":4},"last":5})";
  EXPECT_EQ(round_trip(first), first);
  EXPECT_EQ(round_trip(first), first);
  for (size_t size = dictionary->size(); size-- > 0;) {
    dictionary->truncate(size);
    const std::string_view second = R"({"id":1,"new":{"under":4},"kept":{"x":2,"other":3},"y":[{"gone":1}]})";
    EXPECT_EQ(round_trip(second), second);
    EXPECT_EQ(round_trip(first), first);
    dictionary->truncate(size);
    EXPECT_EQ(round_trip(first), first);
  }
  // Another dictionary has other numbers.
  const auto other = KeyDictionary::create();
  std::string out;
  EXPECT_TRUE(reader.to_document(R"({"last":1,"id":{"gone":2}})", *other, out));
  EXPECT_EQ(json_of(read_document(bytes_of(out), other->number())), R"({"last":1,"id":{"gone":2}})");
  EXPECT_EQ(round_trip(first), first);
}

TEST(Json, BadTextsAreRefusedWithTheirPlace) {
  SampleDocuments documents;
  struct Bad {
    std::string_view json;
    uint32_t line;
    uint32_t column;
    std::string_view message;
  };
  constexpr std::string_view kHalf = "a string holds half of a surrogate pair, which UTF-8 cannot";
  const Bad bad[] = {
      {"", 1, 1, "the text is empty"},
      {" \n ", 2, 2, "the text is empty"},
      {"{\"a\":1,\n \"b\" 2}", 2, 6, "expected ':' after a property name"},
      {"{\"a\":1 \"b\":2}", 1, 8, "expected ',' or '}' in an object"},
      {"{\"a\":1,}", 1, 8, "expected a property name in double quotes"},
      {"{a:1}", 1, 2, "expected a property name in double quotes"},
      {"[1 2]", 1, 4, "expected ',' or ']' in an array"},
      {"[1,]", 1, 4, "expected a value"},
      {"[1", 1, 3, "expected ',' or ']' in an array"},
      {"{\"a\":", 1, 6, "the text ends where a value is expected"},
      {"1 2", 1, 3, "only white space may follow the value"},
      {"{}}", 1, 3, "only white space may follow the value"},
      {"\"abc", 1, 1, "a string is not closed"},
      {"[\"abc\\\"]", 1, 2, "a string is not closed"},
      {"\"a\nb\"", 1, 3, "a control character in a string must be escaped"},
      {"\"é\\x\"", 1, 3, "invalid escape in a string"},
      {"\"\\u12\"", 1, 2, "invalid escape in a string"},
      {"\"\\ud800\"", 1, 2, kHalf},
      {"\"\\ud800\\u0041\"", 1, 2, kHalf},
      {"\"\\uD83D\"", 1, 2, kHalf},
      {"\"\\ud83g\"", 1, 2, "invalid escape in a string"},
      {"\"\\udc00\\ud800\"", 1, 2, kHalf},
      {"\"ab\xFF\"", 1, 4, "invalid UTF-8"},
      {"\"\xED\xA0\x80\"", 1, 2, "invalid UTF-8"},
      {"\"\xC0\x80\"", 1, 2, "invalid UTF-8"},
      {"01", 1, 2, "invalid number"},
      {"-", 1, 2, "invalid number"},
      {"1.", 1, 3, "invalid number"},
      {"1.e5", 1, 3, "invalid number"},
      {"1e", 1, 3, "invalid number"},
      {"1x", 1, 2, "invalid number"},
      {"12\"a\"", 1, 3, "invalid number"},
      {"+1", 1, 1, "expected a value"},
      {".5", 1, 1, "expected a value"},
      {"1e400", 1, 1, "the number is too large for a double"},
      {"NaN", 1, 1, "expected a value"},
      {"truex", 1, 1, "expected a value"},
      {"nul", 1, 1, "expected a value"},
      {"'a'", 1, 1, "expected a value"},
      {"{\"a\":\\\"b\"}", 1, 6, "expected a value"},
  };
  for (const Bad& each : bad) {
    const Error error = documents.error_of(each.json);
    EXPECT_EQ(error.code, ErrorCode::invalid_json) << each.json;
    EXPECT_EQ(error.message, "invalid JSON: " + std::string(each.message)) << each.json;
    EXPECT_EQ(error.position.line, each.line) << each.json;
    EXPECT_EQ(error.position.column, each.column) << each.json;
  }
}

TEST(Json, NestingIsTakenTo128LevelsAndRefusedAt129) {
  SampleDocuments documents;
  EXPECT_EQ(documents.round_trip(nested_arrays(128)), nested_arrays(128));
  const Error error = documents.error_of(nested_arrays(129));
  EXPECT_EQ(error.code, ErrorCode::invalid_json);
  EXPECT_EQ(error.message, "invalid JSON: nesting is deeper than 128 levels");
  EXPECT_EQ(error.position.column, 129U);
  EXPECT_EQ(documents.error_of(std::string(1'000'000, '[')).code, ErrorCode::invalid_json);
  EXPECT_EQ(documents.round_trip("[1]"), "[1]") << "after an error the reader goes on";
}

TEST(Json, EveryPrefixOfATextIsAnErrorOrANumber) {
  SampleDocuments documents;
  const std::string json = R"({"a":[1.5e3,-2,"x\u00e9\n",true,null],"é":{"deep":[{}]}})";
  for (size_t length = 0; length < json.size(); ++length) {
    // On the heap and exactly as long, so that a sanitizer sees any read past the end.
    const std::vector<char> prefix(json.begin(), json.begin() + static_cast<ptrdiff_t>(length));
    EXPECT_EQ(documents.error_of({prefix.data(), prefix.size()}).code, ErrorCode::invalid_json) << length;
  }
}

TEST(Json, PrettyTextIsIndentedByTwoSpaces) {
  SampleDocuments documents;
  std::string pretty;
  write_pretty_json(documents.read(R"({"a":[1,{}],"b":[],"c":"d"})"), pretty);
  EXPECT_EQ(pretty, "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n  \"c\": \"d\"\n}");
}

TEST(Json, WhatJsonLacksIsLeftOutOrNamed) {
  const Value elements[] = {Value::undefined(), Value::integer(1), Value::undefined()};
  const Member members[] = {{"u", Value::undefined()}, {"a", Value::array(elements)}};
  EXPECT_EQ(json_of(Value::object(members)), R"({"a":[1]})");
  EXPECT_EQ(json_of(Value::undefined()), "");
  const double infinity = std::numeric_limits<double>::infinity();
  const Value numbers[] = {Value::real(std::nan("")), Value::real(infinity), Value::real(-infinity)};
  EXPECT_EQ(json_of(Value::array(numbers)), R"(["NaN","Infinity","-Infinity"])");
  EXPECT_FALSE(has_only_finite_numbers(Value::array(numbers)));
  EXPECT_TRUE(has_only_finite_numbers(Value::object(members)));
  std::string text;
  write_number(numbers[2], text);
  EXPECT_EQ(text, "-Infinity");
}

TEST(Json, TextIsAppendedToWhatIsThere) {
  std::string out = "x";
  write_json_string("a\"", out);
  write_number(Value::integer(7), out);
  write_json(Value::null(), out);
  EXPECT_EQ(out, R"(x"a\""7null)");
}

}  // namespace
}  // namespace quire::sql
