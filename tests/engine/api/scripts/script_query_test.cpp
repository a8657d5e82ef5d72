// Queries and feeds of scripts: what they find, and that they end.
#include <fmt/format.h>

#include "tests/engine/api/script_fixture.h"

namespace quire::tests {
namespace {

// A script that responds with all rows of a query, which it reads two at a time.
std::string all_pages_of(std::string_view sql) {
  return fmt::format(R"(async function () {{
    let all = [], continuation;
    do {{
      const page = await __.queryDocumentsAsync(__.getSelfLink(), '{}', {{ pageSize: 2, continuation }});
      all.push(...page.feed);
      continuation = page.options.continuation;
    }} while (continuation !== undefined);
    __.response.setBody(all);
  }})",
                     sql);
}

// By whatever way a plan takes to them, only items of the partition.
TEST_F(ScriptTest, QueriesFindItemsByTheirIds) {
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(succeeds(shelf_->create(fmt::format(R"({{"id":"c{:03}","authorId":"a1","n":{}}})", i, i))));
  const auto ids = [&](std::string_view sql, std::string_view options = "{ pageSize: -1 }") {
    return body_of(fmt::format(R"(function () {{
      __.queryDocuments(__.getSelfLink(), {}, {}, (err, feed) => {{ if (err) throw err; __.response.setBody(feed); }});
    }})",
                               sql, options));
  };
  EXPECT_EQ(ids("'SELECT VALUE c.n FROM c WHERE c.id = \"c007\"'"), "[7]");
  EXPECT_EQ(
      ids("'SELECT VALUE c.n FROM c WHERE c.id IN (\"c299\", \"b1\", \"c007\", \"none\", \"c007\", 7)'"),
      "[7,299]");
  EXPECT_EQ(ids("'SELECT VALUE c.n FROM c WHERE c.id IN (\"c299\", \"c007\", \"c100\")'", "{ pageSize: 2 }"),
            "[7,100]");
  EXPECT_EQ(ids("'SELECT VALUE c.n FROM c WHERE c.id > \"c297\"'"), "[298,299]");
  EXPECT_EQ(ids("'SELECT VALUE c.n FROM c WHERE c.id = \"c007\" AND c.authorId = \"a1\"'"), "[7]");
  EXPECT_EQ(ids("'SELECT VALUE c.n FROM c WHERE c.id = \"c007\" AND c.authorId = \"a2\"'"), "[]");
  EXPECT_EQ(ids("'SELECT VALUE c.id FROM c WHERE c.id = \"a2\"'"), "[]");
  EXPECT_EQ(ids("'SELECT VALUE c.id FROM c WHERE c.authorId IN (\"a2\", \"a3\")'"), "[]");
  EXPECT_EQ(ids("'SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id DESC'"), R"(["c299","c298"])");
  ASSERT_TRUE(succeeds(shelf_->create(R"({"id":"c007","authorId":"a2","n":9})")));
  EXPECT_EQ(query("CREATE INDEX by_n ON shelf (n)"), "");
  for (const char* const options : {"{ pageSize: -1 }", "{ pageSize: 3 }"}) {
    EXPECT_EQ(ids("'SELECT VALUE c.n FROM c WHERE c.id = \"c007\" OR c.id = \"c001\"'", options), "[1,7]");
    EXPECT_EQ(ids("'SELECT VALUE c.n FROM c WHERE c.id = \"c007\" OR c.n = 9'", options), "[7,9]");
  }
}

TEST_F(ScriptTest, AQueryThatNamesNoContainerIsForTheCallback) {
  EXPECT_EQ(body_of(R"(function () {
    __.queryDocuments(__.getSelfLink(), 'SELECT VALUE 1 FROM x JOIN nowhere d ON d.id = x.id', (err) => {
      __.createDocument(__.getSelfLink(), { id: 'after', authorId: 'a1' });
      __.response.setBody([err.number, err.body.includes("'nowhere'")]);
    });
  })"),
            "[404,true]");
  EXPECT_THAT(ids(), testing::HasSubstr("after"));
  EXPECT_TRUE(fails_with(
      run("function () { __.queryDocuments(__.getSelfLink(), 'SELECT 1 FROM x JOIN nowhere d ON true'); }"),
      QUIRE_NOT_FOUND, "there is no container or alias 'nowhere'"));
}

TEST_F(ScriptTest, AnInterruptOfLongAgoEndsNoQuery) {
  database_->interrupt();
  EXPECT_EQ(body_of(R"(function () {
    __.queryDocuments(__.getSelfLink(), 'SELECT VALUE c.id FROM c WHERE c.year > 2022', (err, feed) => {
      if (err) throw err;
      __.response.setBody(feed);
    });
  })"),
            R"(["b2"])");
}

TEST_F(ScriptTest, AQueryEndsWithTheTimeOfItsScript) {
  set("script_time", "100");
  std::string list;
  for (int i = 0; i < 1000; ++i) list += fmt::format("{}{}", i == 0 ? "" : ",", i);
  ASSERT_TRUE(succeeds(shelf_->create(fmt::format(R"({{"id":"l","authorId":"a1","l":[{}]}})", list))));
  EXPECT_TRUE(fails_with(run(R"(function () {
    __.queryDocuments(__.getSelfLink(), 'SELECT VALUE COUNT(1) FROM c JOIN x IN c.l JOIN y IN c.l JOIN z IN c.l WHERE x + y + z < 0',
      (err, feed) => { if (err) throw err; });
  })"),
                         QUIRE_TIMEOUT));
}

// The plan of a query that comes again is kept, but not longer than what it rests on.
TEST_F(ScriptTest, AQueryThatComesAgainSeesWhatHasChanged) {
  constexpr std::string_view kBooks = R"(function (least, size) {
    var text = 'SELECT VALUE {id: c.id, n: udf.twice(c.year)} FROM c WHERE c.year >= @least';
    __.queryDocuments(__.getSelfLink(), { query: text, parameters: [{ name: '@least', value: least }] },
      { pageSize: size }, (err, feed) => { __.response.setBody(err ? err.message : feed); });
  })";
  const auto add = [&](std::string_view body) {
    ASSERT_TRUE(succeeds(shelf_->create_script(ScriptKind::function, "twice", body, {.replace = true})));
  };
  const auto books = [&](std::string_view arguments) {
    std::string body;
    for (int i = 0; i < 3; ++i) body = body_of(kBooks, arguments);
    return body;
  };
  add("function (x) { return 2 * x; }");
  EXPECT_EQ(books("[2022, -1]"), R"([{"id":"b1","n":4044},{"id":"b2","n":4046}])");
  EXPECT_EQ(books("[2023, -1]"), R"([{"id":"b2","n":4046}])");
  EXPECT_EQ(books("[2022, 1]"), R"([{"id":"b1","n":4044}])");
  add("function (x) { return 3 * x; }");
  EXPECT_EQ(books("[2023, -1]"), R"([{"id":"b2","n":6069}])");
  EXPECT_EQ(query("CREATE INDEX by_year ON shelf (year)"), "");
  EXPECT_EQ(books("[2023, -1]"), R"([{"id":"b2","n":6069}])");
  EXPECT_EQ(query("DROP INDEX by_year ON shelf"), "");
  EXPECT_EQ(books("[2022, -1]"), R"([{"id":"b1","n":6066},{"id":"b2","n":6069}])");
  EXPECT_EQ(query("DROP CONTAINER shelf"), "");
  shelf_ = make("shelf", "/authorId");
  add("function (x) { return x; }");
  ASSERT_TRUE(succeeds(shelf_->create(R"({"year":2024,"id":"b3","authorId":"a1"})")));
  EXPECT_EQ(books("[2022, -1]"), R"([{"id":"b3","n":2024}])");
}

TEST_F(ScriptTest, PagesGoOnBehindTheIdOfTheLast) {
  const std::string beginning(600, 'x');  // past what a key holds
  for (int i = 0; i < 7; ++i)
    ASSERT_TRUE(
        succeeds(shelf_->create(fmt::format(R"({{"id":"{}{}","authorId":"a1","n":{}}})", beginning, i, i))));
  EXPECT_EQ(body_of(all_pages_of("SELECT VALUE c.n FROM c WHERE IS_DEFINED(c.n)")), "[0,1,2,3,4,5,6]");
  std::string names;
  for (const int i : {6, 1, 3, 0, 5}) names += fmt::format("\"{}{}\", ", beginning, i);
  EXPECT_EQ(body_of(all_pages_of("SELECT VALUE c.n FROM c WHERE c.id IN (" + names + "\"b1\")")),
            "[0,1,3,5,6]");
}

TEST_F(ScriptTest, AFeedIsReadPageByPageWhileItsItemsAreDeleted) {
  for (int i = 0; i < 250; ++i)
    ASSERT_TRUE(
        succeeds(shelf_->create(R"({"authorId":"a1","type":"page","id":"n)" + std::to_string(i) + "\"}")));
  EXPECT_EQ(body_of(R"(function () {
    var c = __, sizes = [];
    (function next(continuation) {
      c.queryDocuments(c.getSelfLink(), 'SELECT * FROM c WHERE c.type = "page"', { continuation }, (err, feed, info) => {
        if (err) throw err;
        sizes.push(feed.length);
        feed.forEach((doc) => c.deleteDocument(doc._self));
        if (info.continuation) next(info.continuation); else getContext().getResponse().setBody(sizes);
      });
    })();
  })"),
            "[100,100,50]");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM shelf s WHERE s.type = 'page'"), "0\n");
}

// What rows tell of their items is not enough, or is not so: a link is followed to the item that has it.
TEST_F(ScriptTest, RowsLeadToTheirItemsByTheirLinksAlone) {
  constexpr std::string_view kDelete = R"(async function (query) {
    const follow = (row) => typeof row === 'string' ? row : row._self ?? row.c._self;
    const { feed } = await __.queryDocumentsAsync(__.getSelfLink(), query, { pageSize: -1 });
    const links = feed.map(follow), deleted = [];
    for (const link of links) {
      deleted.push((await __.readDocumentAsync(link)).id);
      await __.deleteDocumentAsync(link);
    }
    for (const id of deleted) await __.createDocumentAsync(__.getSelfLink(), { id, authorId: 'a1', type: 'page' });
    let found = 0;
    for (const link of links) try { await __.readDocumentAsync(link); ++found; } catch { }
    __.response.setBody([deleted, found]);
  })";
  for (const char id : {'m', 'k', 'n'})
    ASSERT_TRUE(succeeds(shelf_->create(fmt::format(R"({{"id":"{}","authorId":"a1","type":"page"}})", id))));
  for (const std::string_view columns :
       {"c._self", "c.id, c._self", "VALUE c._self", "c", "*", "'k' AS id, c._self",
        "'k' AS id, c._rid, c._self", "'x' AS _rid, c._self", "'' AS id, c._self"}) {
    for (const auto& [order, ids] :
         {std::pair{"", R"([["k","m","n"],0])"}, std::pair{" ORDER BY c.id DESC", R"([["n","m","k"],0])"}})
      EXPECT_EQ(
          body_of(kDelete, fmt::format(R"(["SELECT {} FROM c WHERE c.type = 'page'{}"])", columns, order)),
          ids)
          << columns;
  }
}

TEST_F(ScriptTest, APageOfAnyOtherQueryContinuesByCount) {
  EXPECT_EQ(body_of(R"(function () {
    var c = __, rows = [];
    (function next(continuation) {
      c.queryDocuments(c.getSelfLink(), { query: 'SELECT VALUE c.id FROM c WHERE c.type != @t ORDER BY c.id DESC', parameters: [{ name: '@t', value: 'none' }] },
        { pageSize: 2, continuation }, (err, feed, info) => {
          if (err) throw err;
          rows.push(feed);
          if (info.continuation) next(info.continuation); else getContext().getResponse().setBody(rows);
        });
    })();
  })"),
            R"([["b2","b1"],["a1"]])");
  EXPECT_TRUE(fails_with(
      run("function () { __.queryDocuments(__.getSelfLink(), 'SELECT * FROM c', { continuation: 'zzz' }) }"),
      QUIRE_SCRIPT_FAILED, "continuation"));
}

// The query stays open between pages, but only for the page behind the last one, and until something is
// written.
TEST_F(ScriptTest, APageOfAnyOrderIsTheSameHoweverItIsComeTo) {
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(succeeds(shelf_->create(
        fmt::format(R"({{"id":"p{}","authorId":"a1","type":"page","n":{}}})", i, 100 + i * 7 % 40))));
  constexpr std::string_view kPages = R"(async function (between) {
    const c = __, link = c.getSelfLink();
    const query = (least) => ({ query: 'SELECT VALUE c.n FROM c WHERE c.n >= @least ORDER BY c.n DESC', parameters: [{ name: 'least', value: least }] });
    const page = async (continuation, pageSize = 7, least = 110) => {
      const { feed, options } = await c.queryDocumentsAsync(link, query(least), { pageSize, continuation });
      return [feed, options.continuation];
    };
    const pages = [];
    let rows, continuation;
    do {
      [rows, continuation] = await page(continuation);
      pages.push(rows.length + ':' + rows[0]);
      if (continuation === undefined) break;
      if (between === 'again') pages.push((await page(continuation, 2))[0].join() === (await page(continuation))[0].slice(0, 2).join());
      if (between === 'another') pages.push((await page(continuation, 1, 130))[0].length);
      if (between === 'query') await c.queryDocumentsAsync(link, 'SELECT VALUE COUNT(1) FROM c', {});
      if (between === 'write') await c.patchDocumentAsync(c.getAltLink() + '/docs/p0', [{ op: 'set', path: '/n', value: 500 }]);
    } while (true);
    c.response.setBody(pages);
  })";
  const auto pages = [&](std::string_view between) {
    return body_of(kPages, fmt::format(R"(["{}"])", between));
  };
  const std::string plain = R"(["7:139","7:132","7:125","7:118","2:111"])";
  EXPECT_EQ(pages(""), plain);
  EXPECT_EQ(pages("query"), plain);
  EXPECT_EQ(pages("again"), R"(["7:139",true,"7:132",true,"7:125",true,"7:118",true,"2:111"])");
  EXPECT_EQ(pages("another"), R"(["7:139",1,"7:132",0,"7:125",0,"7:118",0,"2:111"])");
  // One more row that comes first.
  EXPECT_EQ(pages("write"), R"(["7:139","7:133","7:126","7:119","3:112"])");
}

// As where what comes before was deleted since.
TEST_F(ScriptTest, APageBehindTheLastRowHasNoneAndCostsWhatItReads) {
  EXPECT_EQ(body_of(R"(function () {
    __.queryDocuments(__.getSelfLink(), 'SELECT VALUE c.id FROM c ORDER BY c.id', { pageSize: 2, continuation: 'n:1000' },
      (error, feed, info) => { if (error) throw error; __.response.setBody([feed, info.continuation === undefined]); });
  })"),
            "[[],true]");
  EXPECT_LT(request_charge(), 50);
}

// Whose scan is another one than that which pages go on in.
TEST_F(ScriptTest, ASubqueryOverTheItemsSeesAllOfThemFromEachPage) {
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(succeeds(shelf_->create(
        fmt::format(R"({{"id":"c{}","authorId":"a1","n":{},"after":"c{}"}})", i, i, (i + 5) % 10))));
  EXPECT_EQ(body_of(all_pages_of("SELECT VALUE c.n FROM c WHERE EXISTS(SELECT 1 FROM (SELECT 1 AS one) s "
                                 "JOIN shelf d ON d.after = c.id AND d.n != 7)")),
            "[0,1,3,4,5,6,7,8,9]");
  EXPECT_EQ(body_of(all_pages_of(
                "SELECT VALUE c.n FROM c WHERE c.n * 2 < (SELECT VALUE COUNT(1) FROM (SELECT 1 AS one) s "
                "JOIN shelf d ON IS_DEFINED(d.n))")),
            "[0,1,2,3,4]");
}

TEST_F(ScriptTest, TheIntegratedQueryWorksOnThePartition) {
  EXPECT_EQ(body_of("function () { __.filter((d) => d.type === 'book', (err, feed) => "
                    "getContext().getResponse().setBody(feed.map((d) => d.id))); }"),
            R"(["b1","b2"])");
  EXPECT_EQ(body_of("function () { __.chain().filter((d) => d.type === 'book').sortByDescending((d) => "
                    "d.year).pluck('title').value(); }"),
            R"(["Maps","Tides"])");
  EXPECT_EQ(body_of("function () { __.chain().map((d) => [d.id, [d.type]]).flatten().value({ pageSize: 3 }, "
                    "(err, feed, info) => getContext().getResponse().setBody([feed, info.continuation])); }"),
            R"([["a1","author","b1"],"3"])");
  EXPECT_EQ(body_of("function () { if (!__.unwind((d) => [1, 2], (d, n) => d.id + n, { pageSize: 2 "
                    "}).isAccepted) throw 1; }"),
            R"(["a11","a12"])");
  EXPECT_EQ(
      body_of("function () { __.filter((d) => d.a.b(), (e, feed) => __.response.setBody([e.name, feed === "
              "undefined])); }"),
      R"(["TypeError",true])");
  EXPECT_TRUE(
      fails_with(run("function () { __.filter((d) => d.a.b()); }"), QUIRE_SCRIPT_FAILED, "TypeError"));
  EXPECT_TRUE(fails_with(run("function () { __.chain().filter((d) => true, (e, feed) => {}).value(); }"),
                         QUIRE_SCRIPT_FAILED, "belong to value(), not to filter()"));
  EXPECT_TRUE(
      fails_with(run("function () { __.filter(3) }"), QUIRE_SCRIPT_FAILED, "filter() takes a function"));
}

TEST_F(ScriptTest, TheIntegratedQueryIsReadPageByPageWhileItsItemsAreDeleted) {
  for (int i = 0; i < 250; ++i)
    ASSERT_TRUE(succeeds(shelf_->create(fmt::format(R"({{"authorId":"a1","id":"n{}","n":{}}})", i, i))));
  const auto remove = [&](std::string_view chain, int size) {
    return body_of(fmt::format(R"(function () {{
      var c = __, sizes = [];
      (function next(continuation) {{
        c.chain(){}.value({{ continuation, pageSize: {} }}, (err, links, info) => {{
          sizes.push(links.length);
          links.forEach((link) => c.deleteDocument(link));
          if (info.continuation) next(info.continuation); else __.response.setBody(sizes);
        }});
      }})();
    }})",
                               chain, size));
  };
  EXPECT_EQ(remove(".filter((d) => d.n < 60).map((d) => d._self)", 25), "[25,25,10]");
  EXPECT_EQ(remove(".filter((d) => d.n >= 60 && d.n < 90).pluck('_self')", 30), "[30]");
  EXPECT_EQ(remove(".filter((d) => d.n >= 0).pluck('_self')", 100), "[100,60]");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM shelf s WHERE IS_DEFINED(s.n)"), "0\n");
  EXPECT_TRUE(
      fails_with(run("function () { __.filter((d) => true, { continuation: 'zzz' }, (e) => { throw e; }) }"),
                 QUIRE_SCRIPT_FAILED, "the continuation is none that a query gave"));
}

// Of the partition's ten megabytes the script never holds more than a page.
TEST_F(ScriptTest, TheIntegratedQueryStreams) {
  EXPECT_EQ(query("INSERT INTO shelf SELECT VALUE {id: CONCAT('n', TOSTRING(a * 100 + b)), authorId: 'a1', "
                  "type: 'note', "
                  "n: a * 100 + b, text: REPLICATE('x', 5000)} FROM a IN (SELECT VALUE [0, 1, 2, 3, 4, 5, 6, "
                  "7, 8, 9, "
                  "10, 11, 12, 13, 14, 15, 16, 17, 18, 19]) JOIN b IN (SELECT VALUE ARRAY(SELECT VALUE x * "
                  "10 + y FROM x "
                  "IN (SELECT VALUE [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) JOIN y IN (SELECT VALUE [0, 1, 2, 3, 4, "
                  "5, 6, 7, 8, "
                  "9])))"),
            "");
  set("script_memory", "5000000");
  EXPECT_EQ(
      body_of(
          "function () { __.filter((d) => d.n % 500 === 7, (e, found) => getContext().getResponse().setBody("
          "found.map((d) => d.n).sort((a, b) => a - b))); }"),
      "[7,507,1007,1507]");
  const double all = request_charge();
  EXPECT_EQ(
      body_of("function () { __.chain().filter((d) => d.type === 'note').pluck('n').sortByDescending((n) => "
              "n).value({ pageSize: 2 }); }"),
      "[1999,1998]");
  EXPECT_EQ(body_of("function () { __.filter((d) => d.type === 'note', { pageSize: 1 }, (e, found, o) => "
                    "getContext().getResponse().setBody([found.length, o.continuation])); }"),
            R"([1,"i:n0"])");
  EXPECT_LT(request_charge() * 5, all) << "it reads no further than it has to";
  EXPECT_EQ(body_of("function () { __.chain().filter((d) => d.n < 2).pluck('missing').map((x) => x === "
                    "undefined ? 'none' : x).value(); }"),
            R"(["none","none"])");
  EXPECT_EQ(body_of("function () { __.chain().filter((d) => d.n < 2).pluck('missing').value(); }"), "[]");
}

}  // namespace
}  // namespace quire::tests
