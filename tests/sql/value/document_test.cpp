// The binary document: access in place, its sizes and forms, encoding of values, and damaged bytes.
#include "sql/value/document.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <random>

#include "sql/value/comparison.h"
#include "sql/value/document_writer.h"
#include "sql/value/member_reader.h"
#include "tests/sql/value/sample_documents.h"

namespace quire::sql {
namespace {

constexpr std::string_view kReading =
    R"({"id":"XMS-1","n":-70000,"big":9007199254740993,"r":21.57,"ok":true,"no":null,"tags":["a","b",[1,2]],)"
    R"("location":{"type":"Point","coordinates":[1.5,-2.5],"city":"Zürich"},"text":")"
    R"(a string that is longer than the sixty-three bytes which a tag can hold by itself","empty":{}})";

TEST(Document, MembersAndElementsAreFoundInPlace) {
  SampleDocuments documents;
  const Value value = documents.read(kReading);
  const DictionaryNumber dictionary = documents.dictionary().number();
  const auto resolved = [&](std::string_view name) { return resolve_key(name, dictionary); };
  EXPECT_EQ(value.size(), 10U);
  EXPECT_EQ(value.member(resolved("id")).as_string(), "XMS-1");
  EXPECT_EQ(value.member(resolved("n")).as_integer(), -70000);
  EXPECT_EQ(value.member(resolved("big")).as_integer(), 9007199254740993);
  EXPECT_EQ(value.member(resolved("r")).as_real(), 21.57);
  EXPECT_TRUE(value.member(resolved("ok")).is_true());
  EXPECT_TRUE(value.member(resolved("no")).is_null());
  EXPECT_EQ(value.member("location").member(resolved("city")).as_string(), "Zürich");
  EXPECT_EQ(value.member("tags").element(2).element(1).as_integer(), 2);
  EXPECT_TRUE(value.member("tags").element(3).is_undefined());
  EXPECT_TRUE(value.member("tags").element(UINT64_MAX).is_undefined());
  EXPECT_TRUE(value.member(resolved("absent")).is_undefined());
  EXPECT_TRUE(value.member("absent").is_undefined());
  EXPECT_TRUE(value.member("id").member("id").is_undefined());
  EXPECT_TRUE(value.element(0).is_undefined());
  EXPECT_EQ(value.member_at(1).name, "n");
  EXPECT_EQ(value.member("empty").size(), 0U);
}

TEST(Document, AKeyOfAnotherDictionaryIsFoundByItsName) {
  SampleDocuments here;
  SampleDocuments there;
  there.read(R"({"other":1})");
  const Value value = here.read(R"({"a":1,"other":2})");
  EXPECT_EQ(value.member(resolve_key("other", there.dictionary().number())).as_integer(), 2);
  EXPECT_EQ(value.member(resolve_key("other", 0)).as_integer(), 2);
  EXPECT_EQ(
      here.build(R"({"other":3})").member(resolve_key("other", there.dictionary().number())).as_integer(), 3);
}

// An object of each form, with the same members.
TEST(Document, AnExtendedObjectReadsAsAnyOther) {
  SampleDocuments documents;
  const Value own = documents.read(R"({"id":"a","list":[1],"o":{"x":2}})");
  const Value all = documents.read(R"({"id":"a","list":[1],"o":{"x":2},"_ts":7,"_rid":"r"})");
  const Member more[] = {{"_ts", Value::integer(7)}, {"_rid", Value::string("r")}};
  const ExtendedObject parts{own, more};
  const Value extended = Value::extended(parts);
  EXPECT_TRUE(extended.is_object());
  EXPECT_FALSE(extended.is_encoded() || extended.is_built());
  ASSERT_EQ(extended.size(), all.size());
  MemberWalk walk(extended);
  EXPECT_EQ(walk.size(), all.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    const Member member = all.member_at(i);
    Member walked;
    ASSERT_TRUE(walk.next(walked));
    EXPECT_EQ(walked.name, member.name);
    EXPECT_EQ(json_of(walked.value), json_of(member.value));
    EXPECT_EQ(extended.member_at(i).name, member.name);
    EXPECT_EQ(json_of(extended.member(member.name)), json_of(member.value));
    EXPECT_EQ(json_of(extended.member(resolve_key(member.name, own.dictionary()))), json_of(member.value));
  }
  Member walked;
  EXPECT_FALSE(walk.next(walked));
  EXPECT_EQ(walk.size(), all.size());
  EXPECT_TRUE(extended.member_at(all.size()).name.empty());
  EXPECT_TRUE(extended.member("absent").is_undefined());
  EXPECT_TRUE(extended.element(0).is_undefined());
  EXPECT_TRUE(extended.member_bytes(resolve_key("id", own.dictionary())).empty());
  EXPECT_EQ(json_of(extended), json_of(all));
  std::string pretty, pretty_all;
  write_pretty_json(extended, pretty);
  write_pretty_json(all, pretty_all);
  EXPECT_EQ(pretty, pretty_all);
  EXPECT_TRUE(has_only_finite_numbers(extended));
  EXPECT_TRUE(std::is_eq(total_order(extended, all)));
  std::string encoded;
  ASSERT_TRUE(encode_value(extended, documents.dictionary(), encoded));
  EXPECT_EQ(json_of(read_document(bytes_of(encoded), own.dictionary())), json_of(all));
  const Member outer[] = {{"c", extended}};
  EXPECT_EQ(json_of(Value::object(outer)), R"({"c":)" + json_of(all) + "}");
}

TEST(Document, EveryPlaceInObjectsOfEverySizeIsFound) {
  SampleDocuments documents;
  for (int count = 1; count <= 40; ++count) {
    std::string json = "{";
    for (int i = 0; i < count; ++i) json += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
    json.back() = '}';
    const Value value = documents.read(json);
    for (int i = 0; i < 41; ++i) {
      const std::string name = "k" + std::to_string(i);
      const Value member = value.member(resolve_key(name, documents.dictionary().number()));
      if (i < count)
        EXPECT_EQ(member.as_integer(), i);
      else
        EXPECT_TRUE(member.is_undefined());
    }
  }
}

TEST(Document, AKeyWithinARangeIsFoundWhereverItStands) {
  constexpr int kNames = 400;
  SampleDocuments documents;
  const auto name = [](int number) { return "n" + std::to_string(number); };
  std::vector<std::string> names;
  for (int i = 0; i < kNames; ++i) documents.dictionary().add(names.emplace_back(name(i)));
  const auto has = [&](const std::string& json, int first, int last) {
    const DictionaryNumber dictionary = documents.dictionary().number();
    // In a block of its own, so that a read outside of it is seen.
    const std::string& bytes = documents.bytes(json);
    const std::vector<char> copy(bytes.begin(), bytes.end());
    return read_document(std::as_bytes(std::span(copy)), dictionary)
        .has_member_between(resolve_key(names[static_cast<size_t>(first)], dictionary),
                            resolve_key(names[static_cast<size_t>(last)], dictionary));
  };
  for (const int others : {0, 300})
    for (int count = 1; count < 40; ++count)
      for (int at = -1; at < count; ++at)
        for (const int number : {100, 103, 105}) {
          std::string json;
          for (int i = 0; i < count; ++i) {
            const int key = i == at ? number : others + (others == 0 && i % 2 == 1 ? 106 : 0) + i;
            json += (i == 0 ? "{\"" : ",\"") + name(key) + "\":1";
          }
          json += "}";
          ASSERT_EQ(has(json, 100, 105), at >= 0) << json;
          ASSERT_EQ(has(json, 100, number), at >= 0) << json;
          ASSERT_EQ(has(json, number, 350) && others == 0, (at >= 0 || count > 1) && others == 0) << json;
        }
  EXPECT_FALSE(has("{}", 0, kNames - 1));
  EXPECT_FALSE(has(R"({"n0":1,"n255":2})", 256, 300));
  EXPECT_TRUE(has(R"({"n0":1,"n255":2})", 255, 300));
  EXPECT_TRUE(has(R"({"n0":1,"n399":2})", 399, 399));
}

TEST(Document, LongArraysHave32BitOffsets) {
  SampleDocuments documents;
  std::string json = "[";
  for (int i = 0; i < 70'000; ++i) json += std::to_string(i) + ",";
  json.back() = ']';
  const Value value = documents.read(json);
  EXPECT_EQ(value.size(), 70'000U);
  for (int i = 0; i < 70'000; i += 999) EXPECT_EQ(value.element(static_cast<uint64_t>(i)).as_integer(), i);
  EXPECT_EQ(json_of(value), json);
}

TEST(Document, FormsChangeAtTheirBoundsWithoutANotch) {
  SampleDocuments documents;
  for (const size_t length : {0, 63, 64, 255, 256, 65'515, 65'525, 65'526, 65'535, 65'536, 70'000}) {
    const std::string json =
        R"({"a":")" + std::string(length, 'x') + R"(","b":[)" + std::string(length, ' ') + "1]}";
    const std::string& bytes = documents.bytes(json);
    EXPECT_TRUE(validate_document(bytes_of(bytes), documents.dictionary())) << length;
    const Value value = read_document(bytes_of(bytes), documents.dictionary().number());
    EXPECT_EQ(value.member("a").as_string().size(), length);
    EXPECT_EQ(value.member("b").element(0).as_integer(), 1);
  }
  for (const size_t count : {254, 255, 256, 257}) {
    std::string json = "[";
    for (size_t i = 0; i < count; ++i) json += "1,";
    json.back() = ']';
    EXPECT_EQ(documents.round_trip(json), json);
  }
}

// As document_layout.h draws it, number by number.
std::string drawn(bool is_object, const std::vector<size_t>& keys, const std::vector<std::string>& values) {
  const size_t count = values.size();
  size_t body = 0;
  for (const std::string& value : values) body += value.size();
  const auto header_bytes = [&](size_t count_bytes, size_t key_bytes, size_t offset_bytes) {
    return 1 + count_bytes + (is_object ? key_bytes * count : 0) + offset_bytes * (count + 1);
  };
  const bool is_large = count > 255 || header_bytes(1, 2, 2) + body > 65'535;
  const bool is_short = is_object && !is_large && (keys.empty() || std::ranges::max(keys) <= 255);
  const bool is_narrow = !is_large && header_bytes(1, is_short ? 1 : 2, 1) + body <= 255;
  const size_t offset_bytes = is_large ? 4 : is_narrow ? 1 : 2;
  std::string bytes;
  const auto put = [&bytes](size_t number, size_t width) {
    for (size_t i = 0; i < width; ++i) bytes += static_cast<char>(number >> 8 * i);
  };
  put((is_object ? 0xB0U : 0xA0U) | (is_large ? 1U : 0U) | (is_narrow ? 4U : 0U) | (is_short ? 8U : 0U), 1);
  put(count, is_large ? 4 : 1);
  for (const size_t key : keys) put(key, is_short ? 1 : 2);
  size_t offset = header_bytes(is_large ? 4 : 1, is_short ? 1 : 2, offset_bytes);
  put(offset, offset_bytes);
  for (const std::string& value : values) put(offset += value.size(), offset_bytes);
  for (const std::string& value : values) bytes += value;
  return bytes;
}

// Within an array, so that there are bytes behind; each twice, so that its header has the room that it takes.
TEST(Document, HeadersOfEveryCountAreAsDrawn) {
  constexpr size_t kNames = 300;
  SampleDocuments documents;
  for (size_t i = 0; i < kNames; ++i) documents.dictionary().add("n" + std::to_string(i));
  for (size_t count = 0; count <= kNames; count += count < 40 || (count >= 245 && count < 260) ? 1 : 7) {
    for (const size_t length : {0, 1, 5, 60, 300}) {
      for (const int form : {0, 1, 2, 3}) {  // an array, or an object of small, great, falling keys
        const bool is_object = form != 0;
        std::string json;
        std::vector<size_t> keys;
        std::vector<std::string> values;
        for (size_t i = 0; i < count; ++i) {
          const std::string text(i % 3 == 0 ? length : i % 2, 'x');
          const size_t key = form == 2 ? kNames - count + i : form == 3 ? kNames - 1 - i : i;
          json += (i == 0 ? "" : ",") + (is_object ? "\"n" + std::to_string(key) + "\":" : "") + "\"" + text +
                  "\"";
          if (is_object) keys.push_back(key);
          values.push_back(text.size() < 64 ? static_cast<char>(0x40 + text.size()) + text
                                            : "\x8D" + std::string("\x2C\x01") + text);
        }
        json = is_object ? "{" + json + "}" : "[" + json + "]";
        const std::string one = drawn(is_object, keys, values);
        const std::string both = drawn(false, {}, {one, one, "\x42yz"});
        ASSERT_EQ(documents.bytes("[" + json + "," + json + ",\"yz\"]"), both) << form << ' ' << json;
      }
    }
  }
}

TEST(Document, ShortHeadersGiveWayToLongerOnes) {
  for (size_t length = 200; length < 260; ++length) {
    SampleDocuments documents;
    const std::string json = R"({"a":")" + std::string(length, 'x') + R"(","b":["y","z"],"c":{}})";
    EXPECT_TRUE(validate_document(bytes_of(documents.bytes(json)), documents.dictionary())) << length;
    EXPECT_EQ(documents.round_trip(json), json);
  }
  SampleDocuments documents;
  for (int name = 0; name < 300; ++name) {
    const std::string text = std::to_string(name);
    const std::string json = "{\"0\":true,\"n" + text + "\":" + text + "}";
    EXPECT_TRUE(validate_document(bytes_of(documents.bytes(json)), documents.dictionary())) << json;
    EXPECT_EQ(documents.round_trip(json), json);
    const Value value = documents.read(json);
    EXPECT_EQ(value.member("n" + text).as_integer(), name);
    EXPECT_TRUE(value.member("n" + std::to_string(name == 0 ? 299 : name - 1)).is_undefined());
  }
}

// The writer expects the names and the headers of the document before; another one must not be taken for it.
TEST(Document, WhatTheDocumentBeforeWasLikeIsNotTakenForGranted) {
  const std::vector<std::string> texts = {
      R"({"a":1,"b":{"c":2},"d":[1,2]})",
      R"({ "a" : 1 , "b" :{ "c":2} ,"d": [ 1,2 ]})",
      R"({"a":1,"b":{"c":2,"e":"f"},"d":[]})",
      R"({"a":1,"bb":{},"d":[[],[1],{"c":null}]})",
      R"({"\u0061":1,"b":{"\u0063":2},"d":[1,2,3,4,5,6,7,8,9]})",
      R"({"a\"":1,"a\\":2,"a\\\"":3})",
      R"({"a\"":1,"a\\":2,"a\\\"b":3})",
      R"({"b":7,"a":{"c":{"c":{"c":1}}}})",
      "{\"a\":1,\"b\":\"" + std::string(70'000, 'x') + "\",\"d\":[" + std::string(500, ' ') + "3]}",
      R"({"a":[00]})",
  };
  SampleDocuments together;
  for (size_t round = 0; round < texts.size(); ++round) {
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string& text = texts[(i * (round + 1)) % texts.size()];
      SampleDocuments alone;
      const auto expected = alone.error_of(text);
      if (expected.code == ErrorCode::invalid_json) {
        EXPECT_EQ(together.error_of(text).position.offset, expected.position.offset);
        continue;
      }
      EXPECT_EQ(together.round_trip(text), alone.round_trip(text));
      EXPECT_TRUE(validate_document(bytes_of(together.bytes(text)), together.dictionary())) << text;
    }
  }
  EXPECT_EQ(together.error_of(R"({"a":1,"b" {"c":2}})").position.offset, 11U);
  EXPECT_EQ(together.error_of(R"({"a":1,"b)").code, ErrorCode::invalid_json);
}

TEST(Document, DecimalsTakeWhatTheirDigitsNeed) {
  SampleDocuments documents;
  for (const auto& [json, bytes] :
       std::initializer_list<std::pair<std::string_view, size_t>>{{"0.5", 2},
                                                                  {"-12.8", 2},
                                                                  {"12.8", 3},
                                                                  {"21.57", 3},
                                                                  {"-327.68", 3},
                                                                  {"327.68", 4},
                                                                  {"-83.88608", 4},
                                                                  {"83.88608", 5},
                                                                  {"1e-8", 2},
                                                                  {"21.47483647", 5},
                                                                  {"-21.47483647", 5},
                                                                  {"21.47483648", 9},
                                                                  {"1e-9", 9},
                                                                  {"214748364.5", 9},
                                                                  {"0.1234567891", 9},
                                                                  {"1e-300", 9},
                                                                  {"3.141592653589793", 9},
                                                                  {"2.9999999999999996", 9},
                                                                  {"1e+300", 9}}) {
    const std::string encoded = documents.bytes(json);
    EXPECT_EQ(encoded.size(), bytes) << json;
    EXPECT_TRUE(validate_document(bytes_of(encoded), documents.dictionary())) << json;
    EXPECT_EQ(json_of(read_document(bytes_of(encoded), documents.dictionary().number())), json);
    for (size_t cut = 1; cut < encoded.size(); ++cut)
      EXPECT_TRUE(read_document(bytes_of(std::string_view(encoded).substr(0, cut)), 0).is_undefined());
  }
}

// Bit for bit, and as short as its digits for all that are decimals.
TEST(Document, RealsComeBackAsTheyWere) {
  SampleDocuments documents;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const int places = 1 + static_cast<int>(random() % 10);
    const auto digits = static_cast<int64_t>(random() >> (random() % 64));
    double value = static_cast<double>(digits) / std::pow(10.0, places);
    if (i % 3 == 0) value = std::nextafter(value, i % 2 == 0 ? 0 : 1e300);
    if (i % 5 == 0) value = -value;
    DocumentWriter writer;
    writer.start(documents.dictionary());
    writer.real(value);
    const Value read = read_document(bytes_of(writer.bytes()), documents.dictionary().number());
    const Value expected = Value::number(value);
    ASSERT_EQ(read.kind(), expected.kind()) << value;
    if (read.kind() == Kind::real) {
      ASSERT_EQ(std::bit_cast<uint64_t>(read.as_real()), std::bit_cast<uint64_t>(value));
    } else {
      ASSERT_EQ(read.as_integer(), expected.as_integer());
    }
    if (places <= 8 && i % 3 != 0 && std::abs(digits) < INT32_MAX) {
      ASSERT_LE(writer.bytes().size(), 5U) << value;
    }
  }
}

TEST(Document, TheFormsOfFormat3AreRead) {
  SampleDocuments documents;
  EXPECT_EQ(documents.round_trip(R"({"a":7,"b":"xy"})"), R"({"a":7,"b":"xy"})");
  const std::string_view object("\xB0\2\0\0\1\0\x0C\0\x0D\0\x10\0\7\x42xy", 16);
  const std::string_view array("\xA0\2\x08\0\x09\0\x0A\0\7\x40", 10);
  for (const auto& [bytes, json] :
       {std::pair(object, R"({"a":7,"b":"xy"})"), std::pair(array, R"([7,""])")}) {
    EXPECT_TRUE(validate_document(bytes_of(bytes), documents.dictionary()));
    EXPECT_EQ(json_of(read_document(bytes_of(bytes), documents.dictionary().number())), json);
  }
}

TEST(Document, NamesThatTheDictionaryCannotTakeStandInline) {
  SampleDocuments documents;
  std::string json = "{";
  for (int i = 0; i < 5'000; ++i) json += "\"key" + std::to_string(i) + "\":[" + std::to_string(i) + "],";
  json += "\"" + std::string(65, 'x') + "\":true,\"" + std::string(5'000, 'y') + "\":{}}";
  const std::string& bytes = documents.bytes(json);
  EXPECT_EQ(documents.dictionary().size(), KeyDictionary::kMostNames);
  EXPECT_TRUE(validate_document(bytes_of(bytes), documents.dictionary()));
  const Value value = read_document(bytes_of(bytes), documents.dictionary().number());
  EXPECT_EQ(json_of(value), json);
  const DictionaryNumber dictionary = documents.dictionary().number();
  EXPECT_EQ(value.member(resolve_key("key7", dictionary)).element(0).as_integer(), 7);
  EXPECT_EQ(value.member(resolve_key("key4999", dictionary)).element(0).as_integer(), 4999);
  EXPECT_TRUE(value.member(resolve_key(std::string(65, 'x'), dictionary)).is_true());
  EXPECT_TRUE(value.member(resolve_key("key5000", dictionary)).is_undefined());
}

TEST(Document, TheEmptyNameIsANameLikeOthersEvenInAFreshDictionary) {
  SampleDocuments documents;
  EXPECT_EQ(documents.round_trip(R"({"":{"":1},"a":2})"), R"({"":{"":1},"a":2})");
  EXPECT_EQ(documents.dictionary().size(), 2U);
}

TEST(Document, AReadingIsAQuarterSmallerThanItsJson) {
  SampleDocuments documents;
  const std::string json =
      R"({"id":"XMS-000000001","deviceId":"dev-000269","readingTime":"2026-03-07T14:02:00Z","metricType":"Humidity",)"
      R"("unit":"Fahrenheit","metricValue":75.25,"location":{"type":"Point","coordinates":[-28.56463,84.65628],)"
      R"("city":"Hanoi"},"tags":["jjjjj","bbbbb"],"owner":{"first":"Thomas","last":"Andersen","emails":)"
      R"([{"email":"t1@andersen.com","type":"work"},{"email":"h1@andersen.com","type":"home"}]},"note":")" +
      std::string(100, 'x') + R"(","active":true,"seq":41})";
  EXPECT_LT(documents.bytes(json).size(), json.size() * 75 / 100);
}

TEST(Document, AnyValueIsEncodedAgainByAnyDictionary) {
  SampleDocuments from;
  SampleDocuments to;
  to.read(R"({"shifts":1,"the":2,"numbers":3})");
  for (const Value& value : {from.read(kReading), from.build(kReading)}) {
    std::string bytes = "prefix";
    ASSERT_TRUE(encode_value(value, to.dictionary(), bytes));
    const auto document = bytes_of(std::string_view(bytes).substr(6));
    EXPECT_TRUE(validate_document(document, to.dictionary()));
    const Value again = read_document(document, to.dictionary().number());
    EXPECT_EQ(json_of(again), kReading);
    EXPECT_TRUE(deep_equal(again, value));
  }
}

TEST(Document, EncodingLeavesOutUndefinedAndRefusesDeepValues) {
  SampleDocuments documents;
  const Member members[] = {{"a", Value::undefined()}, {"b", Value::real(2.0)}};
  std::string bytes;
  ASSERT_TRUE(encode_value(Value::object(members), documents.dictionary(), bytes));
  EXPECT_EQ(json_of(read_document(bytes_of(bytes), documents.dictionary().number())), R"({"b":2})");

  std::vector<Value> levels(130);
  levels[0] = Value::integer(1);
  for (size_t i = 1; i < levels.size(); ++i) levels[i] = Value::array({&levels[i - 1], 1});
  bytes.clear();
  EXPECT_TRUE(encode_value(levels[128], documents.dictionary(), bytes));
  bytes.clear();
  const auto refused = encode_value(levels[129], documents.dictionary(), bytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_json);
  EXPECT_TRUE(bytes.empty());
}

// JSON that was made by reading each value, not by going over their bytes.
std::string json_by_values(const Value& value) {
  std::string pretty, json;
  write_pretty_json(value, pretty);
  bool is_in_string = false;
  for (size_t at = 0; at < pretty.size(); ++at) {
    const char c = pretty[at];
    if (c == '"') is_in_string = !is_in_string;
    if (is_in_string || (c != ' ' && c != '\n')) json += c;
    if (c == '\\') json += pretty[++at];
  }
  return json;
}

// Uses everything that reads a value, on bytes that may be damaged.
void walk(const Value& value, KeyDictionary& dictionary) {
  ASSERT_EQ(json_of(value), json_by_values(value));
  deep_hash(value);
  EXPECT_TRUE(deep_equal(value, value));
  EXPECT_EQ(total_order(value, value), std::strong_ordering::equal);
  for (uint32_t i = 0; i < std::min<uint32_t>(value.size(), 300); ++i) {
    value.element(i);
    value.member_at(i);
  }
  for (const std::string_view name : {"id", "tags", "absent"}) {
    value.member(name);
    value.member(resolve_key(name, dictionary.number()));
  }
  std::string again;
  (void)encode_value(value, dictionary, again);
}

void walk_copy(std::string_view bytes, KeyDictionary& dictionary) {
  // On the heap and exactly as long, so that a sanitizer sees any read outside.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const std::string_view view(copy.data(), copy.size());
  walk(read_document(bytes_of(view), dictionary.number()), dictionary);
  (void)validate_document(bytes_of(view), dictionary);
}

TEST(DamagedDocument, NoByteThatIsChangedOrCutOffLeadsOutside) {
  SampleDocuments documents;
  std::string large = "[";
  for (int i = 0; i < 300; ++i) large += i % 50 ? "7," : R"({"id":[1.5,"x"]},)";
  large.back() = ']';
  const std::string inline_names = R"({")" + std::string(70, 'n') + R"(":{"id":[{}]},"b":"c"})";
  for (const std::string_view json : {kReading, std::string_view(large), std::string_view(inline_names)}) {
    const std::string& bytes = documents.bytes(json);
    for (size_t length = 0; length < bytes.size(); ++length)
      walk_copy(std::string_view(bytes).substr(0, length), documents.dictionary());
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const int change : {0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80, 0xFF}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        walk_copy(damaged, documents.dictionary());
      }
    }
  }
}

TEST(DamagedDocument, OffsetsThatShareBytesDoNotMultiplyTheWork) {
  SampleDocuments documents;
  // 60 levels of [x, x] with both offsets on the same inner array: read naively, 2^60 values.
  std::string bytes = {'\x07'};
  for (int level = 0; level < 60; ++level) {
    const auto end = static_cast<uint16_t>(8 + bytes.size());
    const uint16_t offsets[] = {8, 8, end};
    std::string outer = {static_cast<char>(0xA0), 2};
    outer.append(reinterpret_cast<const char*>(offsets), sizeof offsets);
    bytes = outer + bytes;
  }
  walk_copy(bytes, documents.dictionary());
  EXPECT_FALSE(validate_document(bytes_of(bytes), documents.dictionary()));
}

TEST(DamagedDocument, ValidationNamesTheDamage) {
  SampleDocuments documents;
  const std::string good = documents.bytes(R"({"a":"xy","b":[1,2]})");
  const auto message = [&](std::string bytes) {
    const auto result = validate_document(bytes_of(bytes), documents.dictionary());
    return result ? std::string("valid") : std::string(result.error().message);
  };
  const auto changed = [&](size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return bytes;
  };
  EXPECT_EQ(message(good), "valid");
  EXPECT_EQ(message(""), "damaged document: a value is missing at byte 0");
  EXPECT_EQ(message(good + "x"), "damaged document: bytes follow an array or object at byte 17");
  EXPECT_EQ(message(changed(2, 9)), "damaged document: a key number is unknown at byte 7");
  EXPECT_EQ(message(changed(8, '\xFF')), "damaged document: a string is not UTF-8 at byte 7");
  EXPECT_EQ(message(changed(7, '\xF0')),
            "damaged document: a value has an unknown tag or is cut off at byte 7");
  EXPECT_EQ(message(changed(5, '\x7F')), "damaged document: an offset is wrong at byte 0");
  EXPECT_EQ(message(changed(3, 0)), "damaged document: a name is there twice at byte 0");
  for (const char tag : {'\xBD', '\xBE', '\xB5', '\xBF', '\xB9'})
    EXPECT_NE(message(changed(0, tag)), "valid") << static_cast<int>(tag);
}

TEST(DamagedDocument, ANameInlineBesideTheSameNameOfTheDictionaryIsDamage) {
  SampleDocuments documents;
  documents.bytes(R"({"a":1})");
  // {"a": 1, "a": 2}, the second name inline: B6 02 | 0000 FFFF | 09 0A 0D | 01 | 41 'a' 02
  const auto valid = [&](char name) {
    const std::string bytes = {'\xB6', 2, 0, 0, '\xFF', '\xFF', 9, 10, 13, 1, 'A', name, 2};
    return validate_document(bytes_of(bytes), documents.dictionary()).has_value();
  };
  EXPECT_FALSE(valid('a'));
  EXPECT_TRUE(valid('b'));
}

}  // namespace
}  // namespace quire::sql
