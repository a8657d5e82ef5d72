// Scripts that came with a file from elsewhere run only where they are trusted.
#include <filesystem>

#include "tests/engine/api/database_fixture.h"
#include "tests/engine/api/stored_rows.h"

namespace quire::tests {
namespace {

class TrustTest : public DatabaseTest {
 protected:
  TrustTest() : path_(file("a.quire")) {
    reopen(path_);
    make("shelf", "/p");
    EXPECT_EQ(query("CREATE PROCEDURE answer ON shelf AS $$ function () { __.response.setBody(42); } $$"),
              "");
    EXPECT_EQ(query("CREATE FUNCTION twice ON shelf AS $$ function (x) { return 2 * x; } $$"), "");
    EXPECT_EQ(query("CREATE TRIGGER named PRE ALL ON shelf AS $$ function () {} $$"), "");
    EXPECT_EQ(query("INSERT INTO shelf VALUES {id: '1', p: 'x', n: 4}"), "");
  }
  void SetUp() override {
    if (!machine_is_known()) GTEST_SKIP() << "this machine has no /etc/machine-id";
  }

  // As if its scripts had been stored by another user, or on another machine.
  void move_elsewhere(const std::string& path) {
    database_.reset();
    EXPECT_EQ(change_rows(path, RowsOf::meta, "seal/", [](std::string& seal) { seal[5] ^= 1; }), 3u);
  }

  void expect_refusal(std::string_view sql) {
    const std::string refused = query(sql);
    EXPECT_TRUE(refused.starts_with("forbidden: ")) << refused;
    EXPECT_NE(refused.find("PRAGMA trust_scripts = on"), std::string::npos) << refused;
    EXPECT_NE(refused.find("--trust-scripts"), std::string::npos) << refused;
  }
  void expect_no_script_runs() {
    expect_refusal("EXECUTE answer() ON shelf IN PARTITION 'x'");
    expect_refusal("SELECT VALUE udf.twice(s.n) FROM shelf s");
    expect_refusal("INSERT INTO shelf VALUES {id: '2', p: 'x'} PRE TRIGGER named");
    EXPECT_EQ(query("SELECT VALUE s.n FROM shelf s"), "4\n");
    EXPECT_EQ(query("PRAGMA trust_scripts"), "false\n");
  }
  void expect_all_scripts_run() {
    EXPECT_EQ(query("EXECUTE answer() ON shelf IN PARTITION 'x'"), "42\n");
    EXPECT_EQ(query("SELECT VALUE udf.twice(s.n) FROM shelf s"), "8\n");
    EXPECT_EQ(query("UPSERT INTO shelf VALUES {id: '1', p: 'x', n: 4} PRE TRIGGER named"), "");
  }

  std::string path_;
};

TEST_F(TrustTest, WhatWasStoredHereRunsAfterAReopenToo) {
  EXPECT_EQ(query("PRAGMA trust_scripts"), "true\n");
  reopen(path_);
  expect_all_scripts_run();
  EXPECT_EQ(query("PRAGMA trust_scripts"), "true\n");
  reopen(path_, {.read_only = true});
  EXPECT_EQ(query("SELECT VALUE udf.twice(s.n) FROM shelf s"), "8\n");
}

TEST_F(TrustTest, WhatCameWithTheFileRunsWhereTheOpenSaysSo) {
  move_elsewhere(path_);
  reopen(path_);
  expect_no_script_runs();
  reopen(path_, {.trust_scripts = true});
  expect_all_scripts_run();
  reopen(path_);
  expect_no_script_runs();
}

TEST_F(TrustTest, APragmaTrustsForGoodAndTakesTheTrustBack) {
  move_elsewhere(path_);
  reopen(path_, {.read_only = true});
  EXPECT_TRUE(query("PRAGMA trust_scripts = on").starts_with("read_only: "));
  reopen(path_);
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_TRUE(query("PRAGMA trust_scripts = on").starts_with("misuse: "));
  EXPECT_EQ(query("ROLLBACK"), "");
  expect_no_script_runs();
  EXPECT_EQ(query("PRAGMA trust_scripts = on"), "true\n");
  expect_all_scripts_run();
  reopen(path_);
  expect_all_scripts_run();
  EXPECT_EQ(query("PRAGMA trust_scripts = off"), "false\n");
  expect_no_script_runs();
}

TEST_F(TrustTest, AFileWithoutSealsIsFromElsewhere) {
  database_.reset();
  EXPECT_EQ(change_rows(path_, RowsOf::meta, "seal/", [](std::string& seal) { seal.clear(); }), 3u);
  reopen(path_);
  expect_no_script_runs();
}

// Whoever has had the file has its seals, and cannot make them fit what he writes.
TEST_F(TrustTest, AScriptThatWasChangedUnderItsSealDoesNotRun) {
  database_.reset();
  EXPECT_EQ(change_rows(path_, RowsOf::catalog, "s", [](std::string& script) { script += ' '; }), 3u);
  reopen(path_);
  expect_no_script_runs();
}

TEST_F(TrustTest, AnAlwaysTriggerFromElsewhereRefusesTheWritesThatItWatches) {
  ASSERT_EQ(query("CREATE TRIGGER always POST ALL ON shelf ALWAYS AS $$ function () {} $$"), "");
  database_.reset();
  EXPECT_EQ(change_rows(path_, RowsOf::meta, "seal/", [](std::string& seal) { seal[0] ^= 1; }), 4u);
  reopen(path_);
  expect_refusal("INSERT INTO shelf VALUES {id: '2', p: 'x'}");
  auto shelf = database_->container("shelf");
  ASSERT_TRUE(succeeds(shelf));
  EXPECT_TRUE(fails_with(shelf->create(R"({"id":"2","p":"x"})"), QUIRE_FORBIDDEN, "trigger 'always'"));
  EXPECT_TRUE(fails_with(shelf->execute("answer", "x"), QUIRE_FORBIDDEN, "procedure 'answer'"));
  EXPECT_EQ(query("DROP TRIGGER always ON shelf"), "");
  EXPECT_EQ(query("INSERT INTO shelf VALUES {id: '2', p: 'x'}"), "");
}

TEST_F(TrustTest, AScriptThatIsStoredHereRunsBesideThoseFromElsewhere) {
  move_elsewhere(path_);
  reopen(path_);
  ASSERT_EQ(query("CREATE OR REPLACE FUNCTION twice ON shelf AS $$ function (x) { return x + x; } $$"), "");
  EXPECT_EQ(query("SELECT VALUE udf.twice(s.n) FROM shelf s"), "8\n");
  expect_refusal("EXECUTE answer() ON shelf IN PARTITION 'x'");
  ASSERT_TRUE(succeeds(database_->register_procedure(
      "native", [](ProcedureCall& call, std::string_view) { return call.respond("7"); })));
  EXPECT_EQ(query("EXECUTE native() ON shelf IN PARTITION 'x'"), "7\n");
}

TEST_F(TrustTest, ABackupKeepsTheSealsAndARecoveredFileHasNone) {
  ASSERT_TRUE(succeeds(database_->backup(file("b.quire"))));
  database_.reset();
  ASSERT_TRUE(succeeds(Database::recover(path_, file("c.quire"))));
  reopen(file("b.quire"));
  expect_all_scripts_run();
  reopen(file("c.quire"));
  expect_no_script_runs();
  EXPECT_EQ(query("PRAGMA trust_scripts = on"), "true\n");
  expect_all_scripts_run();
}

TEST_F(TrustTest, SealsGoWithTheirScripts) {
  ASSERT_EQ(query("DROP PROCEDURE answer ON shelf"), "");
  database_.reset();
  EXPECT_EQ(change_rows(path_, RowsOf::meta, "seal/", [](std::string&) {}), 2u);
  reopen(path_);
  ASSERT_EQ(query("DROP CONTAINER shelf"), "");
  database_.reset();
  EXPECT_EQ(change_rows(path_, RowsOf::meta, "seal/", [](std::string&) {}), 0u);
}

}  // namespace
}  // namespace quire::tests
