// CSV and TSV at their edges: what cannot come back as it went is an error or is told, and never lost.
#include "tests/shell/shell_fixture.h"

namespace quire::test {
namespace {

class DelimitedTest : public ShellTest {
 protected:
  ShellRun import(const std::string& text, const std::string& options = "") const {
    return run({":memory:", ".import " + write("in.csv", text) + " c " + options, ".export c -"});
  }
};

TEST_F(DelimitedTest, AQuoteThatIsNotClosedIsAnError) {
  const ShellRun cut = import("id,a\n1,x\n2,\"y\n3,z\n4,w\n");
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_NE(cut.errors.find("the record on line 3 has a quoted cell without a closing quote"),
            std::string::npos)
      << cut.errors;
  EXPECT_EQ(import("id,\"a\n1,x\n").exit_code, 1);
  const ShellRun behind = import("id,a\n\"1\",\"x\"y\n2,\"z\" \n");
  EXPECT_EQ(behind.exit_code, 1);
  EXPECT_NE(behind.errors.find("line 2 has text behind the closing quote of cell 2"), std::string::npos)
      << behind.errors;
  EXPECT_EQ(import("id,a\n\"1\",\"x\"y\n2,z\n", "--skip-errors").output, "{\"id\":\"2\",\"a\":\"z\"}\n");
  EXPECT_EQ(import("id,\"a\"b\n1,2\n").exit_code, 1);
  EXPECT_EQ(import("id,a\n1,\"x\"").output, "{\"id\":\"1\",\"a\":\"x\"}\n");
}

// Each byte is read once: from the start of the record at each block of the file, these would take minutes.
TEST_F(DelimitedTest, AQuoteThatIsNotClosedTakesNoLongerThanTheFile) {
  const ShellRun cut = import("id,a\n1,\"" + std::string(size_t{48} << 20, 'x'));
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_NE(cut.errors.find("the record on line 2 has a quoted cell without a closing quote"),
            std::string::npos);
  const ShellRun longer = import("id,a\n1,\"" + std::string(size_t{65} << 20, 'x'));
  EXPECT_EQ(longer.exit_code, 1);
  EXPECT_NE(longer.errors.find("line 2 begins a record that is longer than 67108864 bytes"),
            std::string::npos)
      << longer.errors;
}

// Each name is looked up: in a walk over those before it, these would take minutes.
TEST_F(DelimitedTest, AHeaderOfManyColumnsTakesNoLongerThanItIs) {
  std::string header = "id", row = "1";
  for (int i = 0; i < 300'000; ++i) {
    header += ",c" + std::to_string(i);
    row += i == 299'999 ? ",5" : ",";
  }
  EXPECT_EQ(import(header + "\n" + row + "\n").output, "{\"id\":\"1\",\"c299999\":5}\n");
  const ShellRun twice = import(header + ",c7\n" + row + ",\n");
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_NE(twice.errors.find("column 300002 of the header, 'c7', is there already"), std::string::npos)
      << twice.errors;
}

// A doubled quote, an end of line, an end of record: wherever a block of the file ends.
TEST_F(DelimitedTest, RecordsMayLieAcrossBlocks) {
  constexpr size_t kBlock = size_t{1} << 18;
  const std::string start = "id,a\r\n1,";
  const std::string rest = "\r\n2,\"x\"\"y\r\nz\"\r\n3,\"\"\r\n4,\"5\"";
  for (size_t within = 0; within <= rest.size(); ++within) {
    const std::string file = write("in.csv", start + std::string(kBlock - start.size() - within, 'f') + rest);
    const ShellRun run =
        this->run({":memory:", ".import " + file + " c", "SELECT VALUE c.a FROM c WHERE c.id != '1'"});
    EXPECT_EQ(run.output, "\"x\\\"y\\r\\nz\"\n\"\"\n\"5\"\n") << within << run.errors;
  }
}

TEST_F(DelimitedTest, AByteOrderMarkComesBeforeQuotes) {
  EXPECT_EQ(import("\xEF\xBB\xBF\"id\",a\n1,2\n").output, "{\"id\":\"1\",\"a\":2}\n");
  const std::string array = write("array.json", "\xEF\xBB\xBF[{\"id\":\"1\"}]");
  EXPECT_NE(run({":memory:", ".import " + array + " c --batch 10"}).errors.find("--batch counts lines"),
            std::string::npos);
}

TEST_F(DelimitedTest, LinesThatEndInACarriageReturnAloneAreNoHeader) {
  const ShellRun run = import("id,a\r1,2\r2,3\r");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("its lines end with a carriage return alone"), std::string::npos) << run.errors;
  EXPECT_EQ(import("id,\"a\rb\"\r\n1,2\r\n").output, "{\"id\":\"1\",\"a\\rb\":2}\n");
}

TEST_F(DelimitedTest, Utf16IsCalledByItsName) {
  using namespace std::string_literals;
  const std::string little = "i\0d\0\n\0001\0\n\0"s;
  for (const std::string& text : {little, "\xFF\xFE" + little, "\xFE\xFF\0i\0d\0\n\0001\0\n"s}) {
    const ShellRun run = import(text);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.errors.find("it is UTF-16, not UTF-8"), std::string::npos) << run.errors;
  }
}

TEST_F(DelimitedTest, WhatIsNoTextIsCalledByItsName) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string_view> files[] = {{"BZh91AY&SY"s, "packed by bzip2"},
                                                            {"\xFD"
                                                             "7zXZ\0"s,
                                                             "packed by xz"},
                                                            {"PK\x03\x04\x14"s, "a zip file"},
                                                            {std::string(4096, '\0'), "begins with zeros"}};
  for (const auto& [text, what] : files) {
    const ShellRun run = import(text);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.errors.find(what), std::string::npos) << run.errors;
  }
  EXPECT_EQ(import("BZh,id\n1,2\n").output, "{\"BZh\":1,\"id\":\"2\"}\n");
}

TEST_F(DelimitedTest, AColumnWhoseNameIsEmptyIsInQuotes) {
  const std::string item = "{\"id\":\"1\",\"\":5}\n";
  const std::string file = write("items.ndjson", item);
  const ShellRun there = run({":memory:", ".import " + file + " c", ".export c " + path("out.csv"),
                              ".import " + path("out.csv") + " d", ".export d -"});
  EXPECT_EQ(there.output, item) << there.errors;
}

// As data frames are written, whose numbers of rows have none.
TEST_F(DelimitedTest, AColumnWithoutANameIsCalledByItsPlace) {
  EXPECT_EQ(import(",id,a\n0,x,3\n1,y,4\n").output,
            "{\"column1\":0,\"id\":\"x\",\"a\":3}\n{\"column1\":1,\"id\":\"y\",\"a\":4}\n");
  EXPECT_EQ(import("id,a,\n1,2,\n").output, "{\"id\":\"1\",\"a\":2}\n");
  EXPECT_NE(import("id,column3,\n1,2,3\n").errors.find("column 3 of the header, 'column3', is there already"),
            std::string::npos);
}

TEST_F(DelimitedTest, AWholeNumberKeepsItsDigits) {
  EXPECT_EQ(import("id,a\n1,12345678901234567890\n2,-12345678901234567890\n3,9223372036854775807\n").output,
            "{\"id\":\"1\",\"a\":\"12345678901234567890\"}\n{\"id\":\"2\",\"a\":\"-12345678901234567890\"}\n"
            "{\"id\":\"3\",\"a\":9223372036854775807}\n");
  // As a double is written, which an export may have done.
  EXPECT_EQ(import("id,a\n1,100000000000000000000\n2,18446744073709552000\n").output,
            "{\"id\":\"1\",\"a\":100000000000000000000}\n{\"id\":\"2\",\"a\":18446744073709552000}\n");
}

TEST_F(DelimitedTest, ZerosBehindGzipDataAreNoData) {
  std::filesystem::remove(path("in.csv.gz"));
  ASSERT_EQ(
      run({":memory:", ".import " + write("in.csv", "id,a\n1,2\n") + " c", ".export c " + path("in.csv.gz")})
          .exit_code,
      0);
  const std::string packed = read("in.csv.gz");
  const std::string padded = write("padded.csv.gz", packed + std::string(100'000, '\0'));
  EXPECT_EQ(run({":memory:", ".import " + padded + " c", ".export c -"}).output, "{\"id\":\"1\",\"a\":2}\n");
  EXPECT_NE(run({":memory:", ".import " + write("nothing.csv.gz", "") + " c"}).errors.find("it is empty"),
            std::string::npos);
  const std::string spoilt = write("spoilt.csv.gz", packed + std::string(100, '\0') + "x");
  EXPECT_EQ(run({":memory:", ".import " + spoilt + " c"}).exit_code, 1);
}

TEST_F(DelimitedTest, SkippedRecordsAreToldByTheLinesOfErrors) {
  const std::string bad = "id,a\n1,2\n,3\n4,5,6\n7,8\n";
  EXPECT_NE(import("id,a\n1,2\n,3\n").errors.find("line 3: "), std::string::npos);
  const ShellRun skipped = import(bad, "--skip-errors");
  EXPECT_EQ(skipped.exit_code, 0) << skipped.errors;
  EXPECT_EQ(skipped.output, "{\"id\":\"1\",\"a\":2}\n{\"id\":\"7\",\"a\":8}\n");
  EXPECT_NE(skipped.errors.find("skipped line 3: "), std::string::npos) << skipped.errors;
  EXPECT_NE(skipped.errors.find("skipped line 4: it has 3 cells, the header only 2\n"), std::string::npos)
      << skipped.errors;
  EXPECT_NE(skipped.errors.find("2 items imported, 2 records skipped\n"), std::string::npos)
      << skipped.errors;
  EXPECT_NE(import(bad, "--skip-errors --batch 1").errors.find("2 items imported, 2 records skipped\n"),
            std::string::npos);
}

TEST_F(DelimitedTest, TheBatchesBeforeABadRecordStay) {
  const std::string good = "id,a\n1,\"two\nlines\"\n2,x\n3,y\n4,z\n5,w\n";
  const std::string too_many_cells = "6,v,v\n7,u\n", no_closing_quote = "6,\"v\n";
  for (const std::string& bad : {too_many_cells, no_closing_quote}) {
    std::filesystem::remove(path("a.quire"));
    const ShellRun run =
        this->run({path("a.quire"), ".import " + write("in.csv", good + bad) + " c --batch 2"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.errors.find("items of the batches before were imported"), std::string::npos) << run.errors;
    EXPECT_NE(run.errors.find("line 8"), std::string::npos) << run.errors;
    const std::string kept = this->run({path("a.quire"), "SELECT VALUE c.id FROM c"}).output;
    EXPECT_TRUE(kept.starts_with("\"1\"\n\"2\"\n\"3\"\n")) << kept;
  }
}

// As an editor shows them, whatever cells hold and however many lines are a batch.
TEST_F(DelimitedTest, LinesAreThoseOfTheFile) {
  const std::string twice = "id,a\n1,\"two\nlines\"\n2,x\n\n1,\"\ny\"\n,z\n";
  EXPECT_NE(import(twice).errors.find("line 8: "), std::string::npos);
  EXPECT_NE(import(twice + "3,z,z\n").errors.find("line 9 has 3 cells"), std::string::npos);
  const std::string conflict = twice.substr(0, twice.find(",z"));
  for (const std::string options : {"", "--batch 100"})
    EXPECT_NE(import(conflict, options)
                  .errors.find("line 6: item '1' with partition key [] stands on line 2 already"),
              std::string::npos);
  const ShellRun skipped = import(twice, "--batch 2 --skip-errors");
  EXPECT_NE(skipped.errors.find("skipped line 6: item '1'"), std::string::npos) << skipped.errors;
  EXPECT_NE(skipped.errors.find("skipped line 8: "), std::string::npos) << skipped.errors;
  const std::string lines =
      write("in.ndjson", "{\"id\":\"1\"}\n{\"id\":\"2\"}\n{\"id\":\"3\"}\n{\"id\":\"3\"}\n");
  const ShellRun batches = run({":memory:", ".import " + lines + " c --batch 2"});
  EXPECT_NE(batches.errors.find("line 4, column 1: item '3' with partition key [] stands on line 3 already"),
            std::string::npos)
      << batches.errors;
}

TEST_F(DelimitedTest, AColumnMayBeAValueInSomeRowsAndAnObjectInOthers) {
  const std::string items =
      "{\"id\":\"1\",\"a\":null}\n{\"id\":\"2\",\"a\":{\"b\":1}}\n{\"id\":\"3\",\"a\":{}}\n{\"id\":\"4\","
      "\"a\":5}\n";
  const ShellRun run =
      this->run({":memory:", ".import " + write("in.ndjson", items) + " a", ".export a " + path("a.csv"),
                 ".import " + path("a.csv") + " b", ".export b -"});
  EXPECT_EQ(run.output, items) << run.errors;
  const ShellRun both = import("id,a.b,a\n1,2,\n2,3,4\n");
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_NE(both.errors.find("line 3 has a value in 'a' and in a column below it"), std::string::npos)
      << both.errors;
  EXPECT_EQ(import("id,a.b,a\n1,2,\n2,3,4\n3,,4\n", "--skip-errors").output,
            "{\"id\":\"1\",\"a\":{\"b\":2}}\n{\"id\":\"3\",\"a\":4}\n");
}

TEST_F(DelimitedTest, TwoValuesForAColumnAreAnErrorRatherThanOneLost) {
  const std::string items = write("in.ndjson", "{\"id\":\"1\"}\n{\"id\":\"x\",\"a.b\":1,\"a\":{\"b\":2}}\n");
  const ShellRun run = this->run({":memory:", ".import " + items + " a", ".export a " + path("a.csv")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("row 2 (id 'x') has two values for the column 'a.b'"), std::string::npos)
      << run.errors;
}

TEST_F(DelimitedTest, WhatIsLargerThanANumberIsAString) {
  const ShellRun run =
      this->run({":memory:", ".import " + write("h.csv", "id,hash\n1,7e12345\n2,7e12\n") + " c",
                 "SELECT VALUE c.hash FROM c"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(run.output, "\"7e12345\"\n7000000000000\n");
}

TEST_F(DelimitedTest, AScalarThatComesLateHasItsColumn) {
  // By their ids p999 comes last.
  const std::string query = "SELECT VALUE p.id = 'p999' ? 7 : {n: 1} FROM p ORDER BY p.id";
  const ShellRun run = this->run(
      {":memory:", ".generate people p 1100", ".export p - --format csv --query \"" + query + "\""});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_TRUE(run.output.starts_with("n,value\n1,\n")) << run.output.substr(0, 40);
}

TEST_F(DelimitedTest, NamesOfColumnsStayCellsInMarkdown) {
  EXPECT_EQ(run({"--mode", "markdown", ":memory:", "SELECT VALUE {\"a|b\": 1, \"c\\nd\": 2}"}).output,
            "| a\\|b | c<br>d |\n| --- | --- |\n| 1 | 2 |\n");
}

TEST_F(ShellTest, AScriptThatIsCutShortLoadsNothingOfWhatIsCut) {
  const ShellRun cut = run({path("a.quire")}, ".import - c --lines 3\n{\"id\":\"1\"}\n{\"id\":\"2\"}\n");
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_NE(cut.errors.find("only 2 of the 3 lines"), std::string::npos) << cut.errors;
  EXPECT_EQ(run({path("a.quire"), ".containers"}).output, "");
  EXPECT_EQ(run({":memory:"}, ".import - c --lines 2\n{\"id\":\"1\"}\n{\"id\":\"2\"}").exit_code, 0);
  EXPECT_EQ(run({":memory:"}, ".import - c --lines 1\n").exit_code, 1);
}

}  // namespace
}  // namespace quire::test
