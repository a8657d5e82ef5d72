// Standard output and standard error that take no more, files that may not grow, and Ctrl-C: what was done is
// told or the exit code tells.
#include <utility>

#include "tests/shell/shell_fixture.h"

namespace quire::test {
namespace {

class StreamsTest : public ShellTest {
 protected:
  // The exit code of a command of a shell of the system, in which $Q is the program.
  int shell(const std::string& command) const {
    const std::string whole =
        std::string("Q='") + QUIRE_SHELL + "'; cd '" + folder_.string() + "'; " + command;
    const int status = std::system(whole.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(StreamsTest, StandardErrorThatTakesNothingEndsNothing) {
  write("bad.csv", "id\n1\n2,3\n");
  const std::pair<std::string, int> kFailures[] = {
      {"'SELECT nope'", 1}, {"'.nope'", 2}, {"'.mode blue'", 2}, {"'.import bad.csv c'", 1}};
  for (const auto& [command, exit_code] : kFailures)
    EXPECT_EQ(shell("\"$Q\" :memory: " + command + " 2>/dev/full"), exit_code) << command;
  EXPECT_EQ(shell("\"$Q\" :memory: '.generate people p 10' '.stats on' '.timer on' 'SELECT 1' '.export p f' "
                  "'.feed p' >out 2>/dev/full"),
            0);
  EXPECT_EQ(shell("echo 'SELECT nope;' | \"$Q\" 2>/dev/full"), 1);
}

TEST_F(StreamsTest, TextThatCannotBeWrittenFailsAsRowsDo) {
  for (const std::string command : {".help", ".help .import", ".mode", ".version", ".check", ".param list",
                                    ".containers", ".functions"}) {
    EXPECT_EQ(
        shell("\"$Q\" :memory: 'CREATE CONTAINER c' '.param set @p 1' '" + command + "' >/dev/full 2>errors"),
        1)
        << command;
    EXPECT_EQ(read("errors"), "error: cannot write the output: No space left on device\n") << command;
  }
}

TEST_F(StreamsTest, AFileThatMayNotGrowFailsWithAMessage) {
  EXPECT_EQ(shell("ulimit -f 2000; \"$Q\" a.quire '.generate people p 40000' 2>errors"), 1);
  EXPECT_TRUE(read("errors").starts_with("error: ")) << read("errors");
  EXPECT_EQ(shell("\"$Q\" b.quire '.generate people p 9000' 2>errors"), 0) << read("errors");
  EXPECT_EQ(shell("ulimit -f 500; \"$Q\" b.quire '.export p f.jsonl' 2>errors"), 1);
  EXPECT_NE(read("errors").find("cannot write 'f.jsonl': File too large"), std::string::npos)
      << read("errors");
}

TEST_F(StreamsTest, AnInterruptedImportTellsWhatStays) {
  shell("\"$Q\" :memory: '.generate people p 60000' '.export p p.ndjson' 2>/dev/null");
  // When it begins to write depends on the machine.
  for (const char* delay : {"0.05", "0.1", "0.2", "0.3", "0.5", "0.8", "1.2"}) {
    const int code = shell("rm -f a.quire*; \"$Q\" a.quire '.import p.ndjson c' 2>errors & pid=$!; sleep " +
                           std::string(delay) + "; kill -INT $pid 2>/dev/null; wait $pid");
    const std::string errors = read("errors");
    if (code != 1) continue;  // the signal came late, or before anything ran
    EXPECT_TRUE(errors.starts_with("error: the import was interrupted")) << errors;
    const size_t at = errors.find("; ");
    const std::string written =
        at == std::string::npos ? "" : errors.substr(at + 2, errors.find(' ', at + 2) - at - 2);
    const ShellRun count = run({path("a.quire"), "SELECT VALUE COUNT(1) FROM c"});
    EXPECT_EQ(count.output, written.empty() ? "" : written + "\n") << errors;
    if (!written.empty()) return;
  }
}

// What the pipe cannot hold is with the reader, which then waits for more.
TEST_F(StreamsTest, AnImportThatWaitsForAPipeIsInterrupted) {
  EXPECT_EQ(
      shell(
          "mkfifo in; (head -c 100000 /dev/zero | tr '\\0' ' '; touch taken; exec sleep 20) >in & writer=$!; "
          "\"$Q\" a.quire '.import in c' 2>errors & pid=$!; until [ -e taken ]; do sleep 0.01; done; "
          "kill -INT $pid; wait $pid; code=$?; kill $writer; exit $code"),
      1);
  EXPECT_EQ(read("errors"), "error: the import was interrupted\n");
}

TEST_F(StreamsTest, ARecoveryThatIsEndedLeavesNoFileOfTheNameThatWasGiven) {
  ASSERT_EQ(shell("\"$Q\" a.quire '.generate people p 20000' 2>/dev/null"), 0);
  for (const std::string delay : {"0.02", "0.05", "0.1", "0.2", "5"}) {
    shell(
        "rm -f new.quire*; \"$Q\" :memory: '.recover a.quire new.quire' >/dev/null 2>&1 & pid=$!; "
        "(sleep " +
        delay + "; kill -INT $pid) 2>/dev/null & wait $pid; kill $! 2>/dev/null");
    if (!std::filesystem::exists(path("new.quire"))) continue;
    EXPECT_EQ(run({path("new.quire"), "SELECT VALUE COUNT(1) FROM p"}).output, "20000\n") << delay;
    EXPECT_EQ(shell("rm new.quire new.quire-lock; ls new.quire* 2>/dev/null"), 2)
        << "whole, and nothing beside it";
    return;
  }
  FAIL() << "recovered in no time";
}

}  // namespace
}  // namespace quire::test
