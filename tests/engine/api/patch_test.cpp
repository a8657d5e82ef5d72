// Patch through the public API and as SQL: what each operation does, and what it refuses.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;

class PatchTest : public DatabaseTest {
 protected:
  PatchTest() {
    EXPECT_TRUE(succeeds(shelf_.create(
        R"({"id":"b","author":"le guin","stock":3,"tags":["x","y"],"deep":{"a/b":{"m~n":[1,{"k":2}]}}})")));
  }

  // The item's members beyond id and author after the operations, or the error.
  std::string patched(std::string_view operations, const WriteOptions& options = {}) {
    const auto result = shelf_.patch("le guin", "b", operations, options);
    if (!result) return std::string(result.error().name()) + ": " + result.error().message;
    const std::string json = shelf_.read_json("le guin", "b", false).value();
    constexpr std::string_view kStart = R"({"id":"b","author":"le guin",)";
    EXPECT_TRUE(json.starts_with(kStart));
    return json.substr(kStart.size());
  }

  Container shelf_ = make("shelf", "/author");
  const std::string before_ = R"("stock":3,"tags":["x","y"],"deep":{"a/b":{"m~n":[1,{"k":2}]}}})";
};

TEST_F(PatchTest, AnItemThatWouldNestTooDeeplyIsNoDocument) {
  const std::string value = std::string(120, '[') + std::string(120, ']');
  const auto add = [&](std::string_view path) {
    return patched(fmt::format(R"([{{"op":"add","path":"{}","value":{}}}])", path, value));
  };
  EXPECT_THAT(add("/deep/a~1b/m~0n/1/k"), HasSubstr("[[[["));
  EXPECT_THAT(patched(R"([{"op":"set","path":"/deep/a~1b/m~0n/1/k","value":[[[[[[[[[[1]]]]]]]]]]}])"),
              HasSubstr(R"("k":[[[[[[[[[[1]])"));
  EXPECT_THAT(add("/deep/a~1b/m~0n/1/k/0/0/0/0/0"), testing::StartsWith("invalid_json: "));
}

TEST_F(PatchTest, AScalarThatMakesTheItemTooLongIsRefused) {
  const auto set = [&](size_t bytes) {
    return patched(fmt::format(R"([{{"op":"set","path":"/stock","value":"{}"}}])", std::string(bytes, 'x')));
  };
  EXPECT_THAT(set(size_t{2} << 20), testing::StartsWith("too_large: item 'b' has "));
  EXPECT_EQ(patched(R"([{"op":"incr","path":"/stock","value":0}])"), before_);
  EXPECT_THAT(set(size_t{1} << 20), testing::StartsWith(R"("stock":"xxx)"));
  EXPECT_EQ(patched(R"([{"op":"set","path":"/stock","value":3}])"), before_);
}

TEST_F(PatchTest, NobodyIsReplacedByAPatchOrADelete) {
  const WriteOptions other{.replaced_id = "other"};
  EXPECT_TRUE(fails_with(shelf_.patch("le guin", "b", R"([{"op":"incr","path":"/stock","value":1}])", other),
                         QUIRE_INVALID_ARGUMENT, "replaced_id"));
  EXPECT_TRUE(fails_with(shelf_.remove("le guin", "b", other), QUIRE_INVALID_ARGUMENT, "replaced_id"));
  EXPECT_TRUE(succeeds(shelf_.read_json("le guin", "b", false)));
}

TEST_F(PatchTest, AddCreatesOverwritesAndInserts) {
  EXPECT_EQ(
      patched(R"([{"op":"add","path":"/new","value":{"a":[]}},{"op":"add","path":"/stock","value":null},
                        {"op":"add","path":"/tags/1","value":"in"},{"op":"add","path":"/tags/-","value":"z"},
                        {"op":"add","path":"/tags/4","value":"end"},{"op":"add","path":"/new/a/0","value":1}])"),
      R"("stock":null,"tags":["x","in","y","z","end"],"deep":{"a/b":{"m~n":[1,{"k":2}]}},"new":{"a":[1]}})");
  EXPECT_THAT(patched(R"([{"op":"add","path":"/tags/9","value":1}])"), HasSubstr("past its end"));
  EXPECT_THAT(patched(R"([{"op":"add","path":"/no/where","value":1}])"), HasSubstr("nothing at /no"));
  EXPECT_THAT(patched(R"([{"op":"add","path":"/stock/n","value":1}])"), HasSubstr("neither an object"));
}

TEST_F(PatchTest, SetOverwritesElements) {
  EXPECT_EQ(patched(R"([{"op":"set","path":"/tags/0","value":"w"},{"op":"set","path":"/tags/2","value":"z"},
                        {"op":"set","path":"/tags/-","value":"!"},{"op":"set","path":"/ttl","value":5}])"),
            R"("stock":3,"tags":["w","y","z","!"],"deep":{"a/b":{"m~n":[1,{"k":2}]}},"ttl":5})");
  EXPECT_THAT(patched(R"([{"op":"set","path":"/tags/01","value":1}])"), HasSubstr("/tags/01 does not name"));
  EXPECT_THAT(patched(R"([{"op":"set","path":"/tags/-1","value":1}])"), HasSubstr("does not name"));
  EXPECT_THAT(patched(R"([{"op":"set","path":"/tags/99999999999","value":1}])"), HasSubstr("does not name"));
}

TEST_F(PatchTest, PathsAreJsonPointers) {
  EXPECT_EQ(
      patched(
          R"([{"op":"set","path":"/deep/a~1b/m~0n/1/k","value":3},{"op":"add","path":"/deep/","value":0}])"),
      R"("stock":3,"tags":["x","y"],"deep":{"a/b":{"m~n":[1,{"k":3}]},"":0}})");
  EXPECT_THAT(patched(R"([{"op":"set","path":"stock","value":1}])"), HasSubstr("begins with '/'"));
  EXPECT_THAT(patched(R"([{"op":"set","path":"","value":1}])"), HasSubstr("begins with '/'"));
  EXPECT_THAT(patched(R"([{"op":"set","path":"/a~2","value":1}])"), HasSubstr("neither ~0"));
  EXPECT_THAT(patched(R"([{"op":"set","path":"/a~","value":1}])"), HasSubstr("neither ~0"));
}

TEST_F(PatchTest, ReplaceAndRemoveNeedWhatTheyName) {
  EXPECT_EQ(patched(R"([{"op":"replace","path":"/stock","value":"none"},{"op":"remove","path":"/tags/0"},
                        {"op":"replace","path":"/tags/0","value":[2]},{"op":"remove","path":"/deep"}])"),
            R"("stock":"none","tags":[[2]]})");
  for (const char* operation :
       {R"([{"op":"replace","path":"/no","value":1}])", R"([{"op":"remove","path":"/no"}])",
        R"([{"op":"replace","path":"/tags/1","value":1}])", R"([{"op":"remove","path":"/tags/7"}])"})
    EXPECT_THAT(patched(operation), HasSubstr("there is nothing at /")) << operation;
}

TEST_F(PatchTest, IncrementAddsExactlyOrCreates) {
  EXPECT_EQ(patched(R"([{"op":"incr","path":"/stock","value":-5},{"op":"incr","path":"/sold","value":1.5},
                        {"op":"incr","path":"/deep/a~1b/m~0n/0","value":9007199254740993},{"op":"remove","path":"/tags"}])"),
            R"("stock":-2,"deep":{"a/b":{"m~n":[9007199254740994,{"k":2}]}},"sold":1.5})");
  EXPECT_EQ(
      patched(
          R"([{"op":"set","path":"/stock","value":9223372036854775807},{"op":"incr","path":"/stock","value":1},
                        {"op":"remove","path":"/deep"}])"),
      R"("stock":9223372036854776000,"sold":1.5})")
      << "past the integers the sum is a double";
  EXPECT_THAT(patched(R"([{"op":"incr","path":"/stock","value":"1"}])"), HasSubstr("needs a number"));
  EXPECT_THAT(patched(R"([{"op":"incr","path":"/sold","value":1},{"op":"set","path":"/sold","value":"many"},
                          {"op":"incr","path":"/sold","value":1}])"),
              HasSubstr("operation 3 (incr /sold): what is there is not a number"));
  EXPECT_THAT(
      patched(R"([{"op":"set","path":"/big","value":1e308},{"op":"incr","path":"/big","value":1e308}])"),
      HasSubstr("too large"));
}

TEST_F(PatchTest, MoveTakesAwayAndAdds) {
  EXPECT_EQ(
      patched(
          R"([{"op":"move","from":"/tags/0","path":"/deep/first"},{"op":"move","from":"/stock","path":"/tags/0"},
                        {"op":"move","from":"/deep/a~1b","path":"/deep/first"}])"),
      R"("tags":[3,"y"],"deep":{"first":{"m~n":[1,{"k":2}]}}})");
  EXPECT_THAT(patched(R"([{"op":"move","from":"/no","path":"/yes"}])"), HasSubstr("nothing at /no"));
  EXPECT_THAT(patched(R"([{"op":"move","from":"/deep","path":"/deep/a"}])"), HasSubstr("into itself"));
  EXPECT_THAT(patched(R"([{"op":"move","path":"/deep/a"}])"), HasSubstr("needs \"from\""));
}

TEST_F(PatchTest, WhatMayNotChangeIsRefused) {
  for (const char* path : {"/id", "/id/x", "/author", "/author/name", "/_ts", "/_etag", "/_rid", "/_self"}) {
    EXPECT_THAT(patched(R"([{"op":"set","path":")" + std::string(path) + R"(","value":"b"}])"),
                HasSubstr("invalid_argument: operation 1 (set /"))
        << path;
    EXPECT_THAT(patched(R"([{"op":"move","path":"/free","from":")" + std::string(path) + R"("}])"),
                HasSubstr("invalid_argument: operation 1 (move /free)"))
        << path;
  }
  EXPECT_EQ(shelf_.patch("le guin", "b", R"([{"op":"remove","path":"/id"}])").error().status, 400);
  Container nested = make("nested", "/address/zip");
  ASSERT_TRUE(succeeds(nested.create(R"({"id":"1","address":{"zip":"1"}})")));
  EXPECT_TRUE(fails_with(nested.patch("1", "1", R"([{"op":"set","path":"/address","value":{"zip":"2"}}])"),
                         QUIRE_INVALID_ARGUMENT, "partition key"));
  EXPECT_TRUE(succeeds(nested.patch("1", "1", R"([{"op":"set","path":"/address/street","value":"x"}])")));
}

TEST_F(PatchTest, WrongPatchesSayWhatIsWrong) {
  EXPECT_THAT(patched("[]"), HasSubstr("needs an array of operations"));
  EXPECT_THAT(patched("{}"), HasSubstr("needs an array of operations"));
  EXPECT_THAT(patched("1"), HasSubstr("a patch is an array"));
  EXPECT_THAT(patched("[1]"), HasSubstr("operation 1 is not an object"));
  EXPECT_THAT(patched("[{"), HasSubstr("invalid_json"));
  EXPECT_THAT(patched(R"([{"op":"test","path":"/a","value":1}])"),
              HasSubstr("has the op 'test'; there are add"));
  EXPECT_THAT(patched(R"([{"op":"set","path":"/a"}])"), HasSubstr("needs \"value\""));
  EXPECT_THAT(patched(R"([{"op":"set","path":5,"value":1}])"), HasSubstr("needs \"path\", a string"));
  EXPECT_THAT(patched(R"([{"op":"remove","path":"/a","value":1}])"),
              HasSubstr("'value', which remove does not"));
  EXPECT_THAT(patched(R"({"operation":[]})"), HasSubstr("no 'operation'"));
  EXPECT_THAT(patched(R"({"condition":5,"operations":[]})"), HasSubstr("is a string"));
  std::string many = "[";
  for (int i = 0; i < 11; ++i) many += R"({"op":"incr","path":"/n","value":1},)";
  many.back() = ']';
  EXPECT_THAT(patched(many), HasSubstr("limit_exceeded: a patch has 11 operations; the limit is 10"));
  EXPECT_TRUE(
      fails_with(shelf_.patch("le guin", "z", R"([{"op":"incr","path":"/n","value":1}])"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(
      fails_with(shelf_.patch("other", "b", R"([{"op":"incr","path":"/n","value":1}])"), QUIRE_NOT_FOUND));
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += R"({"a":)";
  deep += "1" + std::string(60, '}');
  std::string path;
  for (int i = 0; i < 60; ++i) path += "/a";
  const std::string nest = R"([{"op":"set","path":"/a","value":)" + deep + R"(},{"op":"set","path":"/a)" +
                           path + R"(","value":)" + deep + R"(},{"op":"set","path":"/a)" + path + path +
                           R"(","value":)" + deep + "}]";
  EXPECT_THAT(patched(nest), HasSubstr("invalid_json"));
  EXPECT_EQ(patched(R"([{"op":"set","path":"/stock","value":3}])"), before_) << "nothing was changed by any";
}

TEST_F(PatchTest, ALaterFailureUndoesTheOperationsBeforeIt) {
  EXPECT_THAT(patched(R"([{"op":"incr","path":"/stock","value":1},{"op":"remove","path":"/no"}])"),
              HasSubstr("operation 2 (remove /no)"));
  EXPECT_EQ(shelf_.read_json("le guin", "b", false).value(), R"({"id":"b","author":"le guin",)" + before_);
}

TEST_F(PatchTest, ConditionsAndEtagsGuardIt) {
  const auto sell = [&](std::string_view condition) {
    return shelf_.patch("le guin", "b",
                        R"({"condition":")" + std::string(condition) +
                            R"(","operations":[{"op":"incr","path":"/stock","value":-2}]})");
  };
  const auto first = sell("FROM c WHERE c.stock >= 2");
  ASSERT_TRUE(succeeds(first));
  EXPECT_FALSE(first->was_created());
  EXPECT_TRUE(
      fails_with(sell("from c where c.stock >= 2"), QUIRE_PRECONDITION_FAILED, "not true of item 'b'"));
  EXPECT_TRUE(succeeds(sell("FROM c JOIN t IN c.tags WHERE t = 'y' AND c._ts > 0")));
  const auto wrong = sell("FROM c WHERE c.stock >= ");
  EXPECT_TRUE(fails_with(wrong, QUIRE_SYNTAX, "condition"));
  EXPECT_EQ(wrong.error().column, 25u);
  EXPECT_TRUE(fails_with(sell("WHERE true"), QUIRE_SYNTAX));
  EXPECT_TRUE(fails_with(sell("FROM c WHERE c.n = @p"), QUIRE_UNBOUND_PARAMETER));
  const WriteOptions stale{.if_match = first->etag()};
  EXPECT_THAT(patched(R"([{"op":"incr","path":"/stock","value":1}])", stale),
              HasSubstr("precondition_failed"));
  EXPECT_EQ(patched(R"([{"op":"incr","path":"/stock","value":4}])", {.if_match = "*"}), before_);
}

// Elsewhere such conditions say which items are read; here there is one, and they have to hold for it.
TEST_F(PatchTest, AConditionOnThePartitionKeyOrTheIdIsAsked) {
  const auto patched_if = [](Container& container, std::string_view key, std::string_view condition) {
    const std::string patch = fmt::format(
        R"({{"condition":"FROM c WHERE {}","operations":[{{"op":"set","path":"/seen","value":1}}]}})",
        condition);
    return key.empty() ? container.patch({}, "b", patch) : container.patch(key, "b", patch);
  };
  for (const std::string_view condition :
       {"c.author = 'atwood'", "c.author = 'atwood' AND c.id = 'b'", "c.author = 'le guin' AND c.id = 'a'",
        "c.author IN ('atwood', 'byatt')", "ARRAY_CONTAINS(['atwood'], c.author)", "c.author = undefined"})
    EXPECT_TRUE(fails_with(patched_if(shelf_, "le guin", condition), QUIRE_PRECONDITION_FAILED)) << condition;
  for (const std::string_view condition :
       {"c.author = 'le guin'", "c.author IN ('le guin', 'byatt') AND c.id = 'b'"})
    EXPECT_TRUE(succeeds(patched_if(shelf_, "le guin", condition))) << condition;
  Container unkeyed = make("unkeyed");
  ASSERT_TRUE(succeeds(unkeyed.create(R"({"id":"b"})")));
  EXPECT_TRUE(fails_with(patched_if(unkeyed, {}, "c.id = 'a'"), QUIRE_PRECONDITION_FAILED));
  EXPECT_TRUE(succeeds(patched_if(unkeyed, {}, "c.id = 'b'")));
}

// Scalars are put in the bytes of the document; the rest of a patch makes it anew.
TEST_F(PatchTest, ScalarsInTheirPlaceAreFoundByIndexesAndExpire) {
  for (const std::string_view path : {"stock", "deep.k"})
    ASSERT_EQ(query(fmt::format("CREATE INDEX ON shelf ({})", path)), "");
  ASSERT_TRUE(succeeds(shelf_.upsert(R"({"id":"b","author":"le guin","stock":3,"deep":{"k":"short"}})")));
  EXPECT_EQ(
      patched(R"([{"op":"incr","path":"/stock","value":70000},{"op":"incr","path":"/stock","value":-0.5},
                        {"op":"set","path":"/deep/k","value":"longer than it was"}])"),
      R"("stock":70002.5,"deep":{"k":"longer than it was"}})");
  for (const std::string_view condition : {"c.stock = 3", "c.deep.k = 'short'", "c.stock > 70003"})
    EXPECT_EQ(query(fmt::format("SELECT VALUE c.id FROM shelf c WHERE {}", condition)), "") << condition;
  EXPECT_EQ(query("SELECT VALUE s.id FROM shelf s WHERE s.stock = 70002.5 AND s.deep.k > 'longer'"),
            "\"b\"\n");
  EXPECT_THAT(patched(R"([{"op":"set","path":"/stock","value":1},{"op":"incr","path":"/deep/k","value":1}])"),
              HasSubstr("operation 2 (incr /deep/k): what is there is not a number"));
  EXPECT_EQ(
      patched(R"([{"op":"replace","path":"/stock","value":"1"},{"op":"set","path":"/new","value":{}}])"),
      R"("stock":"1","deep":{"k":"longer than it was"},"new":{}})");
  EXPECT_THAT(
      patched(R"([{"op":"incr","path":"/deep/x","value":5},{"op":"incr","path":"/deep/x","value":1e308},
                          {"op":"incr","path":"/deep/x","value":1e308}])"),
      HasSubstr("operation 3 (incr /deep/x): the sum is too large"));
  EXPECT_THAT(query("CHECK"), HasSubstr("ok"));
}

TEST_F(PatchTest, TakesPartInATransaction) {
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(transaction));
  const WriteOptions within{.transaction = &*transaction};
  EXPECT_TRUE(succeeds(shelf_.create(R"({"id":"c","author":"le guin","stock":1})", &*transaction)));
  EXPECT_TRUE(succeeds(shelf_.patch("le guin", "c", R"({"condition":"FROM c WHERE c.stock = 1","operations":[
      {"op":"incr","path":"/stock","value":1}]})",
                                    within)));
  EXPECT_TRUE(fails_with(shelf_.patch("le guin", "c", R"([{"op":"remove","path":"/no"}])", within),
                         QUIRE_INVALID_ARGUMENT));
  ASSERT_TRUE(succeeds(transaction->commit()));
  EXPECT_EQ(shelf_.read_json("le guin", "c", false).value(), R"({"id":"c","author":"le guin","stock":2})");
}

TEST_F(PatchTest, AsAStatementItPatchesWhatItsConditionFinds) {
  EXPECT_EQ(query("INSERT INTO shelf VALUES {id: 'a', author: 'atwood', stock: 1}"), "");
  EXPECT_EQ(
      query("PATCH shelf s WITH [{op: 'incr', path: '/stock', 'value': s.stock}, {op: 'set', path: '/sale', "
            "'value': true}] WHERE s.stock > 0 RETURNING s.id, s.stock, s.sale"),
      "{\"id\":\"a\",\"stock\":2,\"sale\":true}\n{\"id\":\"b\",\"stock\":6,\"sale\":true}\n");
  EXPECT_EQ(query("PATCH shelf WITH [{op: 'remove', path: '/sale'}] WHERE shelf.stock > 100 RETURNING *"),
            "");
  EXPECT_THAT(query("PATCH shelf s WITH [{op: 'remove', path: '/tags'}]"),
              HasSubstr("operation 1 (remove /tags): there is nothing at /tags (item 'a')"));
  EXPECT_THAT(query("PATCH shelf s WITH [{op: 'set', path: '/author', 'value': 'x'}]"),
              HasSubstr("partition key"));
  EXPECT_THAT(query("PATCH shelf s WITH s.nothing"), HasSubstr("needs an array of operations"));
  EXPECT_THAT(query("PATCH nowhere n WITH []"), HasSubstr("container_not_found"));
  EXPECT_THAT(query("PATCH shelf s SET s.a = 1"), HasSubstr("syntax"));
  auto statement =
      database_->prepare("PATCH shelf s WITH @operations WHERE s.id = 'a' RETURNING VALUE s.stock");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("operations", Json{R"([{"op":"incr","path":"/stock","value":10}])"})));
  EXPECT_EQ(rows(*statement), "12\n");
  statement->reset();
  EXPECT_EQ(rows(*statement), "22\n");
  EXPECT_EQ(query("SELECT VALUE patch FROM shelf patch WHERE patch.patch = 1"), "");
}

}  // namespace
}  // namespace quire::tests
