// A place that is remembered finds what a search finds, whatever the object before looked like.
#include "sql/value/member_place.h"

#include <gtest/gtest.h>

#include <vector>

#include "sql/value/key_dictionary.h"
#include "tests/sql/value/sample_documents.h"

namespace quire::sql {
namespace {

// Objects of every form, some that begin alike and have other members behind, or none of the name.
std::vector<std::string> objects(SampleDocuments& documents) {
  std::string wide_keys = R"({"first":1)", large = R"({"first":"x","wanted":[)";
  for (int i = 0; i < 300; ++i) wide_keys += R"(,"k)" + std::to_string(i) + R"(":1)";
  for (int i = 0; i < 30'000; ++i) large += "12345,";
  std::vector<std::string> all;
  for (const std::string& json :
       {std::string(R"({"first":1,"wanted":"abcdefghijkl"})"),
        std::string(R"({"first":1,"wanted":"abcdefghijklm","more":true})"),
        std::string(R"({"first":"a text in front","wanted":{"first":2}})"),
        std::string(R"({"wanted":7,"first":"sixteen bytes or more"})"),
        std::string(R"({"first":"none of the name in here"})"), std::string(R"({"wanted":1})"),
        std::string(R"({})"), R"({"first":")" + std::string(300, 'x') + R"(","wanted":null})",
        R"({")" + std::string(70, 'n') + R"(":1,"wanted":2})", wide_keys + R"(,"wanted":3,"k300":4})",
        R"({"k299":0,"wanted":")" + std::string(40, 'y') + R"(","k1":5})", large + "1]}"})
    all.push_back(documents.bytes(json));
  return all;
}

class MemberPlaceTest : public testing::Test {
 protected:
  MemberPlaceTest()
      : objects_(objects(documents_)), key_(resolve_key("wanted", documents_.dictionary().number())) {}

  // In a block of its own, so that a read outside of it is seen.
  void expect_found(std::string_view bytes) {
    const std::vector<char> copy(bytes.begin(), bytes.end());
    const auto object = std::as_bytes(std::span(copy));
    const Value value = read_document(object, documents_.dictionary().number());
    if (!value.is_object()) return;
    const std::span<const std::byte> searched = value.member_bytes(key_);
    const std::span<const std::byte> found = place_.find(object, key_.number);
    ASSERT_EQ(found.size(), searched.size());
    if (!found.empty()) {
      EXPECT_EQ(found.data(), searched.data());
    }
    EXPECT_EQ(json_of(member_at_place(value, key_, place_)), json_of(value.member(key_)));
  }

  SampleDocuments documents_;
  std::vector<std::string> objects_;
  ResolvedKey key_;
  MemberPlace place_;
};

TEST_F(MemberPlaceTest, FindsWhatASearchFinds) {
  ASSERT_TRUE(key_.is_known);
  for (const std::string& before : objects_) {
    for (const std::string& object : objects_) {
      expect_found(before);
      expect_found(object);
      expect_found(object);
    }
  }
}

TEST_F(MemberPlaceTest, OfAnyValueGivesItsMember) {
  SampleDocuments others;
  const ResolvedKey unknown = resolve_key("unknown", documents_.dictionary().number());
  const std::string long_name(70, 'n');
  const ResolvedKey inline_key = resolve_key(long_name, documents_.dictionary().number());
  for (const std::string& json :
       {std::string(R"({"first":1,"wanted":2})"), std::string(R"({"first":1,"other":2})"), std::string("[1]"),
        std::string("7"), R"({"wanted":1,")" + long_name + R"(":2})"}) {
    for (const Value& value : {documents_.read(json), documents_.build(json), others.read(json)})
      for (const ResolvedKey& key : {key_, unknown, inline_key}) {
        MemberPlace place;
        EXPECT_EQ(json_of(member_at_place(value, key, key.number == key_.number ? place_ : place)),
                  json_of(value.member(key)));
      }
  }
}

TEST_F(MemberPlaceTest, OfDamagedObjectsToo) {
  for (const std::string& object : objects_) {
    if (object.size() > 1000) continue;
    for (size_t at = 0; at < object.size(); ++at) {
      for (const int change : {0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80, 0xFF}) {
        std::string damaged = object;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        expect_found(object);
        expect_found(damaged);
        expect_found(std::string_view(damaged).substr(0, at));
      }
    }
  }
}

TEST_F(MemberPlaceTest, TellsWhatIsNotThereFromWhatIsDamaged) {
  const std::string& none = documents_.bytes(R"({"first":"none of the name in here"})");
  EXPECT_EQ(place_.find(bytes_of(none), key_.number).data(), nullptr);
  std::string damaged = documents_.bytes(R"({"first":1,"wanted":"abcdefghijkl"})");
  expect_found(damaged);
  damaged[5] = 0;  // narrow, with short keys: 2 of them, then 3 offsets of a byte
  EXPECT_TRUE(place_.find(bytes_of(damaged), key_.number).empty());
  EXPECT_NE(place_.find(bytes_of(damaged), key_.number).data(), nullptr);
}

}  // namespace
}  // namespace quire::sql
