// The program `quire` as its users meet it: arguments, scripts, files, exit codes, standard error.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct ShellRun {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

class ShellTest : public testing::Test {
 protected:
  ShellTest() {
    std::string name = (std::filesystem::temp_directory_path() / "quire-shell-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ShellTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  // Runs the program with `input` on its standard input.
  ShellRun run(const std::vector<std::string>& arguments, const std::string& input = "") const {
    const std::string in = write("stdin", input);
    std::string command = std::string("'") + QUIRE_SHELL + "'";
    for (const std::string& argument : arguments) command += " '" + argument + "'";
    command += " <'" + in + "' >'" + path("stdout") + "' 2>'" + path("stderr") + "'";
    ShellRun run;
    run.exit_code = WEXITSTATUS(std::system(command.c_str()));
    run.output = read("stdout");
    run.errors = read("stderr");
    return run;
  }

  std::filesystem::path folder_;
};

constexpr const char* kBooks =
    "{\"id\":\"1\",\"shelf\":\"a\",\"title\":\"Night Trains\",\"pages\":210}\n"
    "{\"id\":\"2\",\"shelf\":\"a\",\"title\":\"Вогонь і сад\",\"pages\":90}\n"
    "{\"id\":\"3\",\"shelf\":\"b\",\"title\":\"Tide Tables\"}\n";

TEST_F(ShellTest, ImportsAndAnswers) {
  const std::string books = write("books.ndjson", kBooks);
  const ShellRun run = this->run({path("b.quire"), ".import " + books + " books --partition-key /shelf",
                                  "SELECT VALUE COUNT(1) FROM books b WHERE b.shelf = \"a\"", ".use books",
                                  "SELECT VALUE c.title FROM c WHERE c.pages < 100"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(run.output, "2\n\"Вогонь і сад\"\n");
  EXPECT_EQ(run.errors, "3 items imported\n");
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
      this->run({}, "SELECT VALUE 1;\nSELECT VALUE\n  [2,\n\n  3]\n\n.mode json\nSELECT VALUE 4");
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(run.output, "1\n[2,3]\n4\n");
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
            "title         pages  \n"
            "------------  -----  \n"
            "Night Trains    210\n"
            "Вогонь і сад     90\n");
}

TEST_F(ShellTest, WrongCommandsSayWhatIsRight) {
  for (const char* command : {".import", ".import x", ".nope", ".mode blue", ".timer maybe", ".use a b",
                              ".quit now", ".param set p 1", ".param drop", ".import a b --colour red",
                              ".export a", ".open", ".help .nope", ".import 'a b"}) {
    const ShellRun run = this->run(
        {":memory:", std::string(command).find('\'') == std::string::npos ? command : ".import \"a b"});
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

}  // namespace
