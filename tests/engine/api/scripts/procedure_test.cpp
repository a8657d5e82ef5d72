// Procedures: what scripts that were written for Azure find, and what holds when they fail.
#include <fmt/format.h>

#include "tests/engine/api/script_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;

constexpr std::string_view kMakeEcho =
    "CREATE PROCEDURE echo ON shelf AS $$ function (x) { getContext().getResponse().setBody(x); } $$";

TEST_F(ScriptTest, AResponseIsTheRowOfExecute) {
  EXPECT_EQ(query("CREATE PROCEDURE hello ON shelf AS $$ function (name) { "
                  "getContext().getResponse().setBody('hello ' + name); } $$"),
            "");
  EXPECT_EQ(query("EXECUTE hello('you') ON shelf IN PARTITION 'a1'"), "\"hello you\"\n");
  EXPECT_EQ(query("DROP PROCEDURE hello ON shelf"), "");
  EXPECT_THAT(query("EXECUTE hello('you') ON shelf IN PARTITION 'a1'"),
              HasSubstr("not_found: container 'shelf' has no procedure 'hello'"));
}

TEST_F(ScriptTest, ArgumentsOfExecuteArePlannedAgainAsQueriesAre) {
  EXPECT_EQ(query(kMakeEcho), "");
  EXPECT_EQ(query("CREATE INDEX by_year ON shelf (year)"), "");
  auto statement = database_->prepare(
      "EXECUTE echo(ARRAY(SELECT VALUE s.id FROM shelf s WHERE s.year > 2022)) ON shelf IN PARTITION 'a1'");
  ASSERT_TRUE(succeeds(statement));
  EXPECT_EQ(rows(*statement), "[\"b2\"]\n");
  EXPECT_EQ(query("DROP INDEX by_year ON shelf"), "");
  statement->reset();
  EXPECT_EQ(rows(*statement), "[\"b2\"]\n");
}

TEST_F(ScriptTest, ArgumentsOfExecuteSeeWhatItsTransactionHasWritten) {
  EXPECT_EQ(query(kMakeEcho), "");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO shelf VALUES {id: 'b3', authorId: 'a1', year: 2024}"), "");
  EXPECT_EQ(query("EXECUTE echo(ARRAY(SELECT VALUE s.id FROM shelf s WHERE s.year > 2022)) ON shelf "
                  "IN PARTITION (SELECT VALUE MAX(s.authorId) FROM shelf s WHERE s.id = 'b3')"),
            "[\"b2\",\"b3\"]\n");
  EXPECT_EQ(query("ROLLBACK"), "");
}

TEST_F(ScriptTest, ArgumentsThatJsonHasNotAreRefused) {
  EXPECT_EQ(query(kMakeEcho), "");
  for (const std::string_view argument : {"1/0", "[1, 0/0]", "{a: -1/0}"})
    EXPECT_EQ(
        query(fmt::format("EXECUTE echo(1, {}) ON shelf IN PARTITION 'a1'", argument)),
        "not_json_result: argument 2 of procedure 'echo' is or holds NaN or Infinity, which JSON has not");
}

TEST_F(ScriptTest, ArgumentsMayBeMissingOrTooMany) {
  const auto count =
      "function (a, b) { getContext().getResponse().setBody([arguments.length, typeof a, typeof b]); }";
  EXPECT_EQ(body_of(count), R"([0,"undefined","undefined"])");
  EXPECT_EQ(body_of(count, "[1]"), R"([1,"number","undefined"])");
  EXPECT_EQ(body_of(count, R"([1,"x",{},null])"), R"([4,"number","string"])");
}

TEST_F(ScriptTest, ArgumentsAreAJsonArray) {
  const auto length = "function (a) { getContext().getResponse().setBody(String(a).length); }";
  for (const std::string_view other : {"{}", R"({"length":1})", R"("abc")", R"("\ud800")", "5", "null"})
    EXPECT_TRUE(fails_with(run(length, other), QUIRE_INVALID_ARGUMENT,
                           "the arguments of procedure 'p' must be a JSON array"));
  for (const std::string_view broken : {"[1,", "", "[1] x", "bad", R"(["\ud800)"})
    EXPECT_TRUE(fails_with(run(length, broken), QUIRE_INVALID_JSON, "the arguments of procedure 'p': "));
  EXPECT_EQ(run(length, "[1,\n }").error().line, 2u);
  // Texts that no document could hold.
  EXPECT_EQ(body_of(length, R"( ["\ud800"])"), "1");
  EXPECT_EQ(body_of(length, std::string(200, '[') + std::string(200, ']')), "0");
}

TEST_F(ScriptTest, AScriptIsAFunctionInAnyForm) {
  for (const char* body :
       {"function f() { getContext().getResponse().setBody(1) }",
        "function () { getContext().getResponse().setBody(1); };",
        "() => getContext().getResponse().setBody(1)",
        "// a comment\nasync function f() { __.response.setBody(1) } // and one",
        "function p() { helper() }\nfunction helper() { getContext().getResponse().setBody(1) }",
        "var one = 1;\nfunction main() { getContext().getResponse().setBody(one) }",
        "const p = () => { getContext().getResponse().setBody(1) };"})
    EXPECT_EQ(body_of(body), "1") << body;
  EXPECT_TRUE(fails_with(run("1 + 1"), QUIRE_INVALID_DEFINITION, "has no function"));
}

// The script is sound; what it reads is not.
TEST_F(ScriptTest, ASyntaxErrorThatARunThrowsIsOneOfTheScript) {
  for (const std::string_view thrower :
       {"JSON.parse('{bad')", "new RegExp('(')", "(function () { throw new SyntaxError('x'); })()"})
    EXPECT_TRUE(fails_with(run("function f() { return " + std::string(thrower) + "; }"), QUIRE_SCRIPT_FAILED,
                           "SyntaxError"))
        << thrower;
}

TEST_F(ScriptTest, ASyntaxErrorIsToldWhenTheScriptIsStored) {
  EXPECT_TRUE(fails_with(run("function f() {\n  var x = ;\n}"), QUIRE_SYNTAX, "line 2"));
  EXPECT_TRUE(fails_with(run("function ("), QUIRE_SYNTAX, "line 1"));
  // Functions without a name: the fault is theirs, where it stands, and not that they have none.
  for (const auto& [body, column] :
       std::initializer_list<std::pair<std::string_view, uint32_t>>{{"function () { var x = ; }", 23},
                                                                    {"async function () { a b }", 23},
                                                                    {"function () { return 1", 23},
                                                                    {"(a) => { var x = ; }", 18}}) {
    auto result = run(body);
    EXPECT_TRUE(fails_with(result, QUIRE_SYNTAX, "p:1:" + std::to_string(column))) << body;
    EXPECT_EQ(result.error().column, column) << body;
  }
  EXPECT_TRUE(fails_with(run("function () {\n  return 1;\n"), QUIRE_SYNTAX, "line 2"));
  EXPECT_EQ(shelf_->scripts().value(), "[]");
}

TEST_F(ScriptTest, WhatCannotBeCalledAsAScriptIsRefusedWhenItIsStored) {
  for (const auto& [body, kind] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"class p {}", "is a class"},
           {"let one = 1; class p {}", "is a class"},
           {"let one = 1; class Other {}", "has no function"},
           {"class { constructor() {} }", "is a class"},
           {"function* p() {}", "is a generator"},
           {"async function* () {}", "is a generator"},
           {"let one = 1; function* p() {}", "is a generator"}})
    EXPECT_TRUE(fails_with(run(body), QUIRE_INVALID_DEFINITION, kind)) << body;
  EXPECT_EQ(shelf_->scripts().value(), "[]");
  for (const std::string_view body : {"async function () {}", "(x) => x", "async (x) => x",
                                      "class Other {}\nfunction p() { new Other(); }"})
    EXPECT_TRUE(succeeds(run(body))) << body;
}

TEST_F(ScriptTest, DocumentsAreCreatedReadReplacedAndDeletedInOneTransaction) {
  EXPECT_EQ(body_of(R"(function () {
    var c = getContext().getCollection(), link = c.getSelfLink(), seen = [];
    var ok = c.createDocument(link, { id: 'n', authorId: 'a1', v: 1 }, function (err, doc, info) {
      if (err) throw err;
      seen.push(doc.v, typeof doc._etag, info.statusCode);
      doc.v = 2;
      c.replaceDocument(doc._self, doc, { etag: doc._etag }, function (err, doc) {
        if (err) throw err;
        seen.push(doc.v);
        c.readDocument(c.getAltLink() + '/docs/n', {}, function (err, doc) {
          seen.push(doc.v);
          c.queryDocuments(link, 'SELECT VALUE c.v FROM c WHERE c.id = "n"', function (err, feed) {
            seen.push(feed);
            c.upsertDocument(link, { id: 'n', authorId: 'a1', v: 3 }, function (err, doc) {
              seen.push(doc.v);
              c.deleteDocument(doc._self, {}, function (err) {
                c.readDocument(doc._self, function (err) {
                  seen.push(err.number);
                  getContext().getResponse().setBody(seen);
                });
              });
            });
          });
        });
      });
    });
    if (!ok) throw new Error('not accepted');
  })"),
            R"([1,"string",201,2,2,[2],3,404])");
}

// After the example of "Get started with Azure Cosmos DB partial document update", server-side programming.
TEST_F(ScriptTest, DocumentsArePatched) {
  EXPECT_EQ(body_of(R"(function () {
    var c = getContext().getCollection(), seen = [];
    c.createDocument(c.getSelfLink(), { id: 'n', authorId: 'a1', field1: { field2: 10, field3: 20 } }, (err, doc) => {
      if (err) throw err;
      var patch = [{ op: 'add', path: '/field1/field2', value: 20 }, { op: 'remove', path: '/field1/field3' },
                   { op: 'incr', path: '/count', value: 3 }];
      var accepted = c.patchDocument(doc._self, patch, (err, patched, info) => {
        if (err) throw err;
        seen.push(accepted, patched.field1, patched.count, patched._etag !== doc._etag, info.statusCode);
        var link = c.getAltLink() + '/docs/n', set = [{ op: 'set', path: '/x', value: 1 }];
        c.patchDocument(link, set, { etag: doc._etag }, (err) => seen.push(err.number));
        c.patchDocument(link, { condition: 'FROM c WHERE c.count = 4', operations: set }, (err) => seen.push(err.number));
        c.patchDocument(link, { condition: 'FROM c WHERE c.count = 3', operations: set }, {}, (err, doc) => seen.push(doc.x));
        c.patchDocument(c.getAltLink() + '/docs/none', set, (err) => seen.push(err.number));
        c.patchDocument(link, [{ op: 'set', path: '/id', value: 'm' }], (err) => seen.push(err.number));
        c.patchDocument(link, [{ op: 'turn', path: '/x' }], (err) => seen.push(err.number));
        c.patchDocument(link, 'x', (err) => {
          seen.push(err.number);
          getContext().getResponse().setBody(seen);
        });
      });
    });
  })"),
            R"([true,{"field2":20},3,true,200,412,412,1,404,400,400,400])");
  EXPECT_EQ(query("SELECT VALUE [s.field1, s.count, s.x] FROM shelf s WHERE s.id = 'n'"),
            "[{\"field2\":20},3,1]\n");
}

TEST_F(ScriptTest, APatchIsAwaitedAndFailsWithoutCallback) {
  EXPECT_EQ(body_of(R"(async function () {
    const doc = await __.patchDocumentAsync(__.getAltLink() + '/docs/b1', [{ op: 'incr', path: '/year', value: 1 }]);
    __.response.setBody(doc.year);
  })"),
            "2023");
  EXPECT_TRUE(fails_with(run("function () { __.patchDocument(__.getAltLink() + '/docs/b1', "
                             "[{ op: 'remove', path: '/none' }]); }"),
                         QUIRE_SCRIPT_FAILED,
                         "operation 1 (remove /none): there is nothing at /none\n    at <"));
  EXPECT_TRUE(fails_with(run("function () { __.patchDocument(__.getAltLink() + '/docs/a2', "
                             "[{ op: 'set', path: '/x', value: 1 }]); }"),
                         QUIRE_NOT_FOUND, "there is no item 'a2'"));
}

TEST_F(ScriptTest, ATriggerRunsAtAPatch) {
  EXPECT_EQ(query("CREATE TRIGGER note POST REPLACE ON shelf ALWAYS AS $$ function () { "
                  "console.log('now', getContext().getResponse().getBody().year); } $$"),
            "");
  EXPECT_EQ(body_of("function () { __.patchDocument(__.getAltLink() + '/docs/b1', "
                    "[{ op: 'set', path: '/year', value: 1 }]); }"),
            "null");
  EXPECT_EQ(log_, "now 1\n");
}

// Its id may be another item's by then.
TEST_F(ScriptTest, ALinkToAnItemThatIsGoneIsNoLinkToTheNextOfItsId) {
  EXPECT_EQ(body_of(R"(function () {
    var c = __, link = c.getSelfLink();
    c.readDocument(c.getAltLink() + '/docs/b1', (err, doc) => {
      c.deleteDocument(doc._self);
      c.createDocument(link, { id: 'b1', authorId: 'a1', v: 2 });
      c.deleteDocument(doc._self, (err) => { __.response.setBody(err ? err.number : 'deleted'); });
    });
  })"),
            "404");
  EXPECT_EQ(query("SELECT VALUE s.v FROM shelf s WHERE s.id = 'b1'"), "2\n");
}

// A query names its columns as it likes.
TEST_F(ScriptTest, ASelfLinkIsThatOfItsItemWhateverARowSaysOfIt) {
  EXPECT_EQ(body_of(R"(function () {
    var c = __;
    c.queryDocuments(c.getSelfLink(), "SELECT c._self, c._rid, c.title AS id FROM c WHERE c.id = 'b1'", (err, rows) => {
      c.readDocument(rows[0]._self, (err, doc) => { __.response.setBody(err ? err.number : [rows[0].id, doc.id]); });
    });
  })"),
            R"(["Tides","b1"])");
}

TEST_F(ScriptTest, AnAltLinkHasAnIdAlsoWhereItLooksLikeAResourceId) {
  EXPECT_EQ(body_of(R"(function () {
    var c = __, docs = c.getAltLink() + '/docs/';
    c.readDocument(docs + 'b1', (err, book) => {
      c.createDocument(c.getSelfLink(), { id: book._rid, authorId: 'a1', is: 'of another' });
      c.readDocument(docs + book._rid, (err, doc) => {
        c.readDocument(c.getSelfLink() + 'docs/' + book._rid, (err, same) => { __.response.setBody([doc.is, same.id]); });
      });
    });
  })"),
            R"(["of another","b1"])");
}

TEST_F(ScriptTest, WhatIsOddInOptionsAndLogsIsTakenAsItIsMeant) {
  const auto count = [&](std::string_view size) {
    return body_of(
        fmt::format("function () {{ __.readDocuments(__.getSelfLink(), {{ pageSize: {} }}, (e, r) => "
                    "__.response.setBody(r.length)); }}",
                    size));
  };
  EXPECT_EQ(count("0.5"), "1");
  EXPECT_EQ(count("1.5"), "2");
  EXPECT_EQ(count("-1"), "3");
  EXPECT_EQ(
      body_of(
          "function () { console.log(1n); var o = {}; o.o = o; console.log(o); __.response.setBody(1); }"),
      "1");
  EXPECT_EQ(log_, "1\n[object Object]\n");
  EXPECT_EQ(body_of("function () { __.unwind((d) => [1], (d, t) => d.id + t, undefined, (e, r) => "
                    "__.response.setBody(r)); }"),
            R"(["a11","b11","b21"])");
}

TEST_F(ScriptTest, CallbacksRunAfterTheFunctionHasReturned) {
  EXPECT_EQ(body_of(R"(function () {
    var order = ['begin'], c = __;
    for (let id of ['b1', 'b2']) c.readDocument(c.getAltLink() + '/docs/' + id, () => { order.push(id); getContext().getResponse().setBody(order); });
    order.push('end');
  })"),
            R"(["begin","end","b1","b2"])");
}

TEST_F(ScriptTest, AnItemOfAnotherPartitionIsForbidden) {
  const std::string before = ids();
  EXPECT_TRUE(
      fails_with(run("function () { __.createDocument(__.getSelfLink(), { id: 'x', authorId: 'a2' }) }"),
                 QUIRE_FORBIDDEN, "partition"));
  EXPECT_EQ(body_of(R"(function () {
    __.createDocument(__.getSelfLink(), { id: 'x', authorId: 'a2' }, (err) => getContext().getResponse().setBody(err.number));
  })"),
            "403");
  // Those of others are not to be seen, whatever a query asks for.
  EXPECT_EQ(body_of(R"(function () {
    __.queryDocuments(__.getSelfLink(), 'SELECT VALUE c.id FROM c WHERE c.authorId = "a2" OR c.type = "author"', (err, feed) => getContext().getResponse().setBody(feed));
  })"),
            R"(["a1"])");
  EXPECT_TRUE(
      fails_with(run("function () { __.readDocument(__.getAltLink() + '/docs/a2') }"), QUIRE_NOT_FOUND));
  EXPECT_EQ(ids(), before);
}

TEST_F(ScriptTest, AnExceptionUndoesAllAndTellsWhere) {
  const std::string before = ids();
  const auto failed =
      run("function outer() {\n  __.createDocument(__.getSelfLink(), { id: 'x', authorId: 'a1' }, function "
          "inner() {\n    throw new TypeError('boom');\n  });\n}");
  EXPECT_TRUE(
      fails_with(failed, QUIRE_SCRIPT_FAILED, "procedure 'p', line 3: TypeError: boom\n    at inner (p:3:"));
  EXPECT_EQ(failed.error().line, 3u);
  EXPECT_TRUE(fails_with(run("function () { __.deleteDocument(__.getAltLink() + '/docs/b1'); "
                             "getContext().abort(new Error('enough')); }"),
                         QUIRE_SCRIPT_FAILED, "aborted: enough"));
  EXPECT_TRUE(fails_with(run("function () { __.deleteDocument(__.getAltLink() + '/docs/b1'); try { "
                             "getContext().abort('no'); } catch (e) {} finally {} }"),
                         QUIRE_SCRIPT_FAILED, "aborted: no"));
  EXPECT_TRUE(
      fails_with(run("function () { __.deleteDocument(__.getAltLink() + '/docs/b1'); throw { reason: 7 }; }"),
                 QUIRE_SCRIPT_FAILED, R"({"reason":7})"));
  EXPECT_TRUE(fails_with(run("function () { throw null }"), QUIRE_SCRIPT_FAILED, "null"));
  EXPECT_EQ(ids(), before);
}

TEST_F(ScriptTest, WhatIsLoggedIsReturnedAlsoByAScriptThatFails) {
  EXPECT_EQ(run("function (x) { console.log('got', x, { a: 1 }); }", "[5]")->log, "got 5 {\"a\":1}\n");
  EXPECT_FALSE(run("function () { console.log('here'); throw 1; }"));
  EXPECT_EQ(log_, "here\n");
  auto statement = database_->prepare("EXECUTE p() ON shelf IN PARTITION 'a1'");
  EXPECT_FALSE(statement->step());
  EXPECT_EQ(statement->log(), "here\n");
}

TEST_F(ScriptTest, AbortTellsItsReasonInAnyForm) {
  EXPECT_TRUE(fails_with(run("function () { getContext().abort({ code: 7, why: 'full' }); }"),
                         QUIRE_SCRIPT_FAILED, R"(aborted: {"code":7,"why":"full"})"));
  EXPECT_TRUE(
      fails_with(run("function () { getContext().abort(404); }"), QUIRE_SCRIPT_FAILED, "aborted: 404"));
}

TEST_F(ScriptTest, LogsAndErrorsAreUtf8) {
  EXPECT_TRUE(fails_with(
      run("function () { console.log('a\\udc00\\ud83d\\ude00 \\ud7ff'); throw new Error('b\\ud800'); }"),
      QUIRE_SCRIPT_FAILED, "b\uFFFD"));
  EXPECT_EQ(log_, "a\uFFFD\U0001F600 \uD7FF\n");
  EXPECT_TRUE(
      fails_with(run("function () { getContext().abort('c\\ud800'); }"), QUIRE_SCRIPT_FAILED, "c\uFFFD"));
  EXPECT_TRUE(fails_with(run("function () { throw 'd\\ud800'; }"), QUIRE_SCRIPT_FAILED, "d\uFFFD"));
}

TEST_F(ScriptTest, PreconditionsAndOptionsAreLookedAt) {
  EXPECT_EQ(body_of(R"(function () {
    var c = __, numbers = [], link = c.getAltLink() + '/docs/b1';
    var note = (err) => { numbers.push(err ? err.number : 0); getContext().getResponse().setBody(numbers); };
    c.replaceDocument(link, { id: 'b1', authorId: 'a1' }, { etag: '"stale"' }, note);
    c.deleteDocument(link, { etag: '"stale"' }, note);
    c.replaceDocument(link, { id: 'b2', authorId: 'a1' }, note);
    c.createDocument(c.getSelfLink(), { id: 'b1', authorId: 'a1' }, note);
    c.createDocument(c.getSelfLink(), { authorId: 'a1' }, { disableAutomaticIdGeneration: true }, note);
    c.createDocument('dbs/x/colls/other', { authorId: 'a1' }, note);
    c.createDocument(c.getSelfLink(), 'text', note);
    c.createDocument(c.getSelfLink(), { authorId: 'a1', id: 'x' }, { indexAction: 'maybe' }, note);
    c.readDocument('nonsense', note);
    c.queryDocuments(c.getSelfLink(), 'SELECT nonsense FROM', note);
    c.queryDocuments(c.getSelfLink(), 'DELETE FROM c', note);
    c.readDocument(link, { ifNoneMatch: '*' }, (err, doc, info) => { numbers.push(info.notModified); });
    c.readDocument(link, note);
  })"),
            "[412,412,409,409,400,400,400,400,400,400,400,true,0]");
}

TEST_F(ScriptTest, CallsMayBeAwaited) {
  EXPECT_EQ(body_of(R"(async function () {
    const c = getContext().getCollection();
    const made = await c.createDocumentAsync(c.getSelfLink(), { id: 'n', authorId: 'a1', v: 1 });
    const { feed } = await c.queryDocumentsAsync(c.getSelfLink(), 'SELECT VALUE c.v FROM c WHERE c.id = "n"');
    let number = 0;
    try { await c.readDocumentAsync(c.getAltLink() + '/docs/none'); } catch (e) { number = e.number; }
    getContext().getResponse().setBody([made.v, feed, number]);
  })"),
            "[1,[1],404]");
  EXPECT_TRUE(fails_with(run("async function () { await null; throw new Error('late'); }"),
                         QUIRE_SCRIPT_FAILED, "late"));
  EXPECT_TRUE(
      fails_with(run("function () { Promise.reject(new Error('lost')); }"), QUIRE_SCRIPT_FAILED, "lost"));
  EXPECT_TRUE(fails_with(run("async function () { await new Promise(() => {}); }"), QUIRE_SCRIPT_FAILED,
                         "nothing will settle"));
}

TEST_F(ScriptTest, AProcedureNeedsItsPartitionKeyAndItsContainer) {
  EXPECT_TRUE(succeeds(shelf_->create_script(ScriptKind::procedure, "p", "function () {}")));
  EXPECT_TRUE(
      fails_with(shelf_->execute("p", PartitionKey()), QUIRE_INVALID_PARTITION_KEY, "runs in one partition"));
  EXPECT_TRUE(fails_with(shelf_->execute("q", "a1"), QUIRE_NOT_FOUND, "no procedure 'q'"));
  Container other = make("other", "/k");
  EXPECT_TRUE(
      fails_with(other.execute("p", "a1"), QUIRE_NOT_FOUND, "container 'other' has no procedure 'p'"));
  EXPECT_EQ(shelf_->execute("p", "a1")->body, "null");
  EXPECT_TRUE(succeeds(database_->drop_container("other")));
}

TEST_F(ScriptTest, AProcedureTakesPartInATransaction) {
  EXPECT_TRUE(succeeds(shelf_->create_script(
      ScriptKind::procedure, "add",
      "function (id) { __.createDocument(__.getSelfLink(), { id: id, authorId: 'a1' }); }")));
  const std::string before = ids();
  {
    auto transaction = database_->begin_transaction();
    EXPECT_TRUE(succeeds(shelf_->execute("add", "a1", R"(["x"])", &*transaction)));
    EXPECT_TRUE(fails_with(shelf_->execute("add", "a1", R"(["x"])", &*transaction), QUIRE_CONFLICT));
    transaction->rollback();
  }
  EXPECT_EQ(ids(), before);
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("EXECUTE add('y') ON shelf IN PARTITION 'a1'"), "null\n");
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(query("SELECT VALUE s.id FROM shelf s WHERE s.id = 'y'"), "\"y\"\n");
}

TEST_F(ScriptTest, HalfOfASurrogatePairIsToldOfAndNothingIsKept) {
  constexpr std::string_view kHalf = "a string holds half of a surrogate pair";
  const std::string before = ids();
  EXPECT_THAT(body_of("function () { __.createDocument(__.getSelfLink(), { id: 'n', authorId: 'a1' }); "
                      "__.response.setBody('😀'.substr(0, 1)); }"),
              testing::StartsWith(fmt::format("invalid_json: procedure 'p' leaves invalid JSON: {}", kHalf)));
  EXPECT_THAT(body_of("function () {\n __.createDocument(__.getSelfLink(), { id: 'n', authorId: 'a1', s: "
                      "'\\ud83d' }); }"),
              testing::HasSubstr(kHalf));
  EXPECT_EQ(body_of(R"(function () { __.response.setBody('\\ud83d 😀'); })"), R"("\\ud83d 😀")");
  EXPECT_EQ(ids(), before);
}

// A place in a script is none in the statement that calls it.
TEST_F(ScriptTest, AnErrorInAScriptHasNoPlaceInTheStatement) {
  constexpr std::string_view kThrow = "function () {\n\n\n  throw new Error('no');\n}";
  const auto fault_of = [&](const std::string& sql) {
    auto statement = database_->prepare(sql);
    if (!succeeds(statement)) return Error{};
    rows(*statement);
    return statement->error() ? *statement->error() : Error{};
  };
  EXPECT_TRUE(succeeds(shelf_->create_script(ScriptKind::procedure, "p", kThrow)));
  EXPECT_EQ(query(fmt::format("CREATE TRIGGER t PRE DELETE ON shelf AS $${}$$", kThrow)), "");
  const Error called = fault_of("EXECUTE p() ON shelf IN PARTITION 'a1'");
  EXPECT_THAT(called.message, testing::StartsWith("procedure 'p', line 4: no"));
  EXPECT_EQ(called.line, 0u);
  EXPECT_TRUE(succeeds(shelf_->create_script(
      ScriptKind::procedure, "deep",
      "function () { let v = 1; for (let i = 0; i < 200; ++i) v = [v]; __.response.setBody(v); }")));
  const Error deep = fault_of("EXECUTE deep() ON shelf IN PARTITION 'a1'");
  EXPECT_THAT(deep.message, testing::HasSubstr("nesting is deeper than 128 levels"));
  EXPECT_EQ(deep.line, 0u);
  const Error triggered = fault_of("DELETE FROM shelf s WHERE s.id = 'b1' PRE TRIGGER t");
  EXPECT_THAT(triggered.message, testing::StartsWith("trigger 't', line 4: no"));
  EXPECT_EQ(triggered.line, 0u);
}

TEST_F(ScriptTest, AFaultOfAScriptThatAStatementStoresHasItsPlaceThere) {
  const auto fault_of = [&](const std::string& sql) {
    Statement statement = std::move(database_->prepare(sql).value());
    EXPECT_THAT(rows(statement), testing::StartsWith("syntax: procedure 'q', line "));
    return statement.error() ? std::pair(statement.error()->line, statement.error()->column)
                             : std::pair(0u, 0u);
  };
  EXPECT_EQ(fault_of("CREATE PROCEDURE q ON shelf\nAS $$function () {\n  var = 1;\n}$$"), std::pair(3u, 7u));
  EXPECT_EQ(fault_of("CREATE PROCEDURE q ON shelf\nAS $js$ function () { var = 1; }$js$"),
            std::pair(2u, 27u));
}

TEST_F(ScriptTest, ScriptsSurviveReopeningAndGoWithTheirContainer) {
  const std::string path = file("scripts.quire");
  shelf_.reset();
  reopen(path);
  {
    Container container = make("c", "/k");
    EXPECT_TRUE(succeeds(
        container.create_script(ScriptKind::procedure, "one", "function () { __.response.setBody(1); }")));
    EXPECT_TRUE(fails_with(container.create_script(ScriptKind::procedure, "one", "function () {}"),
                           QUIRE_CONFLICT, "CREATE OR REPLACE"));
  }
  reopen(path);
  EXPECT_EQ(query("EXECUTE one() ON c IN PARTITION 'x'"), "1\n");
  const Container dropped = std::move(database_->container("c").value());
  EXPECT_EQ(query("DROP CONTAINER c"), "");
  EXPECT_TRUE(fails_with(dropped.scripts(), QUIRE_CONTAINER_NOT_FOUND));
  Container again = make("c", "/k");
  EXPECT_TRUE(fails_with(dropped.scripts(), QUIRE_CONTAINER_NOT_FOUND));
  EXPECT_EQ(again.scripts().value(), "[]");
}

// The first calls of a script are watched for the objects that it uses; those behind them find them made.
TEST_F(ScriptTest, ACallGivesTheSameHoweverManyWereBeforeIt) {
  EXPECT_EQ(query("CREATE PROCEDURE again ON shelf AS $$ function (n) {"
                  "  const seen = [];"
                  "  for (let i = 0; i < n; i++) __.upsertDocument(__.getSelfLink(),"
                  "    { id: 'x' + i, authorId: 'a1', [i % 2 ? 'odd' : 'even']: { a: i, b: [{ c: i }] } });"
                  "  __.queryDocuments(__.getSelfLink(), 'SELECT x.id, x.odd, x.even FROM x WHERE "
                  "IS_DEFINED(x.odd.a ?? x.even.a)',"
                  "    (error, rows) => __.response.setBody([n, rows.map((row) => { row.n = "
                  "Object.keys(row).join(); return row; })]));"
                  "} $$"),
            "");
  std::string rows = "]]\n";
  for (int n = 1; n <= 10; ++n) {
    const int i = n - 1;
    const std::string_view name = i % 2 != 0 ? "odd" : "even";
    rows.insert(rows.size() - 3,
                fmt::format(R"({}{{"id":"x{}","{}":{{"a":{},"b":[{{"c":{}}}]}},"n":"id,{}"}})",
                            i == 0 ? "" : ",", i, name, i, i, name));
    EXPECT_EQ(query(fmt::format("EXECUTE again({}) ON shelf IN PARTITION 'a1'", n)),
              fmt::format("[{},[{}", n, rows));
  }
}

// As JSON.parse makes its objects. It holds for calls whose image has learnt the forms of objects, too.
TEST_F(ScriptTest, ADocumentsMembersAreItsOwnWhateverObjectsInherit) {
  EXPECT_EQ(
      query("CREATE PROCEDURE own ON shelf AS $$ let set = 0;"
            "Object.defineProperty(Object.prototype, 'year', { set: () => { set++; }, configurable: true });"
            "function own() { __.queryDocuments(__.getSelfLink(), 'SELECT x.id, x.year FROM x',"
            "  (error, rows) => __.response.setBody([set, rows[1].year])); } $$"),
      "");
  for (int call = 0; call < 6; ++call)
    EXPECT_EQ(query("EXECUTE own() ON shelf IN PARTITION 'a1'"), "[0,2022]\n");
}

}  // namespace
}  // namespace quire::tests
