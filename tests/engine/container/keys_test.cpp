// Keys of items: effective partition keys, ids, long ids, records, etags.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

#include "engine/container/fixed_keys.h"
#include "engine/container/item_key.h"
#include "engine/container/record.h"
#include "engine/container/system_property.h"
#include "sql/value/arena.h"
#include "sql/value/comparison.h"
#include "sql/value/json.h"
#include "sql/value/key_dictionary.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using sql::Value;

std::string hex(Bytes bytes) {
  std::string text;
  for (const char byte : bytes) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02X", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}

std::string epk_of(std::initializer_list<Value> components) {
  const ItemKey key(std::span(components.begin(), components.size()), "");
  return hex(key.epk(components.size()));
}

// Computed by the cloud service.
TEST(EffectivePartitionKey, IsAsInAzure) {
  EXPECT_EQ(epk_of({Value::string("")}), "32E9366E637A71B4E710384B2F4970A0");
  EXPECT_EQ(epk_of({Value::string("a")}), "3A5381E1114EB8D3FCC90795045B49B7");
  EXPECT_EQ(epk_of({Value::string("redmond")}), "22E342F38A486A088463DFF7838A5963");
  EXPECT_EQ(epk_of({Value::string("Привет")}), "04545D0CEF43E6278304ACE591192F44");
  EXPECT_EQ(epk_of({Value::string(std::string_view("nul\0in", 6))}), "2E5519C3FE4BB43D858680DF601E7B47");
  EXPECT_EQ(epk_of({Value::integer(0)}), "155B95BEDAC4B1E9EC1CDC9BB0DDDE58");
  EXPECT_EQ(epk_of({Value::real(-0.0)}), "155B95BEDAC4B1E9EC1CDC9BB0DDDE58");
  EXPECT_EQ(epk_of({Value::integer(5)}), "19C08621B135968252FB34B4CF66F811");
  EXPECT_EQ(epk_of({Value::real(3.14159)}), "01F6E65F21D72B6E2E3F1D159DDCD3F5");
  EXPECT_EQ(epk_of({Value::boolean(true)}), "0E711127C5B5A8E4726AC6DD306A3E59");
  EXPECT_EQ(epk_of({Value::boolean(false)}), "2FE1BE91E90A3439635E0E9E37361EF2");
  EXPECT_EQ(epk_of({Value::null()}), "378867E4430E67857ACE5C908374FE16");
  EXPECT_EQ(epk_of({Value::undefined()}), "11622DAA78F835834610ABE56EFF5CB5");
  EXPECT_EQ(
      epk_of({Value::string("tenant1"), Value::string("user7"), Value::string("s9")}),
      "0DAE0B8467B011E957BC0B8B0DEB5ACA2512A7619BF4BBD11246DA2B9FEDD4812FCB700B1A1D6A7A0E1F10D7316A8718");
  EXPECT_EQ(epk_of({Value::string(std::string(2047, 'x'))}), "1449FEF29B25B168964A97C9BA8D85FF");
}

// The last one is remembered, if it is short.
TEST(EffectivePartitionKey, IsTheSameWhateverWasHashedBefore) {
  const std::string texts[] = {"a", "ab", std::string(62, 'x'), std::string(63, 'x'), std::string(500, 'x')};
  std::vector<Value> values = {Value::undefined(), Value::null(), Value::boolean(true), Value::integer(1),
                               Value::real(1.5)};
  for (const std::string& text : texts) values.push_back(Value::string(text));
  std::vector<std::string> expected;
  for (const Value& value : values) expected.push_back(epk_of({value}));
  EXPECT_EQ(std::set<std::string>(expected.begin(), expected.end()).size(), values.size());
  for (size_t before = 0; before < values.size(); ++before)
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(epk_of({values[before], values[i], values[i]}), expected[before] + expected[i] + expected[i]);
}

TEST(PartitionKey, RefusesArraysObjectsAndTooMuch) {
  const std::vector<std::vector<std::string>> paths = {{"a"}};
  const auto check = [&](const Value& value) { return check_partition_key({&value, 1}, paths); };
  EXPECT_TRUE(fails_with(check(Value::object({})), ErrorCode::invalid_partition_key, "/a is an object"));
  EXPECT_TRUE(fails_with(check(Value::array({})), ErrorCode::invalid_partition_key, "/a is an array"));
  EXPECT_TRUE(succeeds(check(Value::undefined())));
  EXPECT_TRUE(succeeds(check(Value::string(std::string(2048, 'x')))));
  EXPECT_TRUE(fails_with(check(Value::string(std::string(2049, 'x'))), ErrorCode::limit_exceeded, "2049"));
}

TEST(PartitionKey, NumbersAreTheSameWhereTheirDoublesAre) {
  EXPECT_TRUE(same_partition_key_value(Value::integer(1), Value::real(1.0)));
  EXPECT_TRUE(same_partition_key_value(Value::integer((1LL << 53) + 1), Value::integer(1LL << 53)));
  EXPECT_FALSE(same_partition_key_value(Value::integer(1), Value::string("1")));
  EXPECT_FALSE(same_partition_key_value(Value::null(), Value::undefined()));
  EXPECT_FALSE(same_partition_key_value(Value::boolean(true), Value::boolean(false)));
}

TEST(ItemId, FollowsTheRules) {
  EXPECT_TRUE(succeeds(check_item_id(Value::string("a"))));
  EXPECT_TRUE(succeeds(check_item_id(Value::string(std::string(1023, 'x')))));
  EXPECT_TRUE(
      fails_with(check_item_id(Value::string(std::string(1024, 'x'))), ErrorCode::invalid_id, "1023"));
  EXPECT_TRUE(fails_with(check_item_id(Value::string("")), ErrorCode::invalid_id, "empty"));
  EXPECT_TRUE(fails_with(check_item_id(Value::integer(7)), ErrorCode::invalid_id, "string"));
  EXPECT_TRUE(fails_with(check_item_id(Value::undefined()), ErrorCode::invalid_id));
  for (const char* id : {"a?b", "a#b", "a\tb\n", " a ", "a%2Fb"})
    EXPECT_TRUE(succeeds(check_item_id(Value::string(id)))) << id;
  for (const char* id : {"a/b", "a\\b"})
    EXPECT_TRUE(fails_with(check_item_id(Value::string(id)), ErrorCode::invalid_id, "must not contain"));
  for (size_t length = 1; length < 40; ++length)
    for (size_t at = 0; at < length; ++at)
      for (const char c : {'/', '\\', '.', '0', '[', ']', '\xAF', '\xDC'}) {
        std::string id(length, 'x');
        id[at] = c;
        const std::string told = std::string("must not contain '") + c + "'";
        if (c == '/' || c == '\\')
          EXPECT_TRUE(fails_with(check_item_id(Value::string(id)), ErrorCode::invalid_id, told));
        else
          EXPECT_TRUE(succeeds(check_item_id(Value::string(id)))) << id;
      }
}

TEST(ItemKey, HashesOnlyIdsThatDoNotFit) {
  const Value one = Value::string("k");
  EXPECT_EQ(ItemKey({&one, 1}, std::string(494, 'x')).bytes().size(), 510u);
  const ItemKey longer({&one, 1}, std::string(495, 'x'));
  EXPECT_TRUE(is_long_form(longer.bytes()));
  EXPECT_NE(longer.bytes(), ItemKey({&one, 1}, std::string(496, 'x')).bytes());
  EXPECT_TRUE(is_long_form(ItemKey({}, std::string(1023, 'x')).bytes()));
  EXPECT_EQ(ItemKey({}, "id").bytes(), "id");
}

TEST(Uuid, IsRandomOfVersion4) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const Uuid uuid = make_uuid();
    EXPECT_EQ(uuid.view()[14], '4');
    EXPECT_TRUE(succeeds(check_item_id(Value::string(uuid.view()))));
    seen.emplace(uuid.view());
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Record, ComesBackAndChecksItsBytes) {
  constexpr uint64_t kMostShortLsn = (uint64_t{1} << 40) - 1;
  const auto dictionary = sql::KeyDictionary::create();
  std::string document;
  ASSERT_TRUE(succeeds(sql::JsonReader().to_document(R"({"id":"1"})", *dictionary, document)));
  for (const auto& [header, bytes] : std::initializer_list<std::pair<RecordHeader, size_t>>{
           {{.timestamp = 1, .lsn = Lsn{4}, .rid = 4}, 18},
           {{.timestamp = 1, .lsn = Lsn{0x1FF}, .rid = 0x100}, 19},
           {{.timestamp = 1, .lsn = Lsn{0x200}, .rid = 0x100}, 20},
           {{.timestamp = 1, .lsn = Lsn{0x10100}, .rid = 0x100}, 21},
           {{.place = RecordHeader::kMostPlace, .timestamp = UINT32_MAX, .lsn = Lsn{UINT32_MAX}, .rid = 0},
            22},
           {{.lsn = Lsn{kMostShortLsn}, .rid = kMostShortLsn - UINT32_MAX}, 22},
           {{.lsn = Lsn{0x123456789A}, .rid = 0x1234567800}, 19},
           {{.timestamp = 1, .lsn = Lsn{kMostShortLsn + 1}, .rid = kMostShortLsn + 1}, 32},
           {{.timestamp = 1, .lsn = Lsn{kMostShortLsn}, .rid = 1}, 32},
           {{.timestamp = 1, .lsn = Lsn{3}, .rid = 4}, 32},
           {{.place = 5, .timestamp = 1, .expiry = 2, .lsn = Lsn{3}, .rid = 3}, 32},
           {{.timestamp = 1, .expiry = UINT32_MAX, .lsn = Lsn{3}, .rid = 3}, 32}}) {
    ASSERT_EQ(header.bytes(), bytes);
    std::string record(bytes + document.size(), '\0');
    write_record(header, document, document_hash(document), record);
    const sql::Value root =
        sql::read_document(std::as_bytes(std::span(document_of(record))), dictionary->number());
    for (const RecordHeader& read : {read_header(record), header_of(root)}) {
      EXPECT_EQ(read.place, header.place);
      EXPECT_EQ(read.timestamp, header.timestamp);
      EXPECT_EQ(read.expiry, header.expiry);
      EXPECT_EQ(read.lsn, header.lsn);
      EXPECT_EQ(read.rid, header.rid);
    }
    EXPECT_EQ(record_of(root), record);
    EXPECT_EQ(document_of(record), document);
    EXPECT_TRUE(has_known_layout(record));
    EXPECT_TRUE(has_right_checksum(record));
    for (size_t at = 0; at < record.size(); ++at) {
      std::string damaged = record;
      damaged[at] ^= 1;
      EXPECT_FALSE(has_right_checksum(damaged)) << at;
    }
    for (size_t cut = 0; cut <= bytes; ++cut) {
      EXPECT_FALSE(has_known_layout(record.substr(0, cut)));
      EXPECT_FALSE(has_right_checksum(record.substr(0, cut)));
    }
  }
}

// From a document a header is found by its last byte, which must agree with its first.
// From a document its header is found by the last byte, which must agree with the first.
TEST(Record, AHeaderWhoseEndsDoNotAgreeIsDamage) {
  std::string record(40, '\0');
  for (int first = 0; first < 256; ++first)
    for (int last = 0; last < 256; ++last) {
      record[0] = static_cast<char>(first);
      const size_t bytes = header_bytes(record);
      record[bytes - 1] = static_cast<char>(last);
      const bool is_long = first == 1 && (last < 0x20 || last > 0x24);
      const bool is_short = first >= 0x20 && first <= 0x24 && last == first;
      ASSERT_EQ(has_known_layout(record), is_long || is_short) << first << ' ' << last;
      record[bytes - 1] = 0;
    }
}

TEST(SystemProperty, EtagsDifferByContainerAndWrite) {
  EXPECT_EQ(make_etag(0x0123456789abcdef, Lsn{0x1f}).view(), "\"01234567-89ab-cdef-0000-00000000001f\"");
}

TEST(SystemProperty, AnItemWrittenWholeHasThoseThatItHasOneByOne) {
  const auto dictionary = sql::KeyDictionary::create();
  std::string document;
  sql::JsonReader reader;
  ASSERT_TRUE(succeeds(reader.to_document(R"({"id":"1"})", *dictionary, document)));
  const ResourceNames names{0x12345678, ContainerNumber{0xFEDCBA98}, 0x0123456789abcdef};
  const SystemPropertyTexts texts(names);
  constexpr uint64_t kNumbers[] = {0, 1, 63, 255, 0x1234567, uint64_t{1} << 56, UINT64_MAX};
  for (const uint64_t rid : kNumbers)
    for (const uint64_t lsn : kNumbers) {
      const RecordHeader header{.timestamp = static_cast<uint32_t>(lsn), .lsn = Lsn{lsn}, .rid = rid};
      std::string record(header.bytes() + document.size(), '\0');
      write_record(header, document, document_hash(document), record);
      const Value root =
          sql::read_document(std::as_bytes(std::span(document_of(record))), dictionary->number());
      std::string whole;
      texts.write_item(root, whole);
      std::string by_one = R"({"id":"1")";
      sql::Arena arena;
      std::array<sql::Value, sql::kSystemPropertyCount> together;
      texts.properties(root, together, arena);
      for (const auto& [name, property] :
           {std::pair{"_rid", sql::SystemProperty::rid}, std::pair{"_self", sql::SystemProperty::self},
            std::pair{"_etag", sql::SystemProperty::etag},
            std::pair{"_attachments", sql::SystemProperty::attachments},
            std::pair{"_ts", sql::SystemProperty::ts}}) {
        by_one += std::string(",\"") + name + "\":";
        const sql::Value alone = system_property(names, root, property, arena);
        EXPECT_EQ(sql::total_order(together[static_cast<size_t>(property)], alone),
                  std::strong_ordering::equal);
        sql::write_json(alone, by_one);
      }
      EXPECT_EQ(whole, by_one + '}');
    }
}

// A file from elsewhere may have their names in any order, with others between them.
TEST(SystemProperty, IsFoundInWhateverOrderTheNamesCame) {
  const auto dictionary = sql::KeyDictionary::create();
  for (const std::string_view name : {"_ts", "a", "_etag", "_rid", "b", "_attachments", "_self"})
    dictionary->add(name);
  const FixedKeys keys({}, *dictionary);
  const auto has = [&](const std::string& json) {
    std::string document;
    EXPECT_TRUE(sql::JsonReader().to_document(json, *dictionary, document));
    return keys.has_system_property(
        sql::read_document(std::as_bytes(std::span(document)), dictionary->number()));
  };
  for (const std::string_view name : sql::kSystemPropertyNames)
    EXPECT_TRUE(has("{\"a\":1,\"" + std::string(name) + "\":2,\"c\":3}")) << name;
  EXPECT_FALSE(has(R"({"a":1,"b":{"_ts":1},"c":3})"));
}

}  // namespace
}  // namespace quire::engine
