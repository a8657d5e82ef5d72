// The dot-commands, the output modes, and files of every format in and out.
#include <cstdlib>

#include "tests/shell/shell_fixture.h"

namespace quire::test {
namespace {

constexpr const char* kTwoRows =
    "SELECT x.a, x.b FROM x IN (SELECT VALUE [{a: 1, b: {c: \"x|y\", d: [1, \"q\"]}}, {a: 20, b: {c: "
    "\"\"}}])";

TEST_F(ShellTest, EachModeShowsTheSameRows) {
  const auto shown = [&](const std::string& mode) {
    return run({":memory:", ".mode " + mode, kTwoRows}).output;
  };
  EXPECT_EQ(shown("jsonl"),
            "{\"a\":1,\"b\":{\"c\":\"x|y\",\"d\":[1,\"q\"]}}\n{\"a\":20,\"b\":{\"c\":\"\"}}\n");
  EXPECT_EQ(shown("array"),
            "[\n{\"a\":1,\"b\":{\"c\":\"x|y\",\"d\":[1,\"q\"]}},\n{\"a\":20,\"b\":{\"c\":\"\"}}\n]\n");
  EXPECT_EQ(shown("csv"), "a,b.c,b.d\n1,x|y,\"[1,\"\"q\"\"]\"\n20,\"\",\n");
  EXPECT_EQ(shown("tsv"), "a\tb.c\tb.d\n1\tx|y\t\"[1,\"\"q\"\"]\"\n20\t\"\"\t\n");
  EXPECT_EQ(shown("markdown"),
            "| a | b.c | b.d |\n| --- | --- | --- |\n| 1 | x\\|y | [1,\"q\"] |\n| 20 |  |  |\n");
  EXPECT_EQ(shown("insert t"),
            "INSERT INTO t VALUES {\"a\":1,\"b\":{\"c\":\"x|y\",\"d\":[1,\"q\"]}};\n"
            "INSERT INTO t VALUES {\"a\":20,\"b\":{\"c\":\"\"}};\n");
  EXPECT_EQ(shown("vertical"),
            "-[ 1 ]--------------------\na  1\nb  {\"c\":\"x|y\",\"d\":[1,\"q\"]}\n"
            "-[ 2 ]--------------------\na  20\nb  {\"c\":\"\"}\n");
}

TEST_F(ShellTest, NothingIsColouredInAPipe) {
  EXPECT_EQ(run({"--mode", "json", ":memory:", "SELECT VALUE {a: 1}"}).output, "{\n  \"a\": 1\n}\n");
}

TEST_F(ShellTest, APropertyThatTheHeaderLacksIsAnErrorRatherThanLost) {
  std::string items;
  for (int i = 0; i < 1500; ++i) items += "{\"id\":\"" + std::to_string(i) + "\"}\n";
  items += "{\"id\":\"z\",\"late\":1}\n";
  const std::string import = ".import " + write("late.ndjson", items) + " c";
  const ShellRun shown = run({":memory:", import, ".mode csv", "SELECT c.id, c.late FROM c ORDER BY c.id"});
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_NE(shown.errors.find("has 'late'"), std::string::npos) << shown.errors;
  EXPECT_EQ(run({":memory:", import, ".export c " + path("late.csv")}).exit_code, 0);
  EXPECT_NE(read("late.csv").find("z,1\n"), std::string::npos);
}

TEST_F(ShellTest, ASoundDatabaseHasNoFault) {
  const ShellRun run = this->run({":memory:", ".generate readings r 100", ".check", ".check r"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_NE(run.output.find("no fault found\nno fault found\n"), std::string::npos) << run.output;
  EXPECT_EQ(this->run({":memory:", ".check r"}).exit_code, 1);
}

TEST_F(ShellTest, WritesRowsToFiles) {
  const ShellRun run =
      this->run({":memory:", ".once " + path("once"), "SELECT VALUE 1", "SELECT VALUE 2",
                 ".output " + path("all"), "SELECT VALUE 3", "SELECT VALUE 4", ".output", "SELECT VALUE 5"});
  EXPECT_EQ(run.output, "2\n5\n") << run.errors;
  EXPECT_EQ(read("once"), "1\n");
  EXPECT_EQ(read("all"), "3\n4\n");
}

TEST_F(ShellTest, ReadsScriptsWithinScripts) {
  const std::string inner = write("inner.sql", "SELECT VALUE 2;\n");
  const std::string outer = write("outer.sql", "SELECT VALUE 1;\n.read " + inner + "\nSELECT VALUE 3;\n");
  EXPECT_EQ(run({":memory:", ".read " + outer, "SELECT VALUE 4"}).output, "1\n2\n3\n4\n");
  const std::string self = path("self.sql");
  write("self.sql", ".read " + self + "\n");
  EXPECT_NE(run({":memory:", ".read " + self}).errors.find("16 deep"), std::string::npos);
}

TEST_F(ShellTest, ADumpMakesEverythingAnew) {
  const std::string books = write("books.ndjson", kBooks);
  ASSERT_EQ(run({path("a.quire"), ".import " + books + " books --partition-key /shelf",
                 ".create {\"id\": \"odd name's\", \"defaultTtl\": 60}",
                 ".import " + books + " \"odd name's\"", ".generate orders orders 300"})
                .exit_code,
            0);
  const std::string dump = run({path("a.quire"), ".dump"}).output;
  ASSERT_EQ(run({path("b.quire")}, dump).exit_code, 0);
  EXPECT_EQ(run({path("b.quire"), ".dump"}).output, dump);
  EXPECT_EQ(run({path("b.quire"), ".containers"}).output, run({path("a.quire"), ".containers"}).output);
}

TEST_F(ShellTest, ABackupHasEverythingAndIsNotWrittenOverAFile) {
  ASSERT_EQ(run({path("a.quire"), ".generate readings r 500", ".backup " + path("b.quire")}).exit_code, 0);
  EXPECT_EQ(run({path("b.quire"), "SELECT VALUE COUNT(1) FROM r"}).output, "500\n");
  const ShellRun again = run({path("a.quire"), ".backup " + path("b.quire")});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.errors.find("there is a file already"), std::string::npos) << again.errors;
}

TEST_F(ShellTest, EveryFormatComesBackAsItWent) {
  const std::string items =
      "{\"id\":\"1\",\"n\":1.5,\"s\":\"12\",\"t\":true,\"u\":null,\"o\":{\"a\":\"x, "
      "\\\"y\\\"\",\"b\":[1,{\"c\":2}]}}\n"
      "{\"id\":\"2\",\"n\":-7,\"s\":\"\",\"o\":{\"a\":\"two\\nlines\"}}\n"
      "{\"id\":\"3\",\"s\":\"日本\\t語\"}\n";
  const std::string first = write("first.ndjson", items);
  for (const char* ending : {"jsonl", "json", "csv", "tsv", "csv.gz", "jsonl.zst", "json.gz"}) {
    const std::string file = path(std::string("copy.") + ending);
    const ShellRun run = this->run({":memory:", ".import " + first + " a", ".export a " + file,
                                    ".import " + file + " b", ".export b " + path("second.ndjson")});
    EXPECT_EQ(run.exit_code, 0) << ending << run.errors;
    EXPECT_EQ(read("second.ndjson"), items) << ending;
  }
}

TEST_F(ShellTest, ExportsAQuery) {
  const std::string books = write("books.ndjson", kBooks);
  EXPECT_EQ(run({":memory:", ".import " + books + " b",
                 ".export b - --format csv --query 'SELECT c.id, c.pages FROM c WHERE c.pages > 100'"})
                .output,
            "id,pages\n\"1\",210\n");
}

TEST_F(ShellTest, InfersTypesOfCsvAndNestsByDottedHeaders) {
  const std::string file = write("a.csv",
                                 "\xEF\xBB\xBFid,p.x,name,p.y,code\r\n"
                                 "1,2.50,\"Ann \"\"A\"\"\",true,007\r\n"
                                 "2,,Bo,,\"8\"\r\n");
  EXPECT_EQ(run({":memory:", ".import " + file + " c", ".export c -"}).output,
            "{\"id\":\"1\",\"p\":{\"x\":2.5,\"y\":true},\"name\":\"Ann \\\"A\\\"\",\"code\":\"007\"}\n"
            "{\"id\":\"2\",\"name\":\"Bo\",\"code\":\"8\"}\n");
  const auto errors = [&](const std::string& text) {
    const ShellRun run = this->run({":memory:", ".import " + write("bad.csv", text) + " c"});
    EXPECT_EQ(run.exit_code, 1) << text;
    return run.errors;
  };
  EXPECT_NE(errors("id,a\n1,2,3\n").find("record 2 has 3 cells, the header only 2"), std::string::npos);
  EXPECT_NE(errors("id,a,a.b\n1,2,3\n").find("column 3 of the header, 'a.b'"), std::string::npos);
  EXPECT_NE(errors("a\n5\n").find("record 2: "), std::string::npos);
}

TEST_F(ShellTest, ImportsWhatOtherDatabasesExport) {
  const std::string cosmos =
      write("cosmos.json", "[{\"id\":\"7\",\"_rid\":\"x\",\"_self\":\"y\",\"_etag\":\"z\",\"_ts\":1}]");
  EXPECT_EQ(run({":memory:", ".import " + cosmos + " c", ".export c -"}).output, "{\"id\":\"7\"}\n");
  const std::string mongo = write(
      "mongo.json", "{\"_id\":{\"$oid\":\"507f1f77bcf86cd799439011\"},\"n\":{\"$numberLong\":\"5\"}}\n");
  EXPECT_EQ(run({":memory:", ".import " + mongo + " c --extended-json", ".export c -"}).output,
            "{\"id\":\"507f1f77bcf86cd799439011\",\"n\":5}\n");
}

TEST_F(ShellTest, ADryRunChangesNothing) {
  const std::string books = write("books.ndjson", kBooks);
  const ShellRun run = this->run({":memory:", ".import " + books + " b --dry-run", ".containers"});
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(run.errors, "3 items would be imported\n");
}

TEST_F(ShellTest, ACutPackedFileIsAnError) {
  const std::string books = write("books.ndjson", kBooks);
  ASSERT_EQ(run({":memory:", ".import " + books + " b", ".export b " + path("b.jsonl.gz")}).exit_code, 0);
  const std::string packed = read("b.jsonl.gz");
  const std::string cut = write("cut.gz", packed.substr(0, packed.size() / 2));
  EXPECT_NE(run({":memory:", ".import " + cut + " c"}).errors.find("cut short"), std::string::npos);
}

TEST_F(ShellTest, DescribesContainersAndPartitions) {
  const std::string books = write("books.ndjson", kBooks);
  const ShellRun described =
      run({":memory:", ".import " + books + " b --partition-key /shelf", ".describe b", ".partitions b"});
  EXPECT_EQ(described.exit_code, 0) << described.errors;
  EXPECT_NE(described.output.find(
                "{\"path\":\"pages\",\"types\":\"integer\",\"present %\":66.7,\"example\":\"210\"}"),
            std::string::npos)
      << described.output;
  EXPECT_NE(described.output.find("{\"partition\":\"[\\\"a\\\"]\",\"items\":2"), std::string::npos)
      << described.output;
}

TEST_F(ShellTest, TellsOfFunctionsStatusAndVersion) {
  EXPECT_NE(run({":memory:", ".functions starts"}).output.find("STARTSWITH("), std::string::npos);
  EXPECT_EQ(run({":memory:", ".functions nosuch"}).exit_code, 1);
  EXPECT_NE(run({path("s.quire"), ".status"}).output.find("\"containers\":0"), std::string::npos);
  EXPECT_NE(run({"--version"}).output.find("commit"), std::string::npos);
}

TEST_F(ShellTest, ShowsPlansAndFigures) {
  const ShellRun run = this->run({":memory:", ".explain on", ".stats on", ".timer on", "SELECT VALUE 42"});
  EXPECT_TRUE(run.output.ends_with("42\n") && run.output.size() > 3) << run.output;
  EXPECT_NE(run.errors.find("1 rows"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find(" s\n"), std::string::npos) << run.errors;
}

TEST_F(ShellTest, EditsTheLastStatement) {
  setenv("EDITOR", "sed -i s/40/50/", 1);
  unsetenv("VISUAL");
  EXPECT_EQ(run({":memory:", "SELECT VALUE 40 + 2", ".edit"}).output, "42\nSELECT VALUE 50 + 2\n52\n");
  unsetenv("EDITOR");
}

// Reads the table as a user does: by .help. Each command has to refuse more words than any takes.
TEST_F(ShellTest, EveryCommandRefusesTooManyWords) {
  std::istringstream help(run({":memory:", ".help"}).output);
  int commands = 0;
  for (std::string line; std::getline(help, line) && line.starts_with('.');) {
    const std::string name = line.substr(0, line.find(' '));
    if (name == ".create") continue;  // takes the rest of the line as JSON
    ++commands;
    const ShellRun run = this->run({":memory:", name + " zz1 zz2 zz3 zz4 zz5"});
    EXPECT_NE(run.exit_code, 0) << name;
    EXPECT_TRUE(run.errors.starts_with("error: ")) << name << ": " << run.errors;
  }
  EXPECT_GT(commands, 20);
}

TEST_F(ShellTest, WrongArgumentsOfEachCommandSayWhatIsRight) {
  for (const char* command : {".backup",
                              ".create",
                              ".describe",
                              ".explain",
                              ".explain x",
                              ".export c",
                              ".export c f --format x",
                              ".generate readings",
                              ".generate x c",
                              ".generate readings c many",
                              ".import f c --lines 5",
                              ".import - c --lines x",
                              ".import f c --format x",
                              ".mode csv x",
                              ".once",
                              ".pager",
                              ".partitions",
                              ".read",
                              ".stats maybe",
                              ".timer",
                              ".width",
                              ".width -1",
                              ".width wide",
                              ".status now",
                              ".version x"}) {
    const ShellRun run = this->run({":memory:", command});
    EXPECT_EQ(run.exit_code, 2) << command << run.errors;
    EXPECT_TRUE(run.errors.starts_with("error: .")) << command << ": " << run.errors;
    EXPECT_NE(run.errors.find("\nusage: ."), std::string::npos) << command << ": " << run.errors;
  }
}

}  // namespace
}  // namespace quire::test
