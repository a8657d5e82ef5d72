// From an item to its entries: arrays give one for each element, conditions leave items out, policies walk.
#include "engine/index/entry_extractor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sql/value/document.h"
#include "sql/value/json.h"
#include "sql/value/key_dictionary.h"

namespace quire::engine {
namespace {

class EntryExtractorTest : public testing::Test {
 protected:
  EntryExtractorTest() : dictionary_(sql::KeyDictionary::create()) {
    for (const char* name : {"id", "n", "tags", "s"}) dictionary_->add(name);
  }

  Index& add(std::string_view path, sql::IndexHolds holds = sql::IndexHolds::every_item) {
    Index& index = set_.indexes.emplace_back();
    index.number = IndexNumber{set_.next_number++};
    index.name = path;
    std::vector<sql::IndexStep> steps;
    while (!path.empty()) {
      const size_t end = std::min(path.find('.'), path.size());
      const std::string_view name = path.substr(0, end);
      steps.push_back({name == "[]" ? "" : std::string(name), name == "[]"});
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    index.parts.push_back({std::move(steps), false});
    index.holds = holds;
    return index;
  }

  size_t entries_of(std::string_view json) {
    std::string document;
    EXPECT_TRUE(reader_.to_document(json, *dictionary_, document));
    EntryExtractor extractor(set_, dictionary_->number(), 0);
    EntryList list;
    const sql::Value root = sql::read_document(std::as_bytes(std::span(document)), dictionary_->number());
    extractor.add_explicit(root, "key", IndexSelection::all, list);
    paths_ = 0;
    EXPECT_TRUE(extractor.add_covered(
        root, "key", IndexSelection::all,
        [this](std::span<const sql::IndexStep>) -> Result<IndexNumber> {
          return IndexNumber{static_cast<uint16_t>(1000 + ++paths_)};
        },
        list));
    list.sort();
    return list.size();
  }

  std::unique_ptr<sql::KeyDictionary> dictionary_;
  sql::JsonReader reader_;
  IndexSet set_;
  int paths_ = 0;
};

TEST_F(EntryExtractorTest, APathHasAnEntryForEachItemAndAnArrayPathForEachDifferentElement) {
  add("n");
  EXPECT_EQ(entries_of(R"({"id":"1","n":5})"), 1U);
  EXPECT_EQ(entries_of(R"({"id":"1"})"), 1U);
  EXPECT_EQ(entries_of(R"({"id":"1","n":[1,2]})"), 1U);
  add("tags.[]", sql::IndexHolds::defined);
  EXPECT_EQ(entries_of(R"({"id":"1","tags":[1,2,2,"2",null,{}]})"), 1U + 5);
  EXPECT_EQ(entries_of(R"({"id":"1","tags":[]})"), 1U);
  EXPECT_EQ(entries_of(R"({"id":"1","tags":"no array"})"), 1U);
}

TEST_F(EntryExtractorTest, AConditionLeavesItemsOut) {
  add("s").condition = "c.n > 3";
  EXPECT_EQ(entries_of(R"({"id":"1","n":5})"), 1U);
  EXPECT_EQ(entries_of(R"({"id":"1","n":3})"), 0U);
  EXPECT_EQ(entries_of(R"({"id":"1","n":"5"})"), 0U);
  EXPECT_EQ(entries_of(R"({"id":"1"})"), 0U);
  // Asked again and again, as a build does.
  EntryExtractor extractor(set_, dictionary_->number(), 0);
  EntryList list;
  for (int i = 0; i < 100; ++i) {
    std::string document;
    ASSERT_TRUE(reader_.to_document("{\"n\":" + std::to_string(i % 8) + "}", *dictionary_, document));
    const sql::Value root = sql::read_document(std::as_bytes(std::span(document)), dictionary_->number());
    extractor.add_explicit(root, "key" + std::to_string(i), IndexSelection::all, list);
  }
  EXPECT_EQ(list.size(), 48U);
}

TEST_F(EntryExtractorTest, AConditionThatCannotBeReadHasNoItem) {
  add("s").condition = "c.n >";
  EXPECT_EQ(entries_of(R"({"id":"1","n":5})"), 0U);
}

TEST_F(EntryExtractorTest, APolicyFindsPathsAsItemsHaveThem) {
  set_.policy =
      IndexingPolicy::from_json(R"({"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/s/*"}]})")
          .value();
  EXPECT_EQ(entries_of(R"({"id":"1","n":{"x":1,"y":[1,{"z":2}]},"s":{"t":1},"u":{},"v":[]})"), 4U);
  EXPECT_EQ(paths_, 4);
}

}  // namespace
}  // namespace quire::engine
