// The dot-commands, the output modes, and files of every format in and out.
#include <algorithm>
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

// A folder opens, and fails to be read.
TEST_F(ShellTest, AScriptThatCannotBeReadIsAnError) {
  const ShellRun run = this->run({":memory:", ".read " + folder_.string(), "SELECT VALUE 1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(run.errors, "error: cannot read the script to its end: Is a directory\n");
}

TEST_F(ShellTest, ADumpMakesEverythingAnew) {
  const std::string books = write("books.ndjson", kBooks);
  ASSERT_EQ(
      run({path("a.quire"), ".import " + books + " books --partition-key /shelf",
           ".create {\"id\": \"odd name's\", \"defaultTtl\": 60}", ".import " + books + " \"odd name's\"",
           ".generate orders orders 300", "CREATE INDEX totals ON orders (total DESC, id)",
           "CREATE UNIQUE INDEX titles ON books (title)",
           "ALTER CONTAINER books WITH {indexingPolicy: {includedPaths: [{path: '/pages/?'}], excludedPaths: "
           "[{path: '/*'}]}}"})
          .exit_code,
      0);
  const std::string dump = run({path("a.quire"), ".dump"}).output;
  ASSERT_EQ(run({path("b.quire")}, dump).exit_code, 0);
  EXPECT_EQ(run({path("b.quire"), ".dump"}).output, dump);
  for (const std::string command : {".containers", ".indexes", ".describe books",
                                    "EXPLAIN SELECT * FROM books b WHERE b.title = 'Tide Tables'",
                                    "SELECT VALUE b.id FROM books b WHERE b.title = 'Tide Tables'",
                                    "SELECT VALUE b.id FROM books b WHERE b.pages > 100",
                                    "SELECT TOP 20 o.id, o.total FROM orders o ORDER BY o.total DESC, o.id"})
    EXPECT_EQ(run({path("b.quire"), command}).output, run({path("a.quire"), command}).output) << command;
  EXPECT_NE(run({path("b.quire"), "INSERT INTO books VALUES {id: '9', shelf: 'z', title: 'Tide Tables'}"})
                .errors.find("is taken"),
            std::string::npos);
  EXPECT_NE(run({path("b.quire"), ".indexes"}).output.find("totals"), std::string::npos);
}

// Items stay when their container gets a time to live that refuses the `ttl` that they have.
TEST_F(ShellTest, ADumpLoadsWhereItemsHaveATtlThatIsRefusedNow) {
  ASSERT_EQ(
      run({path("a.quire"), "CREATE CONTAINER records",
           "INSERT INTO records VALUES {id: '1', ttl: 'an hour'}, {id: '2', ttl: 0}, {id: '3', ttl: -1}",
           "ALTER CONTAINER records WITH {defaultTtl: 3600, computedProperties: []}"})
          .exit_code,
      0);
  const ShellRun dump = run({path("a.quire"), ".dump"});
  EXPECT_EQ(dump.exit_code, 0) << dump.errors;
  const ShellRun loaded = run({path("b.quire")}, dump.output);
  EXPECT_EQ(loaded.exit_code, 0) << loaded.errors;
  EXPECT_EQ(run({path("b.quire"), ".dump"}).output, dump.output);
  EXPECT_NE(run({path("b.quire"), ".describe records"}).output.find("3600"), std::string::npos);
}

TEST_F(ShellTest, IndexesAreListedWithTheirConditions) {
  EXPECT_EQ(run({":memory:", "CREATE CONTAINER c", "CREATE INDEX some ON c (n) WHERE c.n > 1",
                 "CREATE INDEX every ON c (m)", ".indexes"})
                .output,
            "{\"container\":\"c\",\"index\":\"some\",\"paths\":\"/n\",\"where\":\"c.n > 1\",\"unique\":false,"
            "\"by\":\"CREATE INDEX\"}\n"
            "{\"container\":\"c\",\"index\":\"every\",\"paths\":\"/m\",\"where\":null,\"unique\":false,"
            "\"by\":\"CREATE INDEX\"}\n");
}

TEST_F(ShellTest, CompositeIndexesAreListedAsTheyAreMade) {
  EXPECT_EQ(run({":memory:",
                 R"(CREATE CONTAINER c WITH {indexingPolicy: {includedPaths: [{path: '/*'}], compositeIndexes:
                    [[{path: '/a'}, {path: '/b', "order": 'Descending'}], [{path: '/a'}, {path: '/l/[]/n'}]]}})",
                 ".mode csv", ".indexes"})
                .output,
            "container,index,paths,where,unique,by\nc,included,/*,null,false,indexingPolicy\n"
            "c,composite,\"/a, /b DESC\",null,false,indexingPolicy\n");
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
  EXPECT_NE(errors("id,a\n1,2,3\n").find("line 2 has 3 cells, the header only 2"), std::string::npos);
  EXPECT_NE(errors("id,a.b,a.b\n1,2,3\n").find("column 3 of the header, 'a.b'"), std::string::npos);
  EXPECT_NE(errors("a\n5\n").find("line 2: "), std::string::npos);
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
  const ShellRun other = this->run({":memory:", ".import " + books + " b --partition-key /shelf",
                                    ".import " + books + " b --dry-run --partition-key /title"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.errors.find("exists with the partition key /shelf"), std::string::npos) << other.errors;
}

TEST_F(ShellTest, ImportsInBatches) {
  std::string items;
  for (int i = 0; i < 250; ++i) items += "{\"id\":\"" + std::to_string(i) + "\"}\n";
  const std::string good = write("good.ndjson", items);
  EXPECT_EQ(run({":memory:", ".import " + good + " c --batch 100", "SELECT VALUE COUNT(1) FROM c"}).output,
            "250\n");
  const std::string bad = write("bad.ndjson", items + "{\"id\":7}\n{\"id\":\"x\"}\n");
  const ShellRun stopped = run({path("b.quire"), ".import " + bad + " c --batch 100"});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_NE(stopped.errors.find("200 items of the batches before"), std::string::npos) << stopped.errors;
  EXPECT_NE(stopped.errors.find("line 251"), std::string::npos) << stopped.errors;
  EXPECT_EQ(run({path("b.quire"), "SELECT VALUE COUNT(1) FROM c"}).output, "200\n");
  const ShellRun skipped = run({path("b.quire"), ".import " + bad + " c --batch 100 --upsert --skip-errors",
                                "SELECT VALUE COUNT(1) FROM c"});
  EXPECT_EQ(skipped.output, "251\n");
  EXPECT_NE(skipped.errors.find("skipped line 251"), std::string::npos) << skipped.errors;
  const std::string array = write("array.json", " [{\"id\":\"1\"}]");
  EXPECT_NE(run({":memory:", ".import " + array + " c --batch 10"}).errors.find("JSON array"),
            std::string::npos);
  EXPECT_EQ(run({":memory:", ".import " + write("empty.ndjson", "") + " c --batch 10"}).exit_code, 0);
}

TEST_F(ShellTest, AColumnMayBeNamedAsDeepAsItemsAre) {
  std::string name = "a";
  for (int i = 0; i < 200'000; ++i) name += ".a";
  const std::string file = write("deep.csv", "id," + name + "\n1,2\n");
  const ShellRun deep = run({":memory:", ".import " + file + " c"});
  EXPECT_EQ(deep.exit_code, 1) << deep.errors;
  EXPECT_NE(deep.errors.find("128 levels"), std::string::npos) << deep.errors.substr(0, 400);
  EXPECT_EQ(run({":memory:", ".import " + write("flat.csv", "id,a.b.c\n1,2\n") + " c",
                 "SELECT VALUE c.a.b.c FROM c"})
                .exit_code,
            0);
}

TEST_F(ShellTest, RecoversADamagedFile) {
  ASSERT_EQ(run({path("d.quire"), ".generate readings r 5000"}).exit_code, 0);
  std::string bytes = read("d.quire");
  bytes.replace(0, 8192, 8192, '\0');
  write("d.quire", bytes);
  EXPECT_EQ(run({path("d.quire"), "SELECT 1"}).exit_code, 1);
  const ShellRun recovered = run({":memory:", ".recover " + path("d.quire") + " " + path("new.quire")});
  EXPECT_EQ(recovered.exit_code, 0) << recovered.errors;
  EXPECT_NE(recovered.output.find("\"salvaged\":5000"), std::string::npos) << recovered.output;
  EXPECT_EQ(run({"--untrusted", path("new.quire"), ".check"}).output, "no fault found\n");
  EXPECT_EQ(run({":memory:", ".recover " + path("d.quire") + " " + path("new.quire")}).exit_code, 1);
}

TEST_F(ShellTest, CompactsTheFileThatIsOpen) {
  ASSERT_EQ(run({path("c.quire"), ".generate readings r 20000", "DELETE FROM r WHERE r.id > '1'"}).exit_code,
            0);
  const ShellRun compacted =
      run({path("c.quire"), ".compact", "SELECT VALUE COUNT(1) FROM r", "INSERT INTO r VALUES {id: 'new'}"});
  EXPECT_EQ(compacted.exit_code, 0) << compacted.errors;
  EXPECT_NE(compacted.errors.find(" bytes before, "), std::string::npos) << compacted.errors;
  EXPECT_EQ(run({":memory:", ".compact"}).exit_code, 1);
  EXPECT_EQ(run({"--read-only", path("c.quire"), ".compact"}).exit_code, 1);
}

TEST_F(ShellTest, PartitionsAreToldApartByWhatTheirKeysLack) {
  const std::string sizes =
      run({":memory:", "CREATE CONTAINER h PARTITION KEY (/a, /b)",
           "INSERT INTO h VALUES {id: '1', a: 1}, {id: '2', b: 1}, {id: '3'}", ".partitions h"})
          .output;
  for (const char* const key :
       {"\"[1,{}]\",\"items\":1", "\"[{},1]\",\"items\":1", "\"[{},{}]\",\"items\":1"})
    EXPECT_NE(sizes.find(key), std::string::npos) << sizes;
}

TEST_F(ShellTest, CompactingKeepsWhatPragmasHaveSetAndRefusesWithinBegin) {
  EXPECT_EQ(run({path("s.quire"), "CREATE CONTAINER s", "PRAGMA strict = on", "PRAGMA statement_time = 777",
                 "PRAGMA result_size = 5000", ".compact", "PRAGMA strict", "PRAGMA statement_time",
                 "PRAGMA result_size", "PRAGMA durability"})
                .output,
            "true\n777\n5000\ntrue\n777\n5000\n\"full\"\n");
  const ShellRun within = run({path("s.quire")}, "BEGIN;\nINSERT INTO s VALUES {id: '1'};\n.compact\n");
  EXPECT_NE(within.errors.find("cannot be compacted within BEGIN"), std::string::npos) << within.errors;
}

TEST_F(ShellTest, AdvisesInWordsOrInRows) {
  std::string posts;
  for (int i = 0; i < 30; ++i) {
    posts += "{\"id\":\"p" + std::to_string(i) + "\",\"comments\":[";
    for (int c = 0; c < 10 + i * 20; ++c)
      posts += std::string(c == 0 ? "" : ",") + "{\"at\":\"2024-01-" + (c / 30 < 9 ? "0" : "") +
               std::to_string(c / 30 + 1) + "\",\"text\":\"comment\"}";
    posts += "]}\n";
  }
  const std::string import = ".import " + write("posts.ndjson", posts) + " posts";
  const ShellRun words = run({":memory:", import, ".advise posts"});
  EXPECT_EQ(words.exit_code, 0) << words.errors;
  for (const char* part : {"posts: all 30 items were read", "1 to change", "growing_array  /comments", "█",
                           "see {\"id\":\"p29\"", "to do: make each element"})
    EXPECT_NE(words.output.find(part), std::string::npos) << part << words.output;
  EXPECT_NE(run({"--mode", "jsonl", ":memory:", import, ".advise posts"})
                .output.find("\"finding\":\"growing_array\""),
            std::string::npos);
  EXPECT_NE(run({":memory:", ".import " + write("books.ndjson", kBooks) + " b", ".advise b"})
                .output.find("nothing to change"),
            std::string::npos);
}

TEST_F(ShellTest, WhatTheShellAsksForItselfIsNoQueryOfTheUser) {
  const auto advised = [&](std::vector<std::string> commands) {
    commands.insert(commands.begin(),
                    {"--mode", "jsonl", ":memory:", ".import " + write("books.ndjson", kBooks) + " b"});
    commands.push_back("ADVISE b");
    return run(commands).output;
  };
  EXPECT_NE(
      advised({".describe b", ".partitions b", ".dump", ".export b " + path("out.csv"), ".use b", ".use",
               ".import " + write("more.ndjson", "{\"id\":\"9\",\"shelf\":\"a\"}\n") + " b", ".containers"})
          .find("\"queryRuns\":0"),
      std::string::npos);
  EXPECT_NE(advised({"SELECT VALUE b.id FROM b"}).find("\"queryRuns\":1"), std::string::npos);
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
  EXPECT_NE(described.output.find(
                "{\"partitions\":2,\"items in the mean\":1.5,\"largest\":\"[\\\"a\\\"]\",\"its items\":2"),
            std::string::npos)
      << described.output;
  EXPECT_NE(described.output.find("{\"partition\":\"[\\\"a\\\"]\",\"items\":2"), std::string::npos)
      << described.output;
}

TEST_F(ShellTest, TellsOfFunctionsStatusAndVersion) {
  EXPECT_NE(run({":memory:", ".functions starts"}).output.find("STARTSWITH("), std::string::npos);
  EXPECT_EQ(run({":memory:", ".functions nosuch"}).exit_code, 1);
  const std::string status = run({path("s.quire"), ".status"}).output;
  for (const char* part : {"\"containers\":0", "\"fileBytes\":", "\"readers\":0,\"oldestReader\":null}"})
    EXPECT_NE(status.find(part), std::string::npos) << part << status;
  const std::string version = run({"--version"}).output;
  for (const char* part : {"(commit ", "LMDB ", "simdjson ", "libedit ", "zstd "})
    EXPECT_NE(version.find(part), std::string::npos) << part << version;
  EXPECT_EQ(run({":memory:", ".version"}).output, version);
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

// What .help says that a command needs, it needs.
TEST_F(ShellTest, EveryCommandRefusesMissingAndWrongWords) {
  std::istringstream help(run({":memory:", ".help"}).output);
  int missing = 0, wrong = 0;
  for (std::string line; std::getline(help, line) && line.starts_with('.');) {
    const std::string name = line.substr(0, line.find(' '));
    const std::string arguments = line.substr(name.size(), 45);
    const bool needs_words = arguments.size() > 1 && arguments[1] != ' ' && arguments[1] != '[';
    if (needs_words) {
      ++missing;
      const ShellRun run = this->run({":memory:", name});
      EXPECT_EQ(run.exit_code, 2) << name << run.errors;
      EXPECT_NE(run.errors.find("\nusage: " + name), std::string::npos) << name << ": " << run.errors;
    }
    const bool takes_switch = arguments.starts_with(" on|off");
    const bool takes_container = arguments.starts_with(" CONTAINER") || arguments.starts_with(" [CONTAINER]");
    if (!takes_switch && !takes_container) continue;
    ++wrong;
    const std::string file = name == ".export" ? " " + path("out.csv") : "";
    const ShellRun run = this->run({":memory:", name + " nosuch" + file});
    EXPECT_EQ(run.exit_code, takes_switch ? 2 : 1) << name << run.errors;
    EXPECT_TRUE(run.errors.starts_with("error: ")) << name << ": " << run.errors;
    EXPECT_NE(run.errors.find(takes_switch ? "on or off" : "nosuch"), std::string::npos)
        << name << ": " << run.errors;
  }
  EXPECT_GT(missing, 12);
  EXPECT_GT(wrong, 8);
}

TEST_F(ShellTest, FeedShowsChangesAndGoesOnFromItsToken) {
  const std::string file = path("f.quire");
  const std::string books = write("books.ndjson", kBooks);
  ASSERT_EQ(run({file, ".import " + books + " b --partition-key /shelf"}).exit_code, 0);
  ShellRun run = this->run({file, "UPDATE b SET b.pages = 1 WHERE b.id = '1'", ".feed b"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(std::ranges::count(run.output, '\n'), 3) << run.output;
  EXPECT_LT(run.output.find("Tide Tables"), run.output.find("Night Trains")) << "updated last";
  EXPECT_NE(run.output.find("\"_lsn\":4}"), std::string::npos) << run.output;
  const std::string told = "the feed goes on with --token ";
  const size_t at = run.errors.find(told);
  ASSERT_NE(at, std::string::npos) << run.errors;
  const std::string token = run.errors.substr(at + told.size(), 112);
  run = this->run({file, ".feed b --token " + token, "INSERT INTO b VALUES {id: '9', shelf: 'z'}",
                   ".feed b --token " + token});
  EXPECT_EQ(std::ranges::count(run.output, '\n'), 1) << run.output;
  EXPECT_TRUE(run.output.starts_with("{\"id\":\"9\",\"shelf\":\"z\",")) << run.output;
  run = this->run({file, ".feed b --token " + token.substr(1) + "0"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("the feed token"), std::string::npos) << run.errors;
  run = this->run({file, ".feed b --all-versions"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.errors.find("changeFeedPolicy"), std::string::npos) << run.errors;
  EXPECT_EQ(this->run({file, ".feed nothing"}).exit_code, 1);
}

TEST_F(ShellTest, FeedFollowsAnotherProcessUntilCtrlC) {
  const std::string file = path("f.quire");
  ASSERT_EQ(run({file, "CREATE CONTAINER b"}).exit_code, 0);
  const std::string shell = QUIRE_SHELL;
  const std::string follow = "'" + shell + "' '" + file + "' '.feed b --now --follow' >'" + path("followed") +
                             "' 2>'" + path("told") + "' & pid=$!; ";
  // Insert until it is seen: the follower may take its time to start.
  const std::string insert = "for i in $(seq 200); do '" + shell + "' '" + file +
                             "' \"INSERT INTO b VALUES {id: '$i'}\"; grep -q id '" + path("followed") +
                             "' && break; sleep 0.05; done; ";
  EXPECT_EQ(WEXITSTATUS(std::system((follow + insert + "kill -INT $pid; wait $pid").c_str())), 0);
  EXPECT_TRUE(read("followed").starts_with("{\"id\":\"")) << read("followed");
  EXPECT_NE(read("told").find("--token "), std::string::npos) << read("told");
}

TEST_F(ShellTest, WrongArgumentsOfEachCommandSayWhatIsRight) {
  const char* const kWrong[] = {".backup",
                                ".create",
                                ".describe",
                                ".explain",
                                ".explain x",
                                ".export c",
                                ".export c f --format x",
                                ".feed",
                                ".feed c d",
                                ".feed c --token",
                                ".feed c --now --token x",
                                ".feed c --forever",
                                ".generate readings",
                                ".generate x c",
                                ".generate readings c many",
                                ".import f c --lines 5",
                                ".import - c --lines x",
                                ".import f c --format x",
                                ".import f c --batch",
                                ".import f c --batch 0",
                                ".import f c --batch few",
                                ".advise",
                                ".advise a b",
                                ".compact now",
                                ".indexes a b",
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
                                ".version x",
                                ".check a b",
                                ".containers x",
                                ".dump 'a",
                                ".edit x",
                                ".functions a b",
                                ".help a b",
                                ".open",
                                ".output a b",
                                ".param set",
                                ".param set @x",
                                ".param forget",
                                ".quit now",
                                ".recover",
                                ".recover a",
                                ".recover a b c",
                                ".script",
                                ".script store f",
                                ".script load",
                                ".script load f c --kind x",
                                ".scripts a b",
                                ".use a b"};
  for (const std::string command : kWrong) {
    const ShellRun run = this->run({":memory:", command});
    EXPECT_EQ(run.exit_code, 2) << command << run.errors;
    EXPECT_TRUE(run.errors.starts_with("error: .")) << command << ": " << run.errors;
    EXPECT_NE(run.errors.find("\nusage: ."), std::string::npos) << command << ": " << run.errors;
  }
  // A command that has come since has its wrong uses above, too.
  std::istringstream help(run({":memory:", ".help"}).output);
  for (std::string line; std::getline(help, line) && line.starts_with('.');) {
    const std::string name = line.substr(0, line.find(' '));
    EXPECT_TRUE(std::ranges::any_of(kWrong, [&](std::string_view wrong) {
      return wrong.substr(0, wrong.find(' ')) == name;
    })) << name;
  }
}

}  // namespace
}  // namespace quire::test
