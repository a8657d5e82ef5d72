// Scripts that go too far: each ends with an error of its own, nothing of it remains, and the next request is
// answered.
#include <fmt/format.h>
#include <ucontext.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/api/script_fixture.h"

namespace quire::tests {
namespace {

class ScriptLimitTest : public ScriptTest {
 protected:
  ScriptLimitTest() { set("script_time", "200"); }

  // Runs a body behind a write, so that there is something to undo.
  void expect_breach(std::string_view body, int code, std::string_view part = {}) {
    const std::string before = ids();
    const auto failed =
        run("function () { __.deleteDocument(__.getAltLink() + '/docs/b1'); " + std::string(body) + " }");
    EXPECT_TRUE(fails_with(failed, code, part)) << body;
    EXPECT_EQ(ids(), before) << body;
    EXPECT_EQ(body_of("function () { __.response.setBody([1, 2].map((x) => x + 1)); }"), "[2,3]") << body;
  }
};

TEST_F(ScriptLimitTest, Time) {
  for (const char* body :
       {"for (;;) {}", "for (;;) { try { for (;;) {} } catch (e) {} finally { for (;;) {} } }",
        "/(a+)+$/.test('a'.repeat(40) + '!');", "(async () => { for (;;) await null; })();",
        "__.readDocument(__.getAltLink() + '/docs/a1', function () { for (;;) {} });",
        "Object.defineProperty({}, 'x', { get() { for (;;) {} } }).x;",
        "__.response.setBody({ toJSON() { for (;;) {} } });",
        "throw { toString() { for (;;) {} }, toJSON() { for (;;) {} } };",
        "throw Object.defineProperty(new Error(), 'stack', { get() { for (;;) {} } });",
        "'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b');",
        "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);"})
    expect_breach(body, QUIRE_TIMEOUT, "longer than the 200 ms");
}

// Of a statement, which ends all that it runs.
TEST_F(ScriptLimitTest, TheTimeOfAStatementBoundsItsScripts) {
  constexpr std::string_view kForever = "$$function () { for (;;) {} }$$";
  set("script_time", "60000");
  EXPECT_EQ(query(fmt::format("CREATE PROCEDURE spin ON shelf AS $${}$$", R"(function () {
    __.deleteDocument(__.getAltLink() + '/docs/b1');
    for (;;) {}
  })")),
            "");
  EXPECT_EQ(query(fmt::format("CREATE PROCEDURE ask ON shelf AS $${}$$", R"(function () {
    const list = Array.from({ length: 500 }, (_, i) => i);
    __.queryDocuments(__.getSelfLink(), { query: 'SELECT VALUE COUNT(1) FROM s JOIN a IN (SELECT VALUE @l) JOIN b IN ' +
      '(SELECT VALUE @l) JOIN c IN (SELECT VALUE @l) WHERE a + b + c < 0', parameters: [{ name: '@l', value: list }] });
  })")),
            "");
  EXPECT_EQ(query(fmt::format("CREATE FUNCTION spin ON shelf AS {}", kForever)), "");
  EXPECT_EQ(query(fmt::format("CREATE TRIGGER spin PRE DELETE ON shelf AS {}", kForever)), "");
  EXPECT_EQ(query("CREATE PROCEDURE quick ON shelf AS $$function () { __.response.setBody(1); }$$"), "");
  const std::string before = ids();
  set("statement_time", "50");
  const auto start = std::chrono::steady_clock::now();
  for (const std::string_view late :
       {"EXECUTE spin() ON shelf IN PARTITION 'a1'", "EXECUTE ask() ON shelf IN PARTITION 'a1'",
        "SELECT VALUE udf.spin() FROM shelf", "SELECT VALUE udf.spin() FROM shelf",
        "DELETE FROM shelf s WHERE s.id = 'b1' PRE TRIGGER spin",
        "CREATE PROCEDURE loads ON shelf AS $$for (;;) {}\nfunction loads() {}$$"})
    EXPECT_THAT(query(late), testing::AllOf(testing::StartsWith("timeout"),
                                            testing::HasSubstr("50 ms of PRAGMA statement_time")))
        << late;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  set("statement_time", "20000");
  EXPECT_EQ(ids(), before);
  EXPECT_EQ(query("EXECUTE quick() ON shelf IN PARTITION 'a1'"), "1\n");
  set("script_time", "50");
  EXPECT_THAT(query("EXECUTE spin() ON shelf IN PARTITION 'a1'"), testing::HasSubstr("50 ms that a script"));
}

// A statement that is run again has its time again.
TEST_F(ScriptLimitTest, AFunctionOfAStatementThatRunsAgainHasTheTimeOfThatRun) {
  EXPECT_EQ(query("CREATE FUNCTION one ON shelf AS $$function () { return 1; }$$"), "");
  set("statement_time", "500");
  auto statement = database_->prepare("SELECT VALUE udf.one() FROM shelf s WHERE s.id = 'b1'");
  ASSERT_TRUE(succeeds(statement));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(rows(*statement), "1\n");
    statement->reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
  }
}

TEST_F(ScriptLimitTest, TheConditionOfAPatchHasTheTimeOfItsScript) {
  const std::string before = query("SELECT * FROM shelf");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(fails_with(run(R"(function () {
    const list = '(SELECT VALUE [' + Array.from({ length: 500 }, (_, i) => i) + '])';
    const condition = `FROM s JOIN a IN ${list} JOIN b IN ${list} JOIN c IN ${list} JOIN d IN ${list} WHERE a + b + c + d < 0`;
    try {
      __.patchDocument(__.getAltLink() + '/docs/b1', { condition, operations: [{ op: 'set', path: '/x', value: 1 }] });
    } catch (error) {}
    for (;;) {}
  })"),
                         QUIRE_TIMEOUT));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(query("SELECT * FROM shelf"), before);
}

TEST_F(ScriptLimitTest, TransactionSizeWhateverTheScriptMakesOfIt) {
  set("transaction_size", "20000");
  const std::string large = "{id: 'large', authorId: 'a1', text: 'x'.repeat(30000)}";
  const std::vector<std::string> bodies = {
      "__.createDocument(__.getSelfLink(), " + large + ");",
      "try { __.createDocument(__.getSelfLink(), " + large + "); } catch (e) {}",
      "__.createDocument(__.getSelfLink(), " + large + ", (err) => {});"};
  for (const std::string& body : bodies)
    expect_breach(body, QUIRE_TRANSACTION_TOO_LARGE, "more than the 20000 bytes of PRAGMA transaction_size");
}

TEST_F(ScriptLimitTest, Memory) {
  set("script_time", "300000");
  set("script_memory", "16777216");
  for (const char* body :
       {"var a = []; for (;;) a.push(new Array(1e5).fill(1));",
        "var s = 'xxxxxxxxxxxxxxxx'; for (;;) s += s + JSON.stringify(s);",
        "var b = []; for (;;) b.push(new ArrayBuffer(1 << 20));",
        "var m = new Map(), i = 0; for (;;) m.set(i++, { i });",
        "var a = [], i = 0; for (;;) a.push({ a: i++, b: 'k' + i });",
        "for (;;) { try { var a = []; for (;;) a.push(new Array(1e5).fill(1)); } catch (e) {} }"})
    expect_breach(body, QUIRE_LIMIT_EXCEEDED, "16777216 bytes of memory");
}

TEST_F(ScriptLimitTest, PagesThatFailLeaveNoRowsBehind) {
  set("script_time", "300000");
  set("script_memory", "16777216");
  EXPECT_EQ(body_of(R"js(function () {
      var c = getContext().getCollection(), failed = 0;
      var sql = "SELECT VALUE [REPLICATE('x', 10000), 1 / (2023 - s.year)] FROM s WHERE IS_DEFINED(s.year)";
      (function again() {
        c.queryDocuments(c.getSelfLink(), sql, function (error) {
          if (error && ++failed < 3000) again(); else __.response.setBody(failed);
        });
      })();
    })js"),
            "3000");
}

TEST_F(ScriptLimitTest, Stack) {
  set("script_time", "5000");
  expect_breach("(function f() { f(); })();", QUIRE_LIMIT_EXCEEDED, "Maximum call stack");
  expect_breach("(function f() { [1].map(f); })();", QUIRE_LIMIT_EXCEEDED, "Maximum call stack");
  EXPECT_EQ(body_of("function () { var n = 0; try { (function f() { n++; f(); })(); } catch (e) {} "
                    "__.response.setBody(n > 100); }"),
            "true");
  EXPECT_FALSE(run("function () { JSON.parse('['.repeat(200000)); }"));
  EXPECT_FALSE(run("function () { eval('('.repeat(200000)); }"));
}

// Of a stack that is not the thread's nobody tells where it ends.
TEST_F(ScriptLimitTest, StackOfAFiber) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers have to be told of a change of stacks";
#endif
  constexpr size_t kStack = size_t{320} << 10;
  set("script_time", "5000");
  std::function<void()> work = [&] {
    EXPECT_TRUE(fails_with(run("function () { (function f() { f(); })(); }"), QUIRE_LIMIT_EXCEEDED,
                           "used up its stack"));
    EXPECT_EQ(body_of("function () { __.response.setBody([1, 2].map((x) => x + 1)); }"), "[2,3]");
  };
  const auto stack = std::make_unique<char[]>(kStack);
  ucontext_t thread, fiber;
  ASSERT_EQ(getcontext(&fiber), 0);
  fiber.uc_stack.ss_sp = stack.get();
  fiber.uc_stack.ss_size = kStack;
  fiber.uc_link = &thread;
  static std::function<void()>* of_fiber;
  of_fiber = &work;
  makecontext(&fiber, [] { (*of_fiber)(); }, 0);
  ASSERT_EQ(swapcontext(&thread, &fiber), 0);
}

TEST_F(ScriptLimitTest, OperationsAreNotAcceptedWhenTheyAreUsedUp) {
  set("script_time", "5000");
  set("script_operations", "10");
  EXPECT_EQ(body_of(R"(function () {
    var n = 0;
    while (__.createDocument(__.getSelfLink(), { authorId: 'a1' })) n++;
    __.response.setBody(n);
  })"),
            "10");
  // With a callback, with options, and of what is there likewise.
  for (const std::string_view call :
       {"__.createDocument(__.getSelfLink(), { authorId: 'a1' }, function () {})",
        "__.createDocument(__.getSelfLink(), { id: 'n' + n, authorId: 'a1' })",
        "__.upsertDocument(__.getSelfLink(), { id: 'n', authorId: 'a1', n: n })",
        "__.replaceDocument(__.getAltLink() + '/docs/a1', { id: 'a1', authorId: 'a1', n: n })",
        "__.patchDocument(__.getAltLink() + '/docs/a1', [{ op: 'set', path: '/n', value: n }])",
        "__.patchDocument(__.getAltLink() + '/docs/a1', [{ op: 'set', path: '/n', value: n }], {})"})
    EXPECT_EQ(
        body_of(fmt::format("function () {{ var n = 0; while ({}) n++; __.response.setBody(n); }}", call)),
        "10")
        << call;
  EXPECT_TRUE(fails_with(run("async function () { for (;;) await __.createDocumentAsync(__.getSelfLink(), { "
                             "authorId: 'a1' }); }"),
                         QUIRE_SCRIPT_FAILED, "not accepted"));
  expect_breach("for (;;) __.createDocument(__.getSelfLink(), { authorId: 'a1' });", QUIRE_LIMIT_EXCEEDED,
                "10 operations");
}

TEST_F(ScriptLimitTest, CallsAreNotAcceptedWhenTheTimeIsShort) {
  set("script_time", "500");
  EXPECT_EQ(body_of(R"(function () {
    var begin = Date.now(), n = 0;
    while (__.readDocument(__.getAltLink() + '/docs/a1')) n++;
    __.response.setBody([n > 0, Date.now() === begin]);
  })"),
            "[true,true]");
}

TEST_F(ScriptLimitTest, Results) {
  set("script_result", "1000");
  expect_breach("__.response.setBody(['x'.repeat(2000)]);", QUIRE_LIMIT_EXCEEDED, "1000 bytes");
  expect_breach("__.response.setBody('x'.repeat(2000));", QUIRE_TOO_LARGE, "1000 bytes");
  EXPECT_EQ(body_of("function () { __.response.setBody('x'.repeat(990)); }").size(), 992u);
}

TEST_F(ScriptLimitTest, AResponseThatNestsTooDeeplyIsToldOfAndNothingIsKept) {
  constexpr std::string_view kDeep =
      "function (depth) {{ __.createDocument(__.getSelfLink(), {{ id: 'n', authorId: 'a1' }}); "
      "let v = 1; while (depth-- > 0) v = {}; __.response.setBody(v); }}";
  const std::string before = ids();
  for (const std::string_view wrap : {"[v]", "({ v })"}) {
    const std::string body = fmt::format(kDeep, wrap);
    EXPECT_THAT(body_of(body, "[129]"),
                testing::AllOf(testing::StartsWith("invalid_json: procedure 'p' leaves invalid JSON"),
                               testing::HasSubstr("nesting is deeper than 128 levels")));
    EXPECT_THAT(query("EXECUTE p(129) ON shelf IN PARTITION 'a1'"), testing::StartsWith("invalid_json"));
    EXPECT_EQ(ids(), before);
  }
  EXPECT_EQ(body_of(fmt::format(kDeep, "[v]"), "[128]").size(), 2 * 128 + 1);
  EXPECT_NE(ids(), before);
  EXPECT_EQ(
      body_of("function () { __.response.setBody([...'[[[{'.repeat(100), ...Array(200).fill([])].length); }"),
      "600");
}

TEST_F(ScriptLimitTest, TheLogIsCut) {
  set("script_time", "60000");
  const auto result = run("function () { for (var i = 0; i < 5000; i++) console.log('x'.repeat(100)); }");
  ASSERT_TRUE(succeeds(result));
  EXPECT_LT(result->log.size(), size_t{80} << 10);
}

TEST_F(ScriptLimitTest, OfALineThatIsTooLongTheLogHasTheBeginning) {
  const auto result = run("function () { console.log('é'.repeat(50000)); console.log('more'); }");
  ASSERT_TRUE(succeeds(result));
  EXPECT_TRUE(result->log.starts_with("éé"));
  EXPECT_TRUE(result->log.ends_with("é...\n"));
  EXPECT_EQ(result->log.size(), (size_t{64} << 10) + 4);
  EXPECT_EQ(run("function () { console.log('xé'.padEnd(65536, 'é')); }")->log.size(), (size_t{64} << 10) + 3);
}

TEST_F(ScriptLimitTest, GettersAndToJsonThatThrowAreExceptions) {
  expect_breach("__.response.setBody({ toJSON() { throw new Error('mine'); } });", QUIRE_SCRIPT_FAILED,
                "mine");
  expect_breach(
      "__.createDocument(__.getSelfLink(), { id: 'x', authorId: 'a1', get y() { throw new Error('mine'); } "
      "});",
      QUIRE_SCRIPT_FAILED, "mine");
  expect_breach("var o = {}; o.o = o; __.response.setBody(o);", QUIRE_SCRIPT_FAILED, "circular");
}

TEST_F(ScriptLimitTest, NoRunSeesAnother) {
  set("script_time", "5000");
  EXPECT_EQ(body_of("var count = 0;\nfunction p() { count++; globalThis.left = 1; Array.prototype.map = "
                    "Object.prototype.x = JSON.stringify = () => 7; __.response.setBody(count); }"),
            "1");
  EXPECT_EQ(shelf_->execute("p", "a1")->body, "1");
  EXPECT_EQ(body_of("function () { __.response.setBody([typeof left, typeof count, [1].map((x) => x), {}.x "
                    "=== undefined]); }"),
            R"(["undefined","undefined",[1],true])");
  EXPECT_EQ(body_of("var count = 0;\nfunction p() { count++; __.response.setBody(count); }"), "1");
  EXPECT_EQ(shelf_->execute("p", "a1")->body, "1");
}

TEST_F(ScriptLimitTest, ThereIsNothingToReachTheWorldWith) {
  EXPECT_EQ(body_of(R"(function () {
    __.response.setBody(['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'require', 'process', 'fetch', 'setTimeout', 'performance', 'XMLHttpRequest']
      .filter((name) => typeof globalThis[name] !== 'undefined'));
  })"),
            "[]");
  EXPECT_TRUE(fails_with(run("async function () { await import('fs'); }"), QUIRE_SCRIPT_FAILED));
  EXPECT_EQ(body_of("function () { __.response.setBody(Math.random() !== Math.random()); }"), "true");
  const std::string first = body_of("function () { __.response.setBody(Math.random()); }");
  EXPECT_NE(first, body_of("function () { __.response.setBody(Math.random()); }"));
}

TEST_F(ScriptLimitTest, AnInterruptEndsAScript) {
  set("script_time", "20000");
  EXPECT_TRUE(succeeds(shelf_->create_script(ScriptKind::procedure, "p", "function () { for (;;) {} }")));
  std::thread interrupter([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    database_->interrupt();
  });
  EXPECT_TRUE(fails_with(shelf_->execute("p", "a1"), QUIRE_INTERRUPTED));
  interrupter.join();
}

TEST_F(ScriptLimitTest, PragmasSayWhatAScriptMayUse) {
  EXPECT_EQ(query("PRAGMA script_memory"), "67108864\n");
  EXPECT_THAT(query("PRAGMA script_memory = 5"), testing::HasSubstr("invalid_argument"));
  EXPECT_THAT(query("PRAGMA script_tim"), testing::HasSubstr("did you mean 'script_time'"));
}

}  // namespace
}  // namespace quire::tests
