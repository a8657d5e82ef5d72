// Items that a replace gives another id: from the API, in batches and from scripts.
#include "tests/engine/api/script_fixture.h"

namespace quire::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReplacedIdTest : public ScriptTest {
 protected:
  static constexpr std::string_view kNewBook = R"({"id":"b9","authorId":"a1","title":"New"})";

  Result<ItemInfo> replace(std::string_view id, std::string_view json, std::string_view if_match = {}) {
    WriteOptions options;
    options.if_match = if_match;
    options.replaced_id = id;
    return shelf_->replace(json, options);
  }
  bool is_sound() { return query("CHECK shelf").contains("\"findings\":0"); }
  std::string rid(std::string_view id) {
    return query("SELECT VALUE s._rid FROM shelf s WHERE s.id = '" + std::string(id) + "'");
  }
};

TEST_F(ReplacedIdTest, TheNewItemStandsInThePlaceOfTheOld) {
  const std::string before = rid("b1");
  auto info = replace("b1", kNewBook);
  ASSERT_TRUE(succeeds(info));
  EXPECT_FALSE(info->was_created());
  EXPECT_EQ(ids(), "\"a1\"\n\"b2\"\n\"b9\"\n\"a2\"\n");
  EXPECT_EQ(rid("b9"), before);
  EXPECT_EQ(query("SELECT VALUE s.title FROM shelf s WHERE s._etag = '" + std::string(info->etag()) + "'"),
            "\"New\"\n");
  EXPECT_TRUE(is_sound());
  // Another item is not taken for it.
  EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"b1","authorId":"a1"})")));
  EXPECT_NE(rid("b1"), before);
  EXPECT_TRUE(succeeds(replace("b1", R"({"id":"b1","authorId":"a1","n":1})")));
}

TEST_F(ReplacedIdTest, AFailureLeavesTheOldItem) {
  const std::string before = query("SELECT * FROM shelf s");
  EXPECT_TRUE(fails_with(replace("b1", R"({"id":"b2","authorId":"a1"})"), QUIRE_CONFLICT, "'b2'"));
  EXPECT_TRUE(fails_with(replace("nobody", kNewBook), QUIRE_NOT_FOUND, "'nobody'"));
  EXPECT_TRUE(fails_with(replace(std::string(5000, 'x'), kNewBook), QUIRE_NOT_FOUND));
  EXPECT_TRUE(fails_with(replace("b1", R"({"id":"b9","authorId":"a2"})"), QUIRE_NOT_FOUND, "'b1'"));
  EXPECT_TRUE(fails_with(replace("b1", R"({"authorId":"a1"})"), QUIRE_INVALID_ID));
  EXPECT_TRUE(fails_with(replace("b1", kNewBook, "\"x\""), QUIRE_PRECONDITION_FAILED, "'b1' has changed"));
  WriteOptions options;
  options.replaced_id = "b1";
  EXPECT_TRUE(fails_with(shelf_->upsert(kNewBook, options), QUIRE_INVALID_ARGUMENT, "QUIRE_REPLACE alone"));
  EXPECT_EQ(query("SELECT * FROM shelf s"), before);
}

TEST_F(ReplacedIdTest, UniqueIndexesSeeTheOldItemGo) {
  EXPECT_EQ(query("CREATE UNIQUE INDEX titles ON shelf (title)"), "");
  EXPECT_TRUE(succeeds(replace("b1", R"({"id":"b9","authorId":"a1","title":"Tides"})")));
  const std::string before = query("SELECT * FROM shelf s");
  EXPECT_TRUE(fails_with(replace("b9", R"({"id":"b7","authorId":"a1","title":"Maps"})"), QUIRE_CONFLICT));
  EXPECT_EQ(query("SELECT * FROM shelf s"), before);
  EXPECT_EQ(query("SELECT VALUE s.id FROM shelf s WHERE s.title = 'Tides'"), "\"b9\"\n");
  EXPECT_TRUE(is_sound());
}

TEST_F(ReplacedIdTest, TheFeedTellsOfADeletionAndACreation) {
  EXPECT_EQ(query("ALTER CONTAINER shelf WITH {changeFeedPolicy: {retentionDuration: 10}}"), "");
  EXPECT_TRUE(succeeds(replace("b1", kNewBook)));
  Feed feed = shelf_->feed({.mode = FeedMode::all_versions}).value();
  std::vector<std::string> changes;
  while (auto change = feed.next().value()) changes.push_back(feed.json().value());
  EXPECT_THAT(changes, ElementsAre(HasSubstr(R"("operationType":"delete")"),
                                   testing::AllOf(HasSubstr(R"("current":{"id":"b9")"),
                                                  HasSubstr(R"("operationType":"create")"))));
}

TEST_F(ReplacedIdTest, InABatch) {
  const BatchResult done = shelf_->execute("a1", Batch()
                                                     .replace_item("b1", std::string(kNewBook))
                                                     .create(R"({"id":"b1","authorId":"a1"})")
                                                     .replace(R"({"id":"b2","authorId":"a1"})")
                                                     .replace_item("b2", R"({"id":"b2","authorId":"a1"})"));
  ASSERT_TRUE(done.succeeded()) << done.error->message;
  EXPECT_EQ(done.operations[0].status, 200);
  const std::string before = query("SELECT * FROM shelf s");
  const BatchResult failed = shelf_->execute("a1", Batch()
                                                       .replace_item("b9", R"({"id":"b3","authorId":"a1"})")
                                                       .replace_item("b1", std::string(kNewBook))
                                                       .read("z"));
  EXPECT_FALSE(failed.succeeded());
  // An item of another partition, whether the one that it would replace is there or not.
  for (const char* id : {"b9", "b3", "nobody"}) {
    const BatchResult strange =
        shelf_->execute("a1", Batch().replace_item(id, R"({"id":"b3","authorId":"a2"})"));
    ASSERT_FALSE(strange.succeeded());
    EXPECT_EQ(strange.operations[0].status, 400) << id;
    EXPECT_EQ(strange.error->code, QUIRE_INVALID_PARTITION_KEY) << strange.error->message;
  }
  EXPECT_EQ(query("SELECT * FROM shelf s"), before);
}

TEST_F(ReplacedIdTest, AScriptsLinkGoesOnToLeadToTheItem) {
  EXPECT_EQ(body_of(R"(function () {
    const c = getContext().getCollection(), link = c.getAltLink() + '/docs/';
    c.readDocument(link + 'b1', function (err, book) {
      if (err) throw err;
      book.id = 'b9';
      c.replaceDocument(book._self, book, { etag: book._etag }, function (err, replaced) {
        if (err) throw err;
        c.readDocument(book._self, function (err, again) {
          c.readDocument(link + 'b1', function (gone) {
            c.replaceDocument(again._self, { id: 'b2', authorId: 'a1' }, function (taken) {
              c.replaceDocument(link, { id: 'b2', authorId: 'a1' }, function (none) {
                getContext().getResponse().setBody([replaced.id, replaced._rid == book._rid, again.id,
                  gone.number, taken.number, none && none.number]);
              });
            });
          });
        });
      });
    });
  })"),
            R"(["b9",true,"b9",404,409,404])");
  EXPECT_EQ(ids(), "\"a1\"\n\"b2\"\n\"b9\"\n\"a2\"\n");
}

TEST_F(ReplacedIdTest, TriggersSeeAReplace) {
  EXPECT_EQ(query("CREATE TRIGGER count POST REPLACE ON shelf ALWAYS AS $$ function () {"
                  "const c = getContext().getCollection(), l = c.getAltLink() + '/docs/a1';"
                  "c.readDocument(l, function (e, d) { d.replaced = (d.replaced || 0) + 1;"
                  "c.replaceDocument(l, d); }); } $$"),
            "");
  EXPECT_TRUE(succeeds(replace("b1", kNewBook)));
  EXPECT_EQ(query("SELECT VALUE s.replaced FROM shelf s WHERE s.id = 'a1'"), "1\n");
  EXPECT_EQ(ids(), "\"a1\"\n\"b2\"\n\"b9\"\n\"a2\"\n");
}

}  // namespace
}  // namespace quire::tests
