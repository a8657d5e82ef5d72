// Triggers: named by the request, or at every write.
#include "tests/engine/api/script_fixture.h"
#include "tests/engine/api/test_clock.h"

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
  EXPECT_TRUE(fails_with(shelf_->create(R"({"id":"b10","authorId":"a2"})"), QUIRE_FORBIDDEN,
                         "trigger 'move': the item's partition key"));
  add("five", "PRE CREATE ON shelf", "function () { getContext().getRequest().setBody(5); }");
  EXPECT_THAT(query("INSERT INTO shelf VALUES {id: 'b10', authorId: 'a1'} PRE TRIGGER five"),
              HasSubstr("trigger 'five': an item must be a JSON object"));
  add("label", "PRE CREATE ON shelf",
      "function () { var r = getContext().getRequest(), d = r.getValue('Body'); d.done = "
      "r.getValue('OperationType'); "
      "r.setValue('Body', d); }");
  EXPECT_EQ(query("INSERT INTO shelf VALUES {id: 'b11', authorId: 'a1'} PRE TRIGGER label RETURNING VALUE "
                  "shelf.done"),
            "\"Create\"\n");
  add("bad", "PRE REPLACE ON shelf ALWAYS", "function () { getContext().getResponse(); }");
  EXPECT_TRUE(
      fails_with(shelf_->replace(R"({"id":"a2","authorId":"a2"})"), QUIRE_SCRIPT_FAILED, "no response yet"));
}

TEST_F(TriggerTest, AnItemThatIsReplacedKeepsItsIdWhateverATriggerSays) {
  add("other", "PRE ALL ON shelf ALWAYS",
      "function () { var r = getContext().getRequest(), d = r.getBody(); d.id = 'b2'; r.setBody(d); }");
  const std::string before = query("SELECT * FROM shelf s");
  EXPECT_TRUE(fails_with(shelf_->replace(R"({"id":"b1","authorId":"a1"})"), QUIRE_INVALID_ARGUMENT,
                         "gave item 'b1' another id"));
  for (const char* statement :
       {"UPDATE shelf s SET s.n = 2 WHERE s.id = 'b1'",
        "REPLACE INTO shelf VALUES {id: 'b1', authorId: 'a1'}",
        "PATCH shelf s WITH [{op: 'add', path: '/n', \"value\": 2}] WHERE s.id = 'b1'"})
    EXPECT_THAT(query(statement), HasSubstr("an item's id does not change")) << statement;
  EXPECT_EQ(query("SELECT * FROM shelf s"), before);
  EXPECT_EQ(query("UPDATE shelf s SET s.n = 2 WHERE s.id = 'b2'"), "");
}

TEST_F(TriggerTest, APostTriggerThatTakesItsItemAwayUndoesAllOfTheWrite) {
  constexpr std::string_view kBegin =
      "function () { var d = getContext().getResponse().getBody(); "
      "__.createDocument(__.getSelfLink(), { id: 'log', authorId: 'a1' }); ";
  const std::string begin(kBegin);
  add("remove", "POST ALL ON shelf", begin + "__.deleteDocument(d._self); }");
  add("rename", "POST ALL ON shelf", begin + "d.id = 'z'; __.replaceDocument(d._self, d); }");
  const std::string before = query("SELECT * FROM shelf s");
  for (const char* trigger : {"remove", "rename"}) {
    WriteOptions options;
    options.post_trigger = trigger;
    for (const char* json : {R"({"id":"new","authorId":"a1"})", R"({"id":"b1","authorId":"a1"})"}) {
      EXPECT_TRUE(
          fails_with(shelf_->upsert(json, options), QUIRE_INVALID_ARGUMENT, "a post-trigger deleted"));
      auto transaction = database_->begin_transaction();
      options.transaction = &*transaction;
      EXPECT_TRUE(fails_with(shelf_->upsert(json, options), QUIRE_INVALID_ARGUMENT));
      EXPECT_TRUE(succeeds(transaction->commit()));
      options.transaction = nullptr;
      EXPECT_EQ(query("SELECT * FROM shelf s"), before) << trigger << json;
    }
  }
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
  const std::string_view patch = R"([{"op":"set","path":"/checked","value":false}])";
  EXPECT_TRUE(fails_with(shelf_->patch("a1", "b4", patch, both), QUIRE_INVALID_ARGUMENT, "countBooks"));
  both.post_trigger = {};
  EXPECT_TRUE(succeeds(shelf_->patch("a1", "b4", patch, both)));
  EXPECT_EQ(query("SELECT VALUE s.checked FROM shelf s WHERE s.id = 'b4'"), "true\n");
  WriteOptions unknown;
  unknown.pre_trigger = "checkAuthors";
  EXPECT_TRUE(fails_with(shelf_->create(R"({"id":"b6","authorId":"a1"})", unknown), QUIRE_NOT_FOUND,
                         "did you mean 'checkAuthor'"));
}

TEST_F(TriggerTest, AStatementNamesTheTriggersThatItWants) {
  add("countBooks", "POST CREATE ON shelf", kCountBooks);
  add("'check author'", "PRE ALL ON shelf", kCheckAuthor);
  EXPECT_EQ(query("INSERT INTO shelf VALUES {id: 'b4', authorId: 'a1', type: 'book'}, {id: 'b5', authorId: "
                  "'a2', type: 'book'} PRE TRIGGER 'check author' POST TRIGGER countBooks RETURNING "
                  "VALUE shelf.checked"),
            "true\ntrue\n");
  EXPECT_EQ(count("a1") + count("a2"), "1\n1\n");
  EXPECT_THAT(
      query("INSERT INTO shelf VALUES {id: 'b6', authorId: 'x', type: 'book'} PRE TRIGGER 'check author'"),
      HasSubstr("there is no author x"));
  EXPECT_EQ(
      query("UPDATE shelf s SET s.checked = false WHERE s.id = 'b4' PRE TRIGGER 'check author' RETURNING "
            "VALUE s.checked"),
      "true\n");
  EXPECT_EQ(
      query("PATCH shelf s WITH [{op: 'add', path: '/checked', \"value\": 1}] WHERE s.id = 'b4' PRE TRIGGER "
            "'check author' RETURNING VALUE s.checked"),
      "true\n");
  EXPECT_THAT(query("DELETE FROM shelf s WHERE s.id = 'b4' POST TRIGGER countBooks"),
              HasSubstr("invalid_argument: trigger 'countBooks'"));
  EXPECT_THAT(query("DELETE FROM shelf s WHERE s.id = 'b4' POST TRIGGER countBook"),
              HasSubstr("did you mean 'countBooks'"));
  EXPECT_EQ(
      query(
          "UPSERT INTO shelf SELECT VALUE {id: 'b7', authorId: 'a1', type: 'book'} POST TRIGGER countBooks"),
      "");
  EXPECT_EQ(count("a1"), "2\n");
  EXPECT_THAT(query("DELETE FROM shelf s PRE TRIGGER"), HasSubstr("syntax"));
}

// A statement has read all its items before it writes the first.
TEST_F(TriggerTest, AStatementUndoesNothingThatItsTriggersDid) {
  ASSERT_EQ(query("INSERT INTO shelf VALUES {id: 'zz', authorId: 'a1', n: 0}"), "");
  add("count", "POST REPLACE ON shelf", R"(function () {
    if (getContext().getRequest().getBody().id === 'zz') return;
    __.patchDocument(__.getAltLink() + '/docs/zz', [{ op: 'incr', path: '/n', value: 1 }]);
  })");
  constexpr std::string_view kSet = "UPDATE shelf s SET s.seen = true WHERE s.authorId = 'a1'";
  constexpr std::string_view kPatch =
      R"(PATCH shelf s WITH [{op: 'add', path: '/seen', "value": true}] WHERE s.authorId = 'a1')";
  for (const std::string_view change : {kSet, kPatch}) {
    const std::string before = query("SELECT * FROM shelf");
    EXPECT_THAT(query(std::string(change) + " POST TRIGGER count"),
                HasSubstr("precondition_failed: a trigger has changed item 'zz'"));
    EXPECT_EQ(query("SELECT * FROM shelf"), before);
    EXPECT_EQ(query(std::string(change) + " AND s.id != 'zz' POST TRIGGER count"), "");
  }
  EXPECT_EQ(query("SELECT VALUE s.n FROM shelf s WHERE s.id = 'zz'"), "6\n");
  // The item of the trigger may be one that the statement has written before.
  EXPECT_EQ(query("UPSERT INTO shelf VALUES {id: 'zz', authorId: 'a1', n: 9}, {id: 'a1', authorId: 'a1'} "
                  "POST TRIGGER count RETURNING VALUE shelf.n"),
            "10\n");
}

TEST_F(TriggerTest, ItemsThatATriggerOfTheStatementDeletesAreGone) {
  ASSERT_EQ(query("INSERT INTO shelf VALUES {id: 'b', authorId: 'x'}, {id: 'c', authorId: 'x'}, "
                  "{id: 'd', authorId: 'x'}"),
            "");
  // The items of one partition come in the order of their ids.
  add("cascade", "POST ALL ON shelf", R"(function () {
    if (getContext().getRequest().getBody().id !== 'c') return;
    for (const id of ['b', 'd']) __.deleteDocument(__.getAltLink() + '/docs/' + id);
  })");
  EXPECT_EQ(
      query("UPDATE shelf s SET s.n = 1 WHERE s.id IN ('b', 'c') POST TRIGGER cascade RETURNING VALUE s.id"),
      "\"c\"\n");
  ASSERT_EQ(query("INSERT INTO shelf VALUES {id: 'd', authorId: 'x'}, {id: 'e', authorId: 'x'}"), "");
  EXPECT_EQ(query("CREATE OR REPLACE TRIGGER cascade POST DELETE ON shelf AS $$ function () { "
                  "if (getContext().getRequest().getBody().id === 'c') "
                  "__.deleteDocument(__.getAltLink() + '/docs/d'); } $$"),
            "");
  EXPECT_EQ(query("DELETE FROM shelf s WHERE s.authorId = 'x' POST TRIGGER cascade RETURNING VALUE s.id"),
            "\"c\"\n\"e\"\n");
  EXPECT_EQ(query("SELECT VALUE s.id FROM shelf s WHERE s.authorId = 'x'"), "");
}

TEST_F(TriggerTest, WhatTriggersLogGoesToTheCaller) {
  constexpr std::string_view kTell =
      "function () { var r = getContext().getRequest(); console.log(r.getOperationType(), "
      "r.getBody().id); if (r.getBody().fails) throw new Error('no'); }";
  add("tell", "POST ALL ON shelf ALWAYS", kTell);
  ASSERT_TRUE(succeeds(shelf_->create(R"({"id":"x","authorId":"a1"})")));
  EXPECT_EQ(request_log(), "Create x\n");
  EXPECT_FALSE(shelf_->create(R"({"id":"y","authorId":"a1","fails":true})"));
  EXPECT_EQ(request_log(), "Create y\n");
  ASSERT_TRUE(succeeds(shelf_->patch("a1", "x", R"([{"op":"set","path":"/n","value":1}])")));
  EXPECT_EQ(request_log(), "Replace x\n");
  ASSERT_TRUE(succeeds(shelf_->remove("a1", "x")));
  EXPECT_EQ(request_log(), "Delete x\n");
  ASSERT_TRUE(succeeds(shelf_->create(R"({"id":"x","authorId":"a1"})")));
  {
    Statement insert = std::move(
        database_->prepare("INSERT INTO shelf VALUES {id: 'z', authorId: 'a1'}, {id: 'w', authorId: 'a1'}")
            .value());
    EXPECT_EQ(rows(insert), "");
    EXPECT_EQ(insert.log(), "Create z\nCreate w\n");
  }
  ASSERT_TRUE(
      succeeds(run("function () { console.log('before'); __.createDocument(__.getSelfLink(), {id: 'v', "
                   "authorId: 'a1'}); console.log('after'); }")));
  EXPECT_EQ(log_, "before\nCreate v\nafter\n");
  EXPECT_EQ(query("DROP TRIGGER tell ON shelf"), "");
  ASSERT_TRUE(succeeds(shelf_->create(R"({"id":"q","authorId":"a1"})")));
  EXPECT_EQ(request_log(), "");
}

TEST_F(TriggerTest, ALogOfManyTriggersIsBounded) {
  add("tell", "POST ALL ON shelf ALWAYS", "function () { console.log('x'.repeat(1000)); }");
  std::string values;
  for (int i = 0; i < 200; ++i)
    values += (i == 0 ? "" : ", ") + ("{id: 'n" + std::to_string(i) + "', authorId: 'a1'}");
  Statement insert = std::move(database_->prepare("INSERT INTO shelf VALUES " + values).value());
  EXPECT_EQ(rows(insert), "");
  EXPECT_LT(insert.log().size(), 66'000u);
  EXPECT_TRUE(insert.log().ends_with("x...\n"));
}

TEST_F(TriggerTest, APatchIsSeenAsTheItemThatItMakes) {
  add("check", "PRE REPLACE ON shelf ALWAYS",
      "function () { var r = getContext().getRequest(), d = r.getBody(); if (d.year > 2030) throw new "
      "Error('not "
      "yet'); d.seen = d.year; r.setBody(d); }");
  const std::string patch = R"([{"op":"incr","path":"/year","value":3}])";
  ASSERT_TRUE(succeeds(shelf_->patch("a1", "b1", patch)));
  EXPECT_EQ(query("SELECT s.year, s.seen FROM shelf s WHERE s.id = 'b1'"), "{\"year\":2025,\"seen\":2025}\n");
  EXPECT_TRUE(fails_with(shelf_->patch("a1", "b1", R"([{"op":"set","path":"/year","value":2031}])"),
                         QUIRE_SCRIPT_FAILED, "not yet"));
  EXPECT_EQ(query("SELECT VALUE s.year FROM shelf s WHERE s.id = 'b1'"), "2025\n");
  // A trigger may not do what a patch may not.
  add("move", "PRE REPLACE ON shelf ALWAYS",
      "function () { var r = getContext().getRequest(), d = r.getBody(); d.authorId = 'a2'; r.setBody(d); }");
  EXPECT_TRUE(fails_with(shelf_->patch("a1", "b1", patch), QUIRE_FORBIDDEN));
}

TEST_F(TriggerTest, ATriggerThatFailsRollsBackItsBatch) {
  add("check", "PRE CREATE ON shelf ALWAYS",
      "function () { console.log('saw', getContext().getRequest().getBody().id); if "
      "(getContext().getRequest().getBody().bad) throw new Error('bad one'); }");
  add("count", "POST CREATE ON shelf ALWAYS", kCountBooks);
  const std::string before = ids();
  const std::string good = R"({"id":"n1","authorId":"a1","type":"book"})";
  const BatchResult failed =
      shelf_->execute("a1", Batch().create(good).create(R"({"id":"n2","authorId":"a1","bad":true})"));
  ASSERT_FALSE(failed.succeeded());
  EXPECT_EQ(failed.error->code, QUIRE_SCRIPT_FAILED);
  EXPECT_THAT(failed.error->message, HasSubstr("operation 2 (create)"));
  EXPECT_EQ(request_log(), "saw n1\nsaw n2\n");
  EXPECT_EQ(ids(), before);
  EXPECT_EQ(count("a1"), "");
  EXPECT_TRUE(
      shelf_->execute("a1", Batch().create(good).create(R"({"id":"n2","authorId":"a1","type":"book"})"))
          .succeeded());
  EXPECT_EQ(count("a1"), "2\n");
}

// ---- With time to live

class TriggerTtlTest : public TriggerTest {
 protected:
  TriggerTtlTest() {
    at(0);
    EXPECT_EQ(query("ALTER CONTAINER shelf WITH {defaultTtl: -1}"), "");
    shelf_ = std::move(database_->container("shelf").value());
  }
  void at(uint32_t seconds) { set_time(database_->c_handle(), 1'700'000'000 + seconds); }
};

TEST_F(TriggerTtlTest, ATriggerMaySayHowLongAnItemLives) {
  add("mortal", "PRE CREATE ON shelf ALWAYS",
      "function () { var r = getContext().getRequest(), d = r.getBody(); d.ttl = 10; r.setBody(d); }");
  add("countBooks", "POST CREATE ON shelf ALWAYS", kCountBooks);
  ASSERT_TRUE(succeeds(shelf_->create(R"({"id":"t","authorId":"a1","type":"book","ttl":1000})")));
  EXPECT_EQ(count("a1"), "1\n");
  at(9);
  EXPECT_TRUE(succeeds(shelf_->read_json("a1", "t")));
  at(10);
  EXPECT_TRUE(fails_with(shelf_->read_json("a1", "t"), QUIRE_NOT_FOUND));
  add("never", "PRE CREATE ON shelf ALWAYS",
      "function () { var r = getContext().getRequest(), d = r.getBody(); d.ttl = 'soon'; r.setBody(d); }");
  EXPECT_TRUE(fails_with(shelf_->create(R"({"id":"u","authorId":"a1"})"), QUIRE_INVALID_ARGUMENT, "\"ttl\""));
}

TEST_F(TriggerTtlTest, AnExpiredItemIsNoneForTriggers) {
  add("tell", "PRE ALL ON shelf ALWAYS",
      "function () { var id = getContext().getRequest().getBody().id; __.readDocument(__.getAltLink() + "
      "'/docs/' + id, "
      "function (err, doc) { console.log(getContext().getRequest().getOperationType(), err ? err.number : "
      "doc.n); }); }");
  add("made", "POST CREATE ON shelf ALWAYS", "function () { console.log('created'); }");
  add("gone", "POST DELETE ON shelf ALWAYS", "function () { console.log('deleted'); }");
  ASSERT_TRUE(succeeds(shelf_->create(R"({"id":"t","authorId":"a1","n":1,"ttl":10})")));
  EXPECT_EQ(request_log(), "Create 404\ncreated\n");
  at(10);
  ASSERT_TRUE(succeeds(shelf_->create(R"({"id":"t","authorId":"a1","n":2,"ttl":10})")));
  EXPECT_EQ(request_log(), "Create 404\ncreated\n") << "what expires goes without triggers";
  at(20);
  ASSERT_TRUE(succeeds(shelf_->upsert(R"({"id":"t","authorId":"a1","n":3,"ttl":10})")));
  EXPECT_EQ(request_log(), "Upsert 404\ncreated\n");
  at(30);
  EXPECT_TRUE(fails_with(shelf_->replace(R"({"id":"t","authorId":"a1","n":4})"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(fails_with(shelf_->remove("a1", "t"), QUIRE_NOT_FOUND));
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
