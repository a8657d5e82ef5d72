// A container of shelves for tests of scripts: authors and their books, told apart by "type", partitioned by
// /authorId.
#pragma once

#include <string>
#include <string_view>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {

class ScriptTest : public DatabaseTest {
 protected:
  ScriptTest() : shelf_(make("shelf", "/authorId")) {
    EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"a1","authorId":"a1","type":"author","name":"Ada"})")));
    EXPECT_TRUE(
        succeeds(shelf_->create(R"({"id":"b1","authorId":"a1","type":"book","title":"Tides","year":2022})")));
    EXPECT_TRUE(
        succeeds(shelf_->create(R"({"id":"b2","authorId":"a1","type":"book","title":"Maps","year":2023})")));
    EXPECT_TRUE(succeeds(shelf_->create(R"({"id":"a2","authorId":"a2","type":"author","name":"Mira"})")));
  }

  // Stores a procedure and runs it in partition a1; its body, or the error.
  Result<ProcedureResult> run(std::string_view body, std::string_view arguments = "[]",
                              std::string_view key = "a1") {
    auto stored = shelf_->create_script(ScriptKind::procedure, "p", body, {.replace = true});
    if (!stored) return std::unexpected(stored.error());
    log_.clear();
    return shelf_->execute("p", key, arguments, nullptr, &log_);
  }
  std::string body_of(std::string_view body, std::string_view arguments = "[]") {
    auto result = run(body, arguments);
    return result ? result->body : std::string(result.error().name()) + ": " + result.error().message;
  }
  // How the shelf looks, so that a test can say that nothing has changed.
  std::string ids() { return query("SELECT VALUE s.id FROM shelf s"); }
  void set(std::string_view pragma, std::string_view value) {
    EXPECT_EQ(query("PRAGMA " + std::string(pragma) + " = " + std::string(value)), std::string(value) + "\n");
  }

  std::optional<Container> shelf_;
  std::string log_;
};

}  // namespace quire::tests
