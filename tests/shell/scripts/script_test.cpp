#include <algorithm>

#include "tests/shell/shell_fixture.h"

namespace quire::test {
namespace {

TEST_F(ShellTest, AScriptIsLoadedListedRunAndDumped) {
  const std::string file = write(
      "hello.js",
      "function hello(name) {\n\n  console.log('; said');\n  __.response.setBody('hello ' + name);\n}\n");
  const std::string tax = write("tax.js", "(x) => x * 2");
  const std::string check = write("check.js", "function () { throw new Error('refused'); }");
  const std::string path_of_database = path("a.quire");
  ASSERT_EQ(
      run({path_of_database, "CREATE CONTAINER books PARTITION KEY (/shelf)",
           ".script load " + file + " books", ".script load " + tax + " books --kind function --name twice",
           ".script load " + check + " books --kind pre-trigger --on delete --always"})
          .exit_code,
      0);
  const ShellRun said = run({path_of_database, "EXECUTE hello('you') ON books IN PARTITION 'a'"});
  EXPECT_EQ(said.output, "\"hello you\"\n");
  EXPECT_EQ(said.errors, "; said\n");
  EXPECT_NE(run({path_of_database, ".use books", ".scripts"})
                .output.find("\"triggerOperation\":\"Delete\",\"always\":true"),
            std::string::npos);
  const std::string dump = run({path_of_database, ".dump"}).output;
  ASSERT_EQ(run({path("b.quire")}, dump).exit_code, 0);
  EXPECT_EQ(run({path("b.quire"), ".scripts books"}).output,
            run({path_of_database, ".scripts books"}).output);
}

TEST_F(ShellTest, AScriptFromElsewhereRunsWhereTheOptionTrustsIt) {
  const std::string file = path("a.quire");
  ASSERT_EQ(run({file, "CREATE CONTAINER books PARTITION KEY (/shelf)",
                 "CREATE PROCEDURE one ON books AS $$ function () { __.response.setBody(1); } $$",
                 "PRAGMA trust_scripts = off"})
                .exit_code,
            0);
  const std::string call = "EXECUTE one() ON books IN PARTITION 'a'";
  const ShellRun refused = run({file, call});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.errors.find("--trust-scripts"), std::string::npos) << refused.errors;
  EXPECT_EQ(run({"--trust-scripts", file, call}).output, "1\n");
}

TEST_F(ShellTest, AScriptThatIsWrongIsToldOf) {
  const std::string file = write("bad.js", "function () {\n  var = 1;\n}");
  const ShellRun bad = run({path("a.quire"), "CREATE CONTAINER books", ".script load " + file + " books"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.errors.find("line 2"), std::string::npos) << bad.errors;
  EXPECT_EQ(run({path("a.quire"), ".script load " + file}).exit_code, 2);
  EXPECT_EQ(run({path("a.quire"), ".script load " + file + " books --kind other"}).exit_code, 2);
  // Else what was meant for a trigger would be a procedure, which nobody calls.
  for (const char* option : {"--on create", "--always", "--kind function --always"}) {
    const ShellRun refused = run({path("a.quire"), ".script load " + file + " books " + option});
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_NE(refused.errors.find("--kind is pre-trigger"), std::string::npos) << refused.errors;
  }
  const auto errors_of = [&](const std::string& given) {
    const ShellRun loaded = run({path("a.quire"), ".script load " + given + " books --name p"});
    EXPECT_EQ(loaded.exit_code, 1) << given;
    return loaded.errors;
  };
  const std::string none = path("none.js");
  EXPECT_EQ(errors_of(none), "error: cannot read '" + none + "': No such file or directory\n");
  EXPECT_EQ(errors_of("/"), "error: cannot read '/': Is a directory\n");
  EXPECT_NE(errors_of(write("empty.js", "")).find("has no function"), std::string::npos);
  EXPECT_NE(errors_of("/dev/zero").find("SyntaxError"), std::string::npos);
}

TEST_F(ShellTest, ADumpLoadsWhateverNamesAndBodiesAre) {
  const std::string file = path("a.quire");
  ShellRun made = run({file, ".create {\"id\":\"--x\"}", ".create {\"id\":\"--y z;\"}", ".import -- - --x",
                       "CREATE FUNCTION f ON '--x' AS $$ function () { return 1; } // 5 $\n$$"},
                      "{\"id\":\"1\"}\n");
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  write("f.js", "function () { return 2; } //$");
  write("g.js", "function (price) {\n  // ; $script1$\n\n  return `$${price}` + '$$';\r\n} //$script2");
  made = run({file, ".import --generate-ids -- " + write("in.ndjson", "{\"id\":\"1\"}\n") + " \"--y z;\"",
              ".script load --kind function " + path("f.js") + " -- --x",
              ".script load --kind function --name g " + path("g.js") + " -- --x", "CREATE CONTAINER z"});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const std::string dump = run({file, ".dump"}).output;
  const ShellRun loaded = run({path("b.quire")}, dump);
  EXPECT_EQ(loaded.exit_code, 0) << loaded.errors << dump;
  EXPECT_EQ(run({path("b.quire"), ".containers"}).output, run({file, ".containers"}).output);
  EXPECT_EQ(run({path("b.quire"), ".dump"}).output, dump);
  EXPECT_EQ(run({path("b.quire"), "SELECT VALUE udf.g(5) FROM '--x' x"}).output, "\"$5$$\"\n");
}

}  // namespace
}  // namespace quire::test
