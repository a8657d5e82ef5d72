// The program `quire` as its users meet it: arguments, scripts, files, exit codes, standard error.
#include "tests/shell/shell_fixture.h"

namespace quire::test {
namespace {

TEST_F(ShellTest, ImportsAndAnswers) {
  const std::string books = write("books.ndjson", kBooks);
  const ShellRun run = this->run({path("b.quire"), ".import " + books + " books --partition-key /shelf",
                                  "SELECT VALUE COUNT(1) FROM books b WHERE b.shelf = \"a\"", ".use books",
                                  "SELECT VALUE c.title FROM c WHERE c.pages < 100"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(run.output, "2\n\"Вогонь і сад\"\n");
  EXPECT_EQ(run.errors, "3 items imported\n");
}

TEST_F(ShellTest, ACommandIsNoFile) {
  const ShellRun run = this->run({".help"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(run.errors,
            "error: '.help' is a command: the file comes before it, as in `quire my.quire .help`\n");
}

TEST_F(ShellTest, KeepsWhatItImported) {
  const std::string books = write("books.ndjson", kBooks);
  EXPECT_EQ(run({path("b.quire"), ".import " + books + " books"}).exit_code, 0);
  EXPECT_EQ(run({path("b.quire"), "SELECT VALUE COUNT(1) FROM books"}).output, "3\n");
}

TEST_F(ShellTest, ImportsFromStandardInput) {
  const ShellRun run = this->run({path("b.quire"), ".import - books", "SELECT VALUE COUNT(1) FROM books"},
                                 "[{\"id\":\"1\"}, {\"id\":\"2\"}]");
  EXPECT_EQ(run.output, "2\n") << run.errors;
}

TEST_F(ShellTest, ExportsWhatItImported) {
  const std::string books = write("books.ndjson", kBooks);
  EXPECT_EQ(run({":memory:", ".import " + books + " books", ".export books " + path("out.ndjson")}).exit_code,
            0);
  EXPECT_EQ(read("out.ndjson"), kBooks);
}

TEST_F(ShellTest, ImportsThatBeginAtOnceShareTheContainerThatOneMakes) {
  const std::string import =
      ".import " + write("books.ndjson", kBooks) + " books --partition-key /shelf --upsert";
  const std::string all = "for i in 1 2 3 4 5 6 7 8; do '" QUIRE_SHELL "' '" + path("a.quire") + "' '" +
                          import + "' 2>>'" + path("errors") +
                          "' & all=\"$all $!\"; done; for i in $all; do wait $i || exit 1; done";
  EXPECT_EQ(WEXITSTATUS(std::system(all.c_str())), 0) << read("errors");
  EXPECT_EQ(run({path("a.quire"), "SELECT VALUE COUNT(1) FROM books b"}).output, "3\n");
}

TEST_F(ShellTest, FailedImportLoadsNothingAndNamesTheLine) {
  const std::string bad = write("bad.ndjson", "{\"id\":\"1\"}\n{\"id\":\"2\",}\n");
  const ShellRun run = this->run({path("b.quire"), ".import " + bad + " books"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("line 2, column"), std::string::npos) << run.errors;
  EXPECT_EQ(this->run({path("b.quire"), ".containers"}).output, "");
}

TEST_F(ShellTest, SkipsBadLinesWhenAsked) {
  const std::string bad =
      write("bad.ndjson", "{\"id\":\"1\"}\n{\"id\":\"2\",}\n\n{\"id\":\"3\"}\n{\"x\":4}\n");
  const ShellRun run =
      this->run({":memory:", ".import " + bad + " books --skip-errors", "SELECT VALUE COUNT(1) FROM books"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "2\n");
  EXPECT_NE(run.errors.find("skipped line 2"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("2 items imported, 2 lines skipped"), std::string::npos) << run.errors;
}

TEST_F(ShellTest, RunsAScript) {
  const ShellRun run =
      this->run({}, "SELECT VALUE 1;\nSELECT VALUE\n  [2,\n\n  3]\n\n.mode jsonl\nSELECT VALUE 4");
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(run.output, "1\n[2,3]\n4\n");
}

TEST_F(ShellTest, AScriptMayBeginWithAByteOrderMark) {
  const std::string script = "\xEF\xBB\xBF.create {\"id\":\"c\"}\n.containers\n";
  const std::string containers = "{\"id\":\"c\",\"itemCount\":0,\"bytes\":0}\n";
  EXPECT_EQ(run({}, script).output, containers);
  EXPECT_EQ(run({":memory:", ".read " + write("script.sql", script)}).output, containers);
  EXPECT_EQ(run({}, "\xEF\xBB\xBFSELECT VALUE 1").output, "1\n");
}

TEST_F(ShellTest, ScriptStopsAtAnErrorAndNamesItsLine) {
  const ShellRun run = this->run({}, "SELECT VALUE 1;\n\nSELECT VALUE nope;\nSELECT VALUE 2;\n");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.output, "1\n");
  EXPECT_NE(run.errors.find("line 3 of the script"), std::string::npos) << run.errors;
}

TEST_F(ShellTest, PointsAtTheErrorWithACaret) {
  const ShellRun run = this->run({":memory:", "SELECT VALUE\n  LENGHT(1)"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("line 2, column 3"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("    LENGHT(1)\n    ^\n"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("LENGTH"), std::string::npos) << run.errors;
}

TEST_F(ShellTest, BindsParameters) {
  const ShellRun run =
      this->run({":memory:", ".param set @p {\"a\": [1, \"x y\"]}", "SELECT VALUE @p.a[1]", ".param list"});
  EXPECT_EQ(run.output, "\"x y\"\n@p {\"a\": [1, \"x y\"]}\n") << run.errors;
  EXPECT_EQ(this->run({":memory:", ".param set @p {", "SELECT VALUE @p"}).exit_code, 1);
}

TEST_F(ShellTest, ShowsTables) {
  const std::string books = write("books.ndjson", kBooks);
  const ShellRun run = this->run({":memory:", ".import " + books + " books", ".mode table",
                                  "SELECT b.title, b.pages FROM books b WHERE b.id < \"3\""});
  EXPECT_EQ(run.output,
            "title         pages\n"
            "------------  -----\n"
            "Night Trains    210\n"
            "Вогонь і сад     90\n");
}

TEST_F(ShellTest, WrongCommandsSayWhatIsRight) {
  for (const char* command : {".import", ".import x", ".nope", ".mode blue", ".timer maybe", ".use a b",
                              ".quit now", ".param set p 1", ".param drop", ".import a b --colour red",
                              ".export a", ".open", ".help .nope", ".import 'a b"}) {
    const ShellRun run = this->run({":memory:", command});
    EXPECT_EQ(run.exit_code, 2) << command << run.errors;
    EXPECT_TRUE(run.errors.starts_with("error: ")) << command << ": " << run.errors;
  }
}

TEST_F(ShellTest, ExitCodesTellWhatHappened) {
  EXPECT_EQ(run({":memory:", "SELECT VALUE 1"}).exit_code, 0);
  EXPECT_EQ(run({":memory:", "SELECT VALUE"}).exit_code, 1);
  EXPECT_EQ(run({path("missing/b.quire"), "SELECT VALUE 1"}).exit_code, 1);
  EXPECT_EQ(run({"--no-such-option"}).exit_code, 2);
  EXPECT_EQ(run({"--version"}).exit_code, 0);
  EXPECT_EQ(run({"--help"}).exit_code, 0);
}

TEST_F(ShellTest, RefusesAFileThatIsNotADatabase) {
  const std::string text = write("text.quire", std::string(10'000, 'x'));
  const ShellRun run = this->run({text, "SELECT VALUE 1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("not a Quire file"), std::string::npos) << run.errors;
  EXPECT_EQ(read("text.quire"), std::string(10'000, 'x'));
}

TEST_F(ShellTest, StrictModeRefusesWhatAzureRefuses) {
  EXPECT_EQ(run({":memory:", "SELECT VALUE CASE WHEN true THEN 1 END"}).exit_code, 0);
  EXPECT_EQ(run({"--strict", ":memory:", "SELECT VALUE CASE WHEN true THEN 1 END"}).exit_code, 1);
}

TEST_F(ShellTest, TakesStatementsOnOneLine) {
  EXPECT_EQ(run({":memory:", "SELECT VALUE 1; SELECT VALUE ';' -- ;\n; /* ; */ SELECT VALUE 3;"}).output,
            "1\n\";\"\n3\n");
  EXPECT_EQ(run({}, "SELECT VALUE 1; SELECT VALUE 2\n").output, "1\n2\n");
  EXPECT_EQ(run({":memory:", " ; ;"}).exit_code, 0);
}

TEST_F(ShellTest, APropertyMayBeginALineOfAScript) {
  EXPECT_EQ(run({}, "SELECT VALUE {a: {mode: 5}}\n.a\n.mode\n").errors.find("there is no command"),
            std::string::npos);
  EXPECT_EQ(run({}, "SELECT VALUE 1\n.mode json\nSELECT VALUE [2]\n").output, "1\n[\n  2\n]\n");
}

TEST_F(ShellTest, NamesTheCommandThatOtherShellsCallOtherwise) {
  EXPECT_TRUE(run({}, ".tables\n").errors.contains("there is no command .tables; did you mean .containers?"));
  EXPECT_TRUE(run({}, ".nothing\n").errors.contains("there is no command .nothing; .help lists them"));
}

TEST_F(ShellTest, AnErrorInAnArgumentCountsItsLines) {
  const ShellRun run = this->run({":memory:", "SELECT VALUE 1;\nSELECT VALUE\n  nope"});
  EXPECT_EQ(run.output, "1\n");
  EXPECT_TRUE(run.errors.starts_with("error: line 3, column 3: ")) << run.errors;
}

TEST_F(ShellTest, ALongStatementIsReadInLinearTime) {
  std::string script = "SELECT VALUE [\n";
  for (int i = 0; i < 100'000; ++i) script += "1,\n";
  const ShellRun run = this->run({}, script + "1];\n");
  EXPECT_EQ(run.exit_code, 0) << run.errors.substr(0, 200);
}

TEST_F(ShellTest, ADataFileInsteadOfAScriptIsAnError) {
  const ShellRun run = this->run({}, kBooks);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("expected SELECT"), std::string::npos) << run.errors;
}

// It would be read until the memory is full.
TEST_F(ShellTest, AnEndlessLineInsteadOfAScriptIsAnError) {
  const ShellRun endless = run({":memory:", ".read /dev/zero"});
  EXPECT_EQ(endless.exit_code, 1);
  EXPECT_NE(endless.errors.find("at most 524288 are allowed"), std::string::npos)
      << endless.errors.substr(0, 200);
}

TEST_F(ShellTest, SaysWhenTheOutputCannotBeWritten) {
  const std::string command =
      std::string("'") + QUIRE_SHELL + "' :memory: 'SELECT VALUE 1' >/dev/full 2>'" + path("stderr") + "'";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_NE(read("stderr").find("cannot write the output: No space left"), std::string::npos);
}

TEST_F(ShellTest, SaysWhenItsVersionAndItsHelpCannotBeWritten) {
  for (const std::string flag : {"--version", "--help"}) {
    const std::string command =
        std::string("'") + QUIRE_SHELL + "' " + flag + " >/dev/full 2>'" + path("stderr") + "'";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << flag;
    EXPECT_NE(read("stderr").find("error: cannot write the output: No space left"), std::string::npos)
        << flag;
    EXPECT_EQ(run({flag}).exit_code, 0);
  }
}

TEST_F(ShellTest, FoldsWideCellsAndListsManyColumns) {
  setenv("COLUMNS", "40", 1);
  const ShellRun folded =
      run({"--mode", "table", ":memory:", "SELECT 12345 AS n, 'the quick brown fox jumps over it' AS t"});
  EXPECT_EQ(folded.output,
            "    n  t\n"
            "-----  ---------------------------------\n"
            "12345  the quick brown fox jumps over it\n");
  const ShellRun narrow =
      run({"--mode", "table",
           ":memory:", "SELECT 12345 AS n, 'the quick brown fox jumps over the lazy dog' AS t"});
  EXPECT_EQ(narrow.output,
            "    n  t\n"
            "-----  ---------------------------------\n"
            "12345  the quick brown fox jumps over\n"
            "       the lazy dog\n");
  const ShellRun list =
      run({"--mode", "table", ":memory:",
           "SELECT 'aaaaaaaaaa' AS a, 'bbbbbbbbbb' AS b, 'cccccccccc' AS c, 'dddddddddd' AS d, "
           "'日本語日本語' AS e"});
  EXPECT_EQ(list.output, "a  aaaaaaaaaa\nb  bbbbbbbbbb\nc  cccccccccc\nd  dddddddddd\ne  日本語日本語\n");
  unsetenv("COLUMNS");
}

TEST_F(ShellTest, ControlCharactersDoNotReachTheTerminalInATable) {
  EXPECT_EQ(run({"--mode", "table", ":memory:", "SELECT \"a\\u001b[2Jb\" AS x"}).output,
            "x\n------\na [2Jb\n");
}

TEST_F(ShellTest, AnotherPartitionKeyForAContainerIsAnError) {
  const std::string books = write("books.ndjson", kBooks);
  const std::string import = ".import " + books + " books --partition-key /shelf";
  ASSERT_EQ(run({path("b.quire"), import}).exit_code, 0);
  const ShellRun other = run({path("b.quire"), ".import " + books + " books --partition-key /title"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.errors.find("the partition key /shelf"), std::string::npos) << other.errors;
  EXPECT_EQ(run({path("b.quire"), import + " --upsert"}).exit_code, 0);
}

TEST_F(ShellTest, NamesTheFileThatCannotBeReadOrWritten) {
  EXPECT_NE(run({":memory:", ".import " + folder_.string() + " c"}).errors.find("Is a directory"),
            std::string::npos);
  EXPECT_NE(run({":memory:", ".import /nowhere/x c"}).errors.find("cannot read '/nowhere/x'"),
            std::string::npos);
  const std::string books = write("books.ndjson", kBooks);
  const ShellRun run = this->run({":memory:", ".import " + books + " c", ".export c /nowhere/x"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("cannot write '/nowhere/x'"), std::string::npos) << run.errors;
}

TEST_F(ShellTest, ExportsToWhatIsNoRegularFileWriteToIt) {
  // More than is handed over to be written at once, so that the failure is told while there is more.
  constexpr size_t kItems = 5'000, kNote = 200;
  std::string lines;
  for (size_t i = 0; i < kItems; ++i)
    lines += R"({"id":")" + std::to_string(i) + R"(","note":")" + std::string(kNote, 'x') + "\"}\n";
  const std::string items = write("items.ndjson", lines);
  const auto exported = [&](const std::string& to) {
    return run({":memory:", ".import " + items + " c", ".export c " + to});
  };
  if (std::filesystem::is_character_file("/dev/full")) {
    // Through a link, so that what fails to tell a device from a file replaces the link alone.
    std::filesystem::create_symlink("/dev/full", path("full"));
    const ShellRun full = exported(path("full"));
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_NE(full.errors.find("No space left"), std::string::npos) << full.errors;
    EXPECT_TRUE(std::filesystem::is_symlink(path("full")));
  }
  write("target.ndjson", "old");
  std::filesystem::create_symlink(path("target.ndjson"), path("link.ndjson"));
  EXPECT_EQ(exported(path("link.ndjson")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.ndjson")));
  EXPECT_EQ(std::filesystem::file_size(path("target.ndjson")), lines.size());
  std::filesystem::create_symlink("new.ndjson", path("dangling.ndjson"));
  EXPECT_EQ(exported(path("dangling.ndjson")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("dangling.ndjson")));
  EXPECT_EQ(std::filesystem::file_size(path("new.ndjson")), lines.size());
  std::filesystem::create_symlink(path("circle"), path("circle"));
  EXPECT_EQ(exported(path("circle")).exit_code, 1);
  EXPECT_TRUE(std::filesystem::is_symlink(path("circle")));
}

TEST_F(ShellTest, FailingToOpenAnotherDatabaseKeepsTheFirst) {
  const std::string books = write("books.ndjson", kBooks);
  ASSERT_EQ(run({path("b.quire"), ".import " + books + " books"}).exit_code, 0);
  EXPECT_EQ(run({path("b.quire"), ".open " + path("none/b.quire")}).exit_code, 1);
  EXPECT_EQ(run({":memory:", ".open " + path("b.quire"), "SELECT VALUE COUNT(1) FROM books"}).output, "3\n");
}

}  // namespace
}  // namespace quire::test
