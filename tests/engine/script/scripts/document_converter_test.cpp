#include "engine/script/document_converter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/script/sandbox.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

class DocumentConverterTest : public testing::Test {
 protected:
  DocumentConverterTest() {
    auto booted = Sandbox::boot(watchdog_);
    EXPECT_TRUE(booted) << booted.error().message;
    sandbox_ = std::move(*booted);
    image_ = sandbox_->image();
  }

  // Runs `work` from the image.
  template <typename Work>
  void run(const Work& work) {
    Sandbox::RunOptions options;
    options.limits.time_ms = 20'000;
    options.limits.memory_bytes = size_t{64} << 20;
    ASSERT_TRUE(sandbox_->restore(image_, options.limits.memory_bytes));
    const auto done = sandbox_->run(options, "it", [&]() -> Result<void> {
      work();
      return {};
    });
    EXPECT_TRUE(done) << done.error().message;
  }

  // JSON.stringify of what a document has become.
  std::string into(std::string_view json) {
    std::string out;
    run([&] {
      sql::JsonReader reader;
      sql::Arena arena;
      const auto document = reader.to_value(json, arena);
      ASSERT_TRUE(document);
      const JsValue value = sandbox_->documents().to_script(*document);
      EXPECT_TRUE(sandbox_->json(value, out));
      sandbox_->free(value);
    });
    return out;
  }
  // The same of JSON.parse.
  std::string parsed(std::string_view json) {
    std::string out;
    run([&] { EXPECT_TRUE(sandbox_->json(sandbox_->parse_json(json), out)); });
    return out;
  }
  // An expression's value as JSON; "-" where it is left to JSON.stringify.
  std::string out_of(std::string_view expression) {
    std::string out = "-";
    run([&] {
      const JsValue value = sandbox_->evaluate(expression, "it");
      ASSERT_FALSE(Sandbox::is_exception(value)) << sandbox_->take_exception("it").message;
      sql::Arena arena;
      const auto read = sandbox_->documents().from_script(value, arena);
      if (!read) return;
      out.clear();
      sql::write_json(*read, out);
      std::string expected;
      EXPECT_TRUE(sandbox_->json(value, expected));
      EXPECT_EQ(out, expected) << expression;
    });
    return out;
  }

  Watchdog watchdog_;
  std::unique_ptr<Sandbox> sandbox_;
  SandboxImage image_;
};

// Names are kept up to a number; those of an object that is still being read stay what they are.
TEST_F(DocumentConverterTest, AnObjectMayHaveMoreNamesWithinThanAreKept) {
  const std::string read = out_of(
      "({ outer: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ['k' + i, i])), after: 1 })");
  EXPECT_THAT(read, testing::StartsWith(R"({"outer":{"k0":0,"k1":1,)"));
  EXPECT_THAT(read, testing::EndsWith(R"("k4999":4999},"after":1})"));
}

// The engines of two scripts have numbered their names differently.
TEST_F(DocumentConverterTest, NamesThatAScriptHasLearntAreThoseOfItsImage) {
  const SandboxImage bare = image_;
  SandboxImage images[2];
  std::string repeated = "function (one) { one.two = '3three_4' + 5; one.__proto__ = __six; ";
  for (int i = 0; i < 1000; ++i) repeated += "one.two();";
  const std::string scripts[] = {repeated + "return of_late }",
                                 "function f() { three_4(__proto__, two, one); /* seven */ }"};
  for (size_t i = 0; i < 2; ++i) {
    image_ = bare;
    run([&] {
      EXPECT_TRUE(sandbox_->documents().learn_names(scripts[i]));
      images[i] = sandbox_->image();
    });
    EXPECT_GT(images[i].names->size(), bare.names->size() + 4);
    EXPECT_EQ(images[i].names->find("of_late") != nullptr, i == 0);
  }
  constexpr std::string_view kJson =
      R"({"seven":1,"one":{"two":2,"three_4":"3","one":[{"two":4}]},"__six":5,"eight":{"nine":6}})";
  for (const int turn : {0, 1, 0, 0, 1}) {
    image_ = images[turn];
    EXPECT_EQ(into(kJson), kJson);
    EXPECT_EQ(out_of(fmt::format("({})", kJson)), kJson);
    EXPECT_EQ(out_of(R"(({ one: 1, ["__proto__"]: { two: 2 } }))"), R"({"one":1,"__proto__":{"two":2}})");
  }
}

TEST_F(DocumentConverterTest, ADocumentGoesInAsJsonParseMakesIt) {
  for (const std::string_view json :
       {R"({})", R"([])", R"({"a":{"b":[{"c":[]}]},"":0})", R"({"b":1,"10":2,"2":3,"a":4,"-1":5,"01":6})",
        R"({"__proto__":{"x":1},"constructor":2,"toString":3})", R"({"a":"é\u0000\"\\\n😀"})",
        R"([0,-0.5,1e300,5e-324,2147483647,2147483648,-2147483648,-2147483649,9007199254740993,0.1])",
        R"([null,true,false,[[[]]]])"})
    EXPECT_EQ(into(json), parsed(json)) << json;
}

// What happens to one of them, whatever it is, is not seen in another.
TEST_F(DocumentConverterTest, ObjectsWithTheSameNamesAreEachTheirOwn) {
  std::string rows = "[";
  for (int i = 0; i < 300; ++i)
    rows +=
        fmt::format(R"({}{{"a":{},"b":{{"c":[{}],"d":"x"}}}},{{"b":1,"a":2}},{{}})", i == 0 ? "" : ",", i, i);
  rows += "]";
  EXPECT_EQ(into(rows), rows);
  constexpr std::string_view kChange = R"((function (l, own) {
    const before = JSON.stringify(l);
    for (let i = 0; i < l.length; i += 2) {
      const x = l[i];
      delete x.a; x.e = i; x.b = null; Object.defineProperty(x, 'f', { get() { return 1; } });
      if (i % 4 === 0) Object.setPrototypeOf(x, null); else Object.freeze(x);
    }
    const made = l.map((x) => ({ a: x.a, b: x.b }));
    return [before === JSON.stringify(own), JSON.stringify(l.filter((x, i) => i % 2 === 1)) ===
      JSON.stringify(own.filter((x, i) => i % 2 === 1)), l[2].a, l[2].e, made[3].a, own[3].a].join();
  }))";
  std::string out;
  run([&] {
    sql::JsonReader reader;
    sql::Arena arena;
    const auto document = reader.to_value(rows, arena);
    ASSERT_TRUE(document);
    const JsValue change = sandbox_->evaluate(kChange, "it");
    ASSERT_FALSE(Sandbox::is_exception(change)) << sandbox_->take_exception("it").message;
    const JsValue given[] = {sandbox_->documents().to_script(*document), sandbox_->parse_json(rows)};
    const JsValue done = sandbox_->call(change, kJsUndefined, given);
    ASSERT_FALSE(Sandbox::is_exception(done)) << sandbox_->take_exception("it").message;
    EXPECT_TRUE(sandbox_->text(done, out));
    for (const JsValue value : {change, given[0], given[1], done}) sandbox_->free_counted(value);
  });
  EXPECT_EQ(out, "true,true,,2,1,1");
}

TEST_F(DocumentConverterTest, WhatIsFreedAgainTakesNoMemory) {
  run([&] {
    sql::JsonReader reader;
    sql::Arena arena;
    const auto document =
        reader.to_value(R"([{"a":1,"b":{"c":"x","d":1}},{"a":2,"b":{"c":"y","d":2}},{}])", arena);
    ASSERT_TRUE(document);
    const auto go_round = [&] {
      for (int i = 0; i < 3000; ++i) {
        const JsValue value = sandbox_->documents().to_script(*document);
        ASSERT_TRUE(sandbox_->documents().from_script(value, arena));
        sandbox_->free(value);
      }
    };
    go_round();
    const size_t before = sandbox_->memory_bytes();
    go_round();
    EXPECT_EQ(sandbox_->memory_bytes(), before);
  });
}

TEST_F(DocumentConverterTest, WhatIsUndefinedStaysOut) {
  const sql::Value elements[] = {sql::Value(), sql::Value::integer(1)};
  const sql::Member members[] = {{"a", sql::Value()}, {"b", sql::Value::array(elements)}};
  std::string out;
  run([&] {
    EXPECT_TRUE(sandbox_->json(sandbox_->documents().to_script(sql::Value::object(members)), out));
  });
  EXPECT_EQ(out, R"({"b":[1]})");
}

TEST_F(DocumentConverterTest, LongTextsAndManyMembersGoIn) {
  const std::string text(100'000, 'x');
  std::string many = fmt::format(R"({{"text":"{}","list":[)", text);
  for (int i = 0; i < 3000; ++i) many += fmt::format("{}{}", i == 0 ? "" : ",", i);
  many += "]";
  for (int i = 0; i < 6000; ++i) many += fmt::format(R"(,"n{}":{})", i, i);
  many += "}";
  EXPECT_EQ(into(many), many);
}

TEST_F(DocumentConverterTest, PlainDataComesOutAsJsonStringifyHasIt) {
  for (const std::string_view expression :
       {"({})",
        "[]",
        "({a: 1, b: [1, 2.5, 'x', null, true, undefined], c: {d: undefined, e: -0}})",
        "({b: 1, 10: 2, 2: 3, a: 4})",
        "'é' + '😀'.repeat(3)",
        "'a'.repeat(3000) + 'b'.repeat(3000)",
        "[4503599627370496, -9007199254740991, 1e-7, 0.1 + 0.2]",
        "({'': 1, 'ü': 2})",
        "JSON.parse('{\"__proto__\": 1}')",
        "Object.freeze({a: [1]})",
        "(function() { const x = {a: 1}; return [x, x]; })()",
        "(function() { const o = {}; for (let i = 0; i < 6000; i++) o['n' + i] = i; return o; })()",
        "(function() { let x = 1; for (let i = 0; i < 128; i++) x = [x]; return x; })()",
        "Object.defineProperty({a: 1}, 'hidden', {value: 2})",
        "({[Symbol('s')]: 1, a: 2})",
        "Object.defineProperty({a: 1}, 'hidden', {get() { throw 1; }})",
        "(function() { const x = {a: 1, b: 2, c: 3}; delete x.b; x.d = 4; delete x.a; return x; })()",
        "(() => { const x = {}; for (let i = 0; i < 40; i++) x['a' + i] = i, delete x.a5; return x; })()",
        "({z: 1, 4294967294: 2, 4294967295: 3, 2147483648: 4, 7: 5, '07': 6, 0: 7, '-1': 8})",
        "(function() { const x = [1, 2, 3, 4]; x.length = 2; x.push('é'); x.pop(); x.shift(); return x; })()",
        "[['ä', 'ÿ', 'Ã©', '\\u0100', 'x'.repeat(300) + 'é'], 'abcdefghij'.repeat(99).slice(5, 700)]",
        "(() => { let x = ''; for (let i = 0; i < 3000; i++) x += i; return {[x]: x.substring(1), x}; })()",
        "new (class extends (class { constructor(x) { return x; } }) { #p = 1; constructor(x) { super(x); } "
        "})({a: 1})"})
    EXPECT_NE(out_of(expression), "-") << expression;
}

TEST_F(DocumentConverterTest, WhatIsMoreThanDataIsLeftAlone) {
  for (const std::string_view expression :
       {"({get a() { throw 1; }})",
        "({toJSON() { throw 1; }})",
        "({toJSON: 1})",
        "[new Date(0)]",
        "new (class { constructor() { this.a = 1; } })",
        "Object.create(null)",
        "Object.create({a: 1})",
        "Object.assign([1], {toJSON() { throw 1; }})",
        "Object.assign([1], {a: 1})",
        "(function() { const x = [1]; x.length = 3; return x; })()",
        "(function() { const x = [1, 2, 3]; delete x[1]; return x; })()",
        "(function() { const x = Array(9); x.fill(1); return [Object.setPrototypeOf(x, null)]; })()",
        "[,1]",
        "({a: () => 1})",
        "({a: Symbol('s')})",
        "({a: 1n})",
        "({a: NaN})",
        "[1/0]",
        "[9007199254740992]",
        "new Map",
        "new Proxy({}, {ownKeys() { throw 1; }})",
        "'\\ud800'",
        "({'\\ud800': 1})",
        "Object(1)",
        "Object.setPrototypeOf([], {toJSON() { throw 1; }})",
        "/x/",
        "new Uint8Array(2)",
        "(function() { return arguments; })(1)",
        "(function() { const x = {}; x.x = x; return x; })()",
        "(function() { let x = 1; for (let i = 0; i < 129; i++) x = [x]; return x; })()",
        "(function() { const x = []; x.length = 4294967295; return x; })()",
        "(Object.prototype.toJSON = () => { throw 1; }, {})",
        "(Array.prototype.toJSON = () => 1, [1])",
        "(Object.setPrototypeOf(Array.prototype, {toJSON: () => 1}), [1])",
        "(function() { let x = 'x'.repeat(1e6); return Array(64).fill(x); })()",
        "(function() { let x = []; for (let i = 0; i < 60; i++) x = [x, x]; return x; })()"})
    EXPECT_EQ(out_of(expression), "-") << expression;
}

// ---- Forms

constexpr std::string_view kForms =
    R"([{"a":1,"b":{"b":2,"a":3}},{"a":4,"b":5,"c":6},{},{"7":8,"a":9},{"__proto__":1},{"a":10}])";

ObjectForms forms_of(Sandbox& sandbox, JsValue value) {
  ObjectForms forms;
  sql::Arena arena;
  sandbox.documents().watch_forms(&forms);
  EXPECT_TRUE(sandbox.documents().from_script(value, arena));
  sandbox.documents().watch_forms(nullptr);
  return forms;
}

TEST_F(DocumentConverterTest, FormsAreNamesInTheirOrder) {
  run([&] {
    const ObjectForms forms = forms_of(*sandbox_, sandbox_->parse_json(kForms));
    EXPECT_THAT(forms.all(),
                testing::ElementsAre(testing::ElementsAre("b", "a"), testing::ElementsAre("a", "b"),
                                     testing::ElementsAre("a", "b", "c"), testing::ElementsAre("a")));
  });
}

ObjectForms::Form form_of(std::string_view letter, size_t names) {
  ObjectForms::Form form;
  for (size_t i = 0; i < names; ++i) form.push_back(fmt::format("{}{}", letter, i));
  return form;
}

TEST(ObjectFormsTest, FormsAreBoundedInTheirNumberAndTheirNames) {
  ObjectForms forms;
  forms.add(form_of("a", ObjectForms::kMostNames + 1));
  forms.add(ObjectForms::Form{std::string(ObjectForms::kLongestName + 1, 'x')});
  forms.add(ObjectForms::Form{});
  EXPECT_TRUE(forms.all().empty());
  for (const std::string_view letter : {"a", "b", "c", "d"})
    forms.add(form_of(letter, ObjectForms::kMostNames));
  static_assert(4 * ObjectForms::kMostNames == ObjectForms::kMostNamesOfAll);
  forms.add(form_of("e", 1));
  EXPECT_EQ(forms.all().size(), 4);
}

TEST_F(DocumentConverterTest, NoMoreFormsAreNotedThanAnImageMayLearn) {
  std::string json = "[";
  for (size_t form = 0; form < 2 * ObjectForms::kMostForms; ++form)
    json += fmt::format("{}{{\"a{}\":1}}", form == 0 ? "" : ",", form);
  run([&] {
    EXPECT_EQ(forms_of(*sandbox_, sandbox_->parse_json(json + "]")).all().size(), ObjectForms::kMostForms);
  });
}

// What an image has learnt changes no object: each has its own members still, and they change apart.
TEST_F(DocumentConverterTest, ObjectsOfLearntFormsAreTheirOwn) {
  run([&] {
    const ObjectForms forms = forms_of(*sandbox_, sandbox_->parse_json(kForms));
    EXPECT_TRUE(sandbox_->documents().learn_forms(forms.all()));
    image_ = sandbox_->image();
  });
  EXPECT_EQ(into(kForms), parsed(kForms));
  constexpr std::string_view kChanges =
      "l => { l[0].c = l[1].d = 0; delete l[2].a; l[3].b = 1; Object.freeze(l[4]); l[5].__proto__ = null; "
      "return [l, {a: 1, b: 2}] }";
  for (int time = 0; time < 3; ++time)
    run([&] {
      sql::JsonReader reader;
      sql::Arena arena;
      std::string list = "[", out;
      for (int i = 0; i < 7; ++i) list += fmt::format(R"({}{{"a":{},"b":"x"}})", i == 0 ? "" : ",", i);
      const auto value = reader.to_value(list + "]", arena);
      ASSERT_TRUE(value);
      const JsValue given = sandbox_->documents().to_script(*value);
      const JsValue changed = sandbox_->call(sandbox_->evaluate(kChanges, "it"), kJsUndefined, {&given, 1});
      EXPECT_TRUE(sandbox_->json(changed, out));
      EXPECT_EQ(out,
                R"([[{"a":0,"b":"x","c":0},{"a":1,"b":"x","d":0},{"b":"x"},{"a":3,"b":1},{"a":4,"b":"x"},)"
                R"({"a":5,"b":"x"},{"a":6,"b":"x"}],{"a":1,"b":2}])");
    });
}

}  // namespace
}  // namespace quire::engine
