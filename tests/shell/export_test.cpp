// Exports, dumps and redirected rows: which files they take, what they refuse, and that what they write loads
// again.
#include "tests/shell/shell_fixture.h"

namespace quire::test {
namespace {

TEST_F(ShellTest, ExportsNoStatementThatIsNoQuery) {
  const std::string books = ".import " + write("books.ndjson", kBooks) + " b";
  ASSERT_EQ(run({path("b.quire"), books}).exit_code, 0);
  for (const std::string sql :
       {"DELETE FROM b", "UPDATE b SET b.x = 1", "INSERT INTO b VALUES {id: \"9\", shelf: \"a\"}",
        "CREATE CONTAINER d", "-- SELECT\n DELETE FROM b", "EXPLAIN SELECT 1"})
    for (const char* format : {"csv", "jsonl"}) {
      const ShellRun refused = this->run(
          {path("b.quire"), ".export b - --format " + std::string(format) + " --query '" + sql + "'"});
      EXPECT_EQ(refused.exit_code, 1) << sql;
      EXPECT_NE(refused.errors.find("--query takes a SELECT"), std::string::npos) << refused.errors;
    }
  EXPECT_EQ(run({path("b.quire"), ".export b -"}).output, kBooks);
  EXPECT_EQ(
      run({path("b.quire"), ".export b - --query '/* all */ -- of them\n select value 1 FROM b'"}).output,
      "1\n1\n1\n");
}

TEST_F(ShellTest, ExportsAQueryWithParameters) {
  const std::string books = ".import " + write("books.ndjson", kBooks) + " b";
  for (const std::string format : {"jsonl", "tsv"})
    EXPECT_NE(
        run({":memory:", books, ".param set @p 100",
             ".export b - --format " + format + " --query 'SELECT VALUE b.title FROM b WHERE b.pages > @p'"})
            .output.find("Night Trains"),
        std::string::npos)
        << format;
}

TEST_F(ShellTest, WritesNoRowsOverTheOpenDatabase) {
  const std::string file = path("a.quire");
  ASSERT_EQ(run({file, ".import " + write("books.ndjson", kBooks) + " b"}).exit_code, 0);
  std::filesystem::create_symlink(file, path("link"));
  for (const std::string command : {".export b ", ".output ", ".once "})
    for (const std::string& name : {file, file + "-lock", path("link"), path("./a.quire")}) {
      const ShellRun run = this->run({file, command + name, "SELECT 1"});
      EXPECT_EQ(run.exit_code, 1) << command << name;
      EXPECT_NE(run.errors.find("is of the open database"), std::string::npos) << run.errors;
    }
  EXPECT_EQ(run({file, "SELECT VALUE COUNT(1) FROM b"}).output, "3\n");
}

TEST_F(ShellTest, AnExportTakesNoFileOfOthersAndKeepsTheMode) {
  const std::string books = ".import " + write("books.ndjson", kBooks) + " b";
  write("x.json.part", "mine");
  write("x.json", "old");
  using std::filesystem::perms;
  std::filesystem::permissions(path("x.json"), perms::owner_read | perms::owner_write);
  ASSERT_EQ(run({":memory:", books, ".export b " + path("x.json")}).exit_code, 0);
  EXPECT_EQ(read("x.json.part"), "mine");
  EXPECT_EQ(std::filesystem::status(path("x.json")).permissions(), perms::owner_read | perms::owner_write);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    files += entry.path().filename().string().starts_with("x.json") ? 1 : 0;
  EXPECT_EQ(files, 2);
}

TEST_F(ShellTest, AnExportPacksAsTheNameSaysOrRefuses) {
  const std::string books = ".import " + write("books.ndjson", kBooks) + " b";
  for (const std::string name : {"out.csv.bz2", "out.jsonl.xz", "out.zip"}) {
    const ShellRun run = this->run({":memory:", books, ".export b " + path(name)});
    EXPECT_EQ(run.exit_code, 1) << name;
    EXPECT_NE(run.errors.find("would not be packed"), std::string::npos) << run.errors;
    EXPECT_FALSE(std::filesystem::exists(path(name)));
  }
}

TEST_F(ShellTest, CsvTellsOfStringsThatComeBackAsArrays) {
  const std::string items =
      write("in.ndjson", "{\"id\":\"[1]\",\"a\":\"[1,2]\",\"b\":\"[x\",\"c\":[1],\"d\":\"{}\"}\n");
  EXPECT_NE(run({":memory:", ".import " + items + " c", ".export c " + path("c.csv")})
                .errors.find("warning: 2 of the strings are JSON arrays or objects by themselves"),
            std::string::npos);
  EXPECT_EQ(
      run({":memory:", ".import " + items + " c", ".export c " + path("c.json")}).errors.find("warning"),
      std::string::npos);
}

TEST_F(ShellTest, ADumpNamesTheContainerThatItCannotWrite) {
  const ShellRun run =
      this->run({":memory:", ".create {\"id\":\"a\\nb\"}", ".generate people 'a\nb' 3", ".dump"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("the name of the container \"a\\u000ab\" holds a line end"), std::string::npos)
      << run.errors;
}

TEST_F(ShellTest, ColumnsOfErrorsCountFromTheBeginningOfTheLine) {
  EXPECT_NE(run({}, "SELECT 1; SELECT 2; SELEC 3;").errors.find("line 1, column 21"), std::string::npos);
  EXPECT_NE(run({":memory:", "SELECT 'ж'; SELECT 2;\n SELECT 3; SELEC"}).errors.find("line 2, column 12"),
            std::string::npos);
  EXPECT_NE(run({}, "SELECT 1; SELECT\n 2 FRO c;").errors.find("line 2, column 8"), std::string::npos);
}

TEST_F(ShellTest, AnArgumentOfSeveralLinesIsAScript) {
  EXPECT_EQ(run({":memory:", "SELECT VALUE 1\n.mode json\nSELECT VALUE [2]\n\nSELECT VALUE 3"}).output,
            "1\n[\n  2\n]\n3\n");
  const ShellRun failed = run({":memory:", "SELECT VALUE 1;\n.nope\nSELECT VALUE 2"});
  EXPECT_EQ(failed.output, "1\n");
  EXPECT_EQ(failed.exit_code, 2);
}

// Half of it would be another statement: a DELETE of all items.
TEST_F(ShellTest, AnEmptyLineWithinAStatementDoesNotEndIt) {
  const std::string made = "CREATE CONTAINER t; INSERT INTO t VALUES {id: '1'}, {id: '2'}, {id: '3'};\n";
  const std::string deletion = "DELETE FROM t\n\n-- of one\n\nWHERE t.id = '1'";
  for (const std::string end : {"", ";", "\n\nSELECT VALUE t.id FROM t\n\n"}) {
    EXPECT_EQ(run({":memory:", made, deletion + end, "SELECT VALUE COUNT(1) FROM t"}).output,
              end.size() > 1 ? "\"2\"\n\"3\"\n2\n" : "2\n");
    EXPECT_EQ(run({}, made + deletion + end + "\n\nselect VALUE COUNT(1)\n\nFROM t").output,
              end.size() > 1 ? "\"2\"\n\"3\"\n2\n" : "2\n");
  }
  EXPECT_EQ(
      run({},
          made + "INSERT INTO t\n\nSELECT '4' AS id\n\nBEGIN\n\nROLLBACK\n\nSELECT\n\nVALUE COUNT(1) FROM t")
          .output,
      "4\n");
  EXPECT_EQ(run({}, "SELECT VALUE 'a,\n\nb';\n\nSELECT VALUE 1,\n\n2").exit_code, 1);
}

TEST_F(ShellTest, TheModeInsertWritesNamesAsStatementsTakeThem) {
  for (const std::string name : {"odd name", "select", "a-b", "1a", "value", "Books_2", "it's"}) {
    const ShellRun made = run({":memory:", ".mode insert \"" + name + "\"", "SELECT VALUE {id: 'x'}"});
    EXPECT_EQ(made.exit_code, 0) << name << made.errors;
    EXPECT_EQ(run({":memory:", "CREATE CONTAINER \"" + name + "\"", made.output,
                   "SELECT VALUE c.id FROM \"" + name + "\" c"})
                  .output,
              "\"x\"\n")
        << made.output;
  }
  EXPECT_EQ(run({":memory:", ".mode insert Books_2", "SELECT VALUE {a: 1}"}).output,
            "INSERT INTO Books_2 VALUES {\"a\":1};\n");
}

}  // namespace
}  // namespace quire::test
