// What scripts written for the service count on beyond the names of its calls.
#include <fmt/format.h>

#include "tests/engine/api/script_fixture.h"

namespace quire::tests {
namespace {

TEST_F(ScriptTest, AnErrorTakesANumberBeforeItsMessage) {
  EXPECT_TRUE(fails_with(run("function () { throw new Error(409, 'the name is taken'); }"), QUIRE_CONFLICT,
                         "the name is taken"));
  EXPECT_EQ(
      body_of(R"(function () {
    class Own extends Error {}
    var seen = [new Error(404, 'gone'), Error(412, 'old'), new Own(400, 'bad'), new Error('text'), new Error(7), new Error()];
    var own = seen[2] instanceof Own && seen[2] instanceof Error && seen[0].constructor === Error;
    var kinds = new TypeError('t') instanceof Error && Object.prototype.toString.call(seen[0]);
    var cause = new Error(5, { cause: 6 });
    __.response.setBody([seen.map((e) => [e.number, e.message]), own, kinds, String(seen[0]), cause.message, cause.cause]);
  })"),
      R"([[[404,"gone"],[412,"old"],[400,"bad"],[null,"text"],[null,"7"],[null,""]],true,"[object Error]",)"
      R"("Error: gone","5",6])");
}

TEST_F(ScriptTest, AnErrorWithANumberTellsTheLineThatThrewIt) {
  const auto failed = run("function () {\n  throw new Error(400, 'no');\n}");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "procedure 'p', line 2: no\n    at <anonymous> (p:2:13)");
  const auto plain = run("function f() {\n  throw new Error('no');\n}");
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().message, "procedure 'p', line 2: no\n    at f (p:2:13)");
}

TEST_F(ScriptTest, AppendingJoinsTextUnlessTheBodyIsANumberOrNull) {
  const auto appended = [&](std::string_view calls) {
    return body_of("function () { var r = getContext().getResponse(); " + std::string(calls) + " }");
  };
  EXPECT_EQ(appended("r.setBody(null); r.appendBody('a'); r.appendBody('b');"), R"("ab")");
  EXPECT_EQ(appended("r.setBody(null); r.appendBody({ a: 1 });"), R"({"a":1})");
  EXPECT_EQ(appended("r.appendBody({ a: 1 });"), R"("[object Object]")");
  EXPECT_EQ(appended("r.appendBody(1); r.appendBody(2);"), R"("12")");
  EXPECT_EQ(appended("r.setBody(1); r.appendBody(2);"), "3");
  EXPECT_EQ(appended("r.appendBody('n'); r.appendBody(2); r.appendBody([3]);"), R"("n23")");
  EXPECT_EQ(appended("r.setBody([1]); r.appendBody({ a: 1 });"), R"("1[object Object]")");
}

TEST_F(ScriptTest, ValuesAreNamedAfterTheirCalls) {
  EXPECT_EQ(body_of("function () { __.response.setValue('Body', 'hello'); }"), R"("hello")");
  EXPECT_EQ(body_of("function () { for (var i = 0; i < 4; i++) __.response.appendValue('Body', i); }"),
            R"("0123")");
  EXPECT_EQ(body_of(R"(function () {
    var r = __.response, refused = [];
    function note(work) { try { work(); } catch (e) { refused.push(e.number); } }
    note(() => r.setValue('Test', 1));
    note(() => r.appendValue('Test', 1));
    note(() => r.setValue('MaxResourceQuota', 1));
    note(() => __.request.setValue('OperationType', 1));
    r.setBody('b');
    r.setBody([refused, r.getValue('Body'), r.getValue('Test') === undefined, r.getValue('Value') === undefined,
               r.getValue('MaxResourceQuota') === r.getMaxResourceQuota()]);
  })"),
            R"([[400,400,403,403],"b",true,true,true])");
}

TEST_F(ScriptTest, TheBodyIsTheValueThatWasSetWhateverTheScriptDoesToItAfterwards) {
  EXPECT_EQ(body_of(R"(function () {
    var r = getContext().getResponse(), seen = { ids: [] };
    r.setBody(seen);
    seen.ids.push(1);
    r.getBody().ids.push(2);
    r.getBody().same = r.getBody() === seen;
  })"),
            R"({"ids":[1,2],"same":true})");
  EXPECT_EQ(body_of("function () { __.response.setBody(1); __.response.setBody(undefined); }"), "null");
}

// The service's samples fill a response until it is full, and answer where to go on.
TEST_F(ScriptTest, AResponseThatIsFullIsAnErrorToCatch) {
  EXPECT_EQ(query("PRAGMA script_result = 1000"), "1000\n");
  EXPECT_EQ(body_of(R"(function () {
    var r = getContext().getResponse(), full = 0;
    r.setBody('');
    for (var i = 0; i < 2000 && !full; i++) {
      try { r.appendBody('0123456789'); } catch (e) { if (e.number !== ErrorCodes.RequestEntityTooLarge) throw e; full = i; }
    }
    r.setBody([full, r.getBody().length]);
  })"),
            "[100,1000]");
}

TEST_F(ScriptTest, ATextThatIsTooLongForTheResponseIsAnErrorToCatch) {
  EXPECT_EQ(query("PRAGMA script_result = 1000"), "1000\n");
  EXPECT_EQ(body_of(R"(function () {
    try { __.response.setBody('x'.repeat(1001)); } catch (e) { __.response.setBody(e.number); }
  })"),
            "413");
}

TEST_F(ScriptTest, ErrorCodesNamesTheNumbersOfErrors) {
  EXPECT_EQ(body_of("function () { ErrorCodes.NotFound = 1; __.response.setBody(ErrorCodes); }"),
            R"({"BadRequest":400,"Forbidden":403,"NotFound":404,"Conflict":409,"PreconditionFailed":412,)"
            R"("RequestEntityTooLarge":413,"RetryWith":449,"InternalServerError":500})");
  EXPECT_EQ(
      body_of(
          "const ErrorCodes = { NotFound: 7 }; function f() { __.response.setBody(ErrorCodes.NotFound); }"),
      "7");
}

TEST_F(ScriptTest, AParameterInBracketsIsAPath) {
  EXPECT_EQ(body_of(R"(function () {
    var seen = [], ask = (name) => __.queryDocuments(__.getSelfLink(), {
      query: 'SELECT VALUE d[@k] FROM d WHERE d.id = "n1" AND IS_DEFINED(d[@k])', parameters: [{ name: '@k', value: name }],
    }, (err, rows) => { if (err) throw err; seen.push(rows); __.response.setBody(seen); });
    __.createDocument(__.getSelfLink(), { id: 'n1', authorId: 'a1', x: 1, y: 2 });
    ['x', 'y', 'none', 7, 'x'].forEach(ask);
  })"),
            "[[1],[2],[],[],[1]]");
}

TEST_F(ScriptTest, ADocumentMayBeGivenAsItsText) {
  EXPECT_EQ(body_of(R"(function () {
    var ids = [], note = (err, doc) => { ids.push(err ? err.number : doc.id + doc.v); __.response.setBody(ids); };
    __.createDocument(__.getSelfLink(), '{"id":"t1","authorId":"a1","v":1}', note);
    __.upsertDocument(__.getSelfLink(), '{"id":"t1","authorId":"a1","v":2}', note);
    __.replaceDocument(__.getAltLink() + '/docs/t1', '{"id":"t1","authorId":"a1","v":3}', note);
    __.createDocument(__.getSelfLink(), '[', note);
    __.createDocument(__.getSelfLink(), '5', note);
  })"),
            R"(["t11","t12","t13",400,400])");
}

TEST_F(ScriptTest, AnUpsertThatCreatesSaysSo) {
  EXPECT_EQ(body_of(R"(function () {
    var seen = [], note = (err, doc, info) => { if (err) throw err; seen.push(doc.v, info.statusCode); __.response.setBody(seen); };
    __.upsertDocument(__.getSelfLink(), { id: 'n1', authorId: 'a1', v: 1 }, note);
    __.upsertDocument(__.getSelfLink(), { id: 'n1', authorId: 'a1', v: 2 }, note);
    __.upsertDocument(__.getSelfLink(), { id: 'n2', authorId: 'a1', v: 3 });
    __.upsertDocument(__.getSelfLink(), { id: 'n2', authorId: 'a1', v: 4 }, {}, note);
  })"),
            "[1,201,2,200,4,200]");
}

TEST_F(ScriptTest, AnIdThatIsNullOrEmptyIsMade) {
  EXPECT_EQ(body_of(R"(function () {
    var seen = [], note = (err, doc) => { seen.push(err ? err.number : doc.id.length); __.response.setBody(seen); };
    var empty = { id: '', authorId: 'a1' };
    __.createDocument(__.getSelfLink(), { id: null, authorId: 'a1' }, note);
    __.upsertDocument(__.getSelfLink(), empty, note);
    __.createDocument(__.getSelfLink(), '{"authorId":"a1"}', note);
    __.createDocument(__.getSelfLink(), empty, { disableAutomaticIdGeneration: true }, note);
    if (empty.id !== '') throw new Error('the document of the script was changed');
  })"),
            "[36,36,36,400]");
}

// A script that reads a document or makes it, and one that tries another name, look for the service's words.
TEST_F(ScriptTest, TheMessageOfAnErrorHoldsWhatTheServiceSays) {
  EXPECT_EQ(body_of(R"(function () {
    var link = __.getAltLink() + '/docs/', seen = [];
    var note = (err) => { seen.push(JSON.parse(err.message).Errors[0]); __.response.setBody(seen); };
    __.readDocument(link + 'missing', note);
    __.createDocument(__.getSelfLink(), { id: 'b1', authorId: 'a1' }, note);
    __.replaceDocument(link + 'b1', { id: 'b1', authorId: 'a1' }, { etag: '"stale"' }, note);
    __.createDocument(__.getSelfLink(), { id: 'big', authorId: 'a1', text: 'x'.repeat(3e6) }, note);
  })"),
            R"(["Resource Not Found","Resource with specified id or name already exists",)"
            R"("One of the specified pre-condition is not met","Request size is too large"])");
  EXPECT_EQ(body_of(R"(async function () {
    try {
      await __.readDocumentAsync(__.getAltLink() + '/docs/missing');
    } catch (err) {
      __.response.setBody([JSON.parse(err.message).Errors[1] === err.body, err.body]);
    }
  })"),
            R"([true,"partition [\"a1\"] of container 'shelf' has no item 'missing'"])");
}

TEST_F(ScriptTest, AnErrorThatIsLetPassIsToldInPlainWords) {
  constexpr std::string_view kPlain = "partition [\"a1\"] of container 'shelf' has no item 'missing'";
  const auto failed = [&](std::string_view callback) {
    const auto called =
        run("function () { __.readDocument(__.getAltLink() + '/docs/missing', function (err) { " +
            std::string(callback) + " }); }");
    return called ? std::string() : called.error().message;
  };
  EXPECT_THAT(failed("throw err;"), testing::StartsWith(fmt::format("procedure 'p', line 1: {}\n", kPlain)));
  EXPECT_THAT(failed("getContext().abort(err);"), testing::EndsWith(fmt::format("aborted: {}", kPlain)));
  EXPECT_THAT(failed("err.message = 'no author: ' + err.body; throw err;"),
              testing::StartsWith(fmt::format("procedure 'p', line 1: no author: {}\n", kPlain)));
}

TEST_F(ScriptTest, AnUpsertTakesAnEtag) {
  EXPECT_EQ(body_of(R"(function () {
    var seen = [], note = (err) => { seen.push(err ? err.number : 0); __.response.setBody(seen); };
    __.upsertDocument(__.getSelfLink(), { id: 'b1', authorId: 'a1' }, { etag: '"stale"' }, note);
    __.readDocument(__.getAltLink() + '/docs/b1', (err, doc) => {
      __.upsertDocument(__.getSelfLink(), doc, { etag: doc._etag }, note);
    });
  })"),
            "[412,0]");
}

TEST_F(ScriptTest, ACallbackGetsUndefinedWhereThereIsNoErrorAndOptionsInPlaceOfWhatWasDeleted) {
  EXPECT_EQ(body_of(R"(function () {
    __.deleteDocument(__.getAltLink() + '/docs/b1', {}, function (err, options, last) {
      __.response.setBody([err === undefined, options.statusCode, last.statusCode]);
    });
  })"),
            "[true,204,204]");
}

TEST_F(ScriptTest, AFilterKeepsWhatItsFunctionTakesForTrue) {
  EXPECT_EQ(
      body_of("function () { __.chain().filter((d) => d.title && d.title.length).pluck('id').value(); }"),
      R"(["b1","b2"])");
  EXPECT_EQ(body_of("function () { __.chain().filter((d) => d.title).filter((d) => d.year - "
                    "2022).pluck('id').value(); }"),
            R"(["b2"])");
}

TEST_F(ScriptTest, UnwindWithoutAResultGivesTheElements) {
  EXPECT_EQ(
      body_of("function () { __.unwind((d) => [d.id, [d.year]], {}, (e, r) => __.response.setBody(r)); }"),
      R"(["a1",[null],"b1",[2022],"b2",[2023]])");
}

TEST_F(ScriptTest, APageSizeOfNothingIsTheUsualOne) {
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(succeeds(shelf_->create(R"({"id":"n)" + std::to_string(i) + R"(","authorId":"a1"})")));
  for (const char* size : {"null", "0", "undefined", "''"}) {
    const std::string read =
        "function () { __.readDocuments(__.getSelfLink(), { pageSize: " + std::string(size) +
        " }, (e, r) => __.response.setBody(r.length)); }";
    EXPECT_EQ(body_of(read), "100") << size;
  }
}

TEST_F(ScriptTest, TheServicesConsoleHasErrorWarningAndInfo) {
  EXPECT_EQ(body_of("function () { console.error('e'); console.warning('w', 1); console.info('i'); }"),
            "null");
  EXPECT_EQ(log_, "e\nw 1\ni\n");
}

TEST_F(ScriptTest, ALogFillsItsMarks) {
  EXPECT_EQ(body_of("function () { console.log('%s is %d%% of %s', 'a', 50, {}); console.log('50%', '%s'); "
                    "console.log('%s'); console.log('%s %s', 1); console.log('a', '%s', 2); }"),
            "null");
  EXPECT_EQ(log_, "a is 50% of {}\n50% %s\n%s\n1 %s\na %s 2\n");
}

// `options.etag || ''` is how the service reads its options.
TEST_F(ScriptTest, AnOptionThatIsNullOrFalseIsNone) {
  for (const char* nothing : {"null", "false", "0", "''", "undefined"}) {
    const std::string options = fmt::format(
        "{{ etag: {0}, ifNoneMatch: {0}, indexAction: {0}, continuation: {0}, pageSize: {0} }}", nothing);
    EXPECT_EQ(body_of(fmt::format(
                  "function () {{ const options = {};"
                  "__.readDocuments(__.getSelfLink(), options, (e, all) => {{ if (e) throw e;"
                  "__.replaceDocument(all[0]._self, all[0], options, (e, item) => {{ if (e) throw e;"
                  "__.filter(() => true, options, (e, all) => {{ if (e) throw e;"
                  "__.deleteDocument(item._self, options, (e) => {{ if (e) throw e;"
                  "__.upsertDocument(__.getSelfLink(), item, options, (e) => {{ if (e) throw e;"
                  "__.response.setBody(all.length); }}) }}) }}) }}) }}) }}",
                  options)),
              "3")
        << nothing;
  }
}

TEST_F(ScriptTest, TheCollectionMayStandBeforeTheFunctionOfAStage) {
  for (const char* before : {"", "__, ", "undefined, "})
    EXPECT_EQ(
        body_of(fmt::format(
            "function () {{ __.filter({}(d) => d.year === 2022, (e, r) => __.response.setBody(r.length)); }}",
            before)),
        "1")
        << before;
}

}  // namespace
}  // namespace quire::tests
