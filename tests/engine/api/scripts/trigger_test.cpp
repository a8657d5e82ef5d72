// Triggers: named by the request, or at every write.
#include "tests/engine/api/script_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;

// Keeps the author's countOfBooks.
constexpr std::string_view kCountBooks = R"(function () {
  var c = getContext().getCollection(), doc = getContext().getResponse().getBody() || getContext().getRequest().getBody();
  if (doc.type !== 'book') return;
  var step = getContext().getRequest().getOperationType() === 'Delete' ? -1 : 1;
  c.readDocument(c.getAltLink() + '/docs/' + doc.authorId, function (err, author) {
    if (err) throw err;
    author.countOfBooks = (author.countOfBooks || 0) + step;
    c.replaceDocument(author._self, author, function (err) { if (err) throw err; });
  });
})";

// Refuses a book of an author that is not there.
constexpr std::string_view kCheckAuthor = R"(function () {
  var c = getContext().getCollection(), request = getContext().getRequest(), doc = request.getBody();
  if (doc.type !== 'book') return;
  c.readDocument(c.getAltLink() + '/docs/' + doc.authorId, function (err) {
    if (err) throw new Error('there is no author ' + doc.authorId);
    doc.checked = true;
    request.setBody(doc);
  });
})";

class TriggerTest : public ScriptTest {
 protected:
  void add(std::string_view name, std::string_view head, std::string_view body) {
    EXPECT_EQ(query("CREATE TRIGGER " + std::string(name) + " " + std::string(head) + " AS $$" +
                    std::string(body) + "$$"),
              "");
  }
  std::string count(std::string_view author) {
    return query("SELECT VALUE s.countOfBooks FROM shelf s WHERE s.id = '" + std::string(author) + "'");
  }
};

TEST_F(TriggerTest, APostTriggerKeepsAPreCalculatedCount) {
  add("countBooks", "POST CREATE ON shelf ALWAYS", kCountBooks);
  add("uncountBooks", "POST DELETE ON shelf ALWAYS", kCountBooks);
  EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"b3","authorId":"a1","type":"book"})")));
  EXPECT_EQ(query("INSERT INTO shelf VALUES {\"id\":\"b4\",\"authorId\":\"a1\",\"type\":\"book\"}"), "");
  EXPECT_EQ(count("a1"), "2\n");
  // An upsert that replaces creates nothing.
  EXPECT_TRUE(succeeds(shelf_->upsert(R"({"id":"b4","authorId":"a1","type":"book"})")));
  EXPECT_TRUE(succeeds(shelf_->upsert(R"({"id":"b5","authorId":"a1","type":"book"})")));
  EXPECT_EQ(count("a1"), "3\n");
  EXPECT_EQ(query("DELETE FROM shelf s WHERE s.id IN ('b4', 'b5')"), "");
  EXPECT_EQ(count("a1"), "1\n");
  // Writes of procedures are writes.
  EXPECT_TRUE(succeeds(run(
      "function () { __.createDocument(__.getSelfLink(), { id: 'b6', authorId: 'a1', type: 'book' }); }")));
  EXPECT_EQ(count("a1"), "2\n");
}

TEST_F(TriggerTest, ATriggerThatFailsUndoesTheWrite) {
  add("countBooks", "POST CREATE ON shelf ALWAYS", kCountBooks);
  const std::string before = ids();
  EXPECT_TRUE(fails_with(shelf_->create(R"({"id":"b3","authorId":"nobody","type":"book"})"), QUIRE_NOT_FOUND,
                         "trigger 'countBooks'"));
  EXPECT_THAT(query("INSERT INTO shelf VALUES {\"id\":\"x\",\"authorId\":\"a1\"}, "
                    "{\"id\":\"b3\",\"authorId\":\"nobody\",\"type\":\"book\"}"),
              HasSubstr("not_found"));
  EXPECT_EQ(ids(), before);
  auto transaction = database_->begin_transaction();
  EXPECT_FALSE(shelf_->create(R"({"id":"b3","authorId":"nobody","type":"book"})", &*transaction));
  EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"b3","authorId":"a1","type":"book"})", &*transaction)));
  EXPECT_TRUE(succeeds(transaction->commit()));
  EXPECT_EQ(count("a1"), "1\n");
}

TEST_F(TriggerTest, APreTriggerRefusesAWeakLinkAndChangesTheRequest) {
  add("checkAuthor", "PRE ALL ON shelf ALWAYS", kCheckAuthor);
  EXPECT_TRUE(fails_with(shelf_->create(R"({"id":"b9","authorId":"nobody","type":"book"})"),
                         QUIRE_SCRIPT_FAILED, "there is no author nobody"));
  EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"b9","authorId":"a2","type":"book"})")));
  EXPECT_EQ(query("SELECT VALUE s.checked FROM shelf s WHERE s.id = 'b9'"), "true\n");
  add("move", "PRE CREATE ON shelf ALWAYS",
      "function () { var r = getContext().getRequest(), d = r.getBody(); d.authorId = 'a1'; r.setBody(d); }");
  EXPECT_TRUE(fails_with(shelf_->create(R"({"id":"b10","authorId":"a2"})"), QUIRE_FORBIDDEN));
  add("bad", "PRE REPLACE ON shelf ALWAYS", "function () { getContext().getResponse(); }");
  EXPECT_TRUE(
      fails_with(shelf_->replace(R"({"id":"a2","authorId":"a2"})"), QUIRE_SCRIPT_FAILED, "no response yet"));
}

TEST_F(TriggerTest, ATriggerIsGoneOnceItIsDroppedOrItsTransactionUndone) {
  EXPECT_EQ(query("BEGIN"), "");
  add("never", "PRE ALL ON shelf ALWAYS", "function () { throw new Error('never'); }");
  EXPECT_FALSE(shelf_->create(R"({"id":"x","authorId":"a1"})"));
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"x","authorId":"a1"})")));
  add("never", "PRE ALL ON shelf ALWAYS", "function () { throw new Error('never'); }");
  EXPECT_FALSE(shelf_->create(R"({"id":"y","authorId":"a1"})"));
  EXPECT_EQ(query("DROP TRIGGER never ON shelf"), "");
  EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"y","authorId":"a1"})")));
}

TEST_F(TriggerTest, ARequestNamesTheTriggersThatItWants) {
  add("countBooks", "POST CREATE ON shelf", kCountBooks);
  add("checkAuthor", "PRE ALL ON shelf", kCheckAuthor);
  EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"b3","authorId":"a1","type":"book"})")));
  EXPECT_EQ(count("a1"), "");
  WriteOptions both;
  both.pre_trigger = "checkAuthor";
  both.post_trigger = "countBooks";
  EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"b4","authorId":"a1","type":"book"})", both)));
  EXPECT_EQ(count("a1"), "1\n");
  EXPECT_TRUE(
      fails_with(shelf_->create(R"({"id":"b5","authorId":"x","type":"book"})", both), QUIRE_SCRIPT_FAILED));
  EXPECT_TRUE(fails_with(shelf_->remove("a1", "b4", both), QUIRE_INVALID_ARGUMENT, "countBooks"));
  WriteOptions unknown;
  unknown.pre_trigger = "checkAuthors";
  EXPECT_TRUE(fails_with(shelf_->create(R"({"id":"b6","authorId":"a1"})", unknown), QUIRE_NOT_FOUND,
                         "did you mean 'checkAuthor'"));
}

TEST_F(TriggerTest, ATriggersOwnWritesRunNone) {
  add("echo", "POST ALL ON shelf ALWAYS",
      "function () { var d = getContext().getResponse().getBody(); __.upsertDocument(__.getSelfLink(), { id: "
      "'log', authorId: d.authorId, last: d.id }); }");
  auto written = shelf_->create(R"({"id":"x","authorId":"a1"})");
  ASSERT_TRUE(succeeds(written));
  EXPECT_EQ(query("SELECT VALUE s.last FROM shelf s WHERE s.id = 'log'"), "\"x\"\n");
}

}  // namespace
}  // namespace quire::tests
