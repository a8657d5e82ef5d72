// A database for a test, seen through quire.hpp alone: in memory, or in a folder that goes with the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "quire/quire.hpp"

namespace quire::tests {

template <typename T>
testing::AssertionResult succeeds(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result.error().name() << ": " << result.error().message;
}

// Fails with this code, and a message that says `part`.
template <typename T>
testing::AssertionResult fails_with(const Result<T>& result, int code, std::string_view part = {}) {
  if (result) return testing::AssertionFailure() << "it succeeded";
  const Error& error = result.error();
  if (error.code == code && error.message.contains(part) && !error.message.empty())
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << error.name() << ": " << error.message;
}

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() { reopen(":memory:"); }

  void reopen(const std::string& path, const Options& options = {}) {
    database_.reset();
    auto opened = Database::open(path, options);
    ASSERT_TRUE(succeeds(opened));
    database_.emplace(std::move(*opened));
  }

  // A file that is gone after the test.
  std::string file(std::string_view name) {
    if (folder_.path.empty()) {
      std::string path = (std::filesystem::temp_directory_path() / "quire-api-XXXXXX").string();
      EXPECT_NE(mkdtemp(path.data()), nullptr);
      folder_.path = path;
    }
    return (folder_.path / name).string();
  }

  // Makes a container with a partition key, or with none, and opens it.
  Container make(std::string_view name, std::string_view path = "") {
    std::string definition = R"({"id":")" + std::string(name) + '"';
    if (!path.empty()) definition += R"(,"partitionKey":{"paths":[")" + std::string(path) + R"("]})";
    EXPECT_TRUE(succeeds(database_->create_container(definition + "}")));
    return std::move(database_->container(name).value());
  }

  // The rows as JSON, one a line, or the error.
  static std::string rows(Statement& statement) {
    std::string text;
    for (const Value row : statement.rows()) text += row.to_json().value() + '\n';
    if (statement.error()) return std::string(statement.error()->name()) + ": " + statement.error()->message;
    return text;
  }
  static std::string rows(Result<Statement> statement) {
    if (!statement) return std::string(statement.error().name()) + ": " + statement.error().message;
    return rows(*statement);
  }
  std::string query(std::string_view sql) { return rows(database_->prepare(sql)); }

 private:
  struct Folder {
    ~Folder() {
      std::error_code ignored;
      if (!path.empty()) std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
  };
  Folder folder_;

 protected:
  std::optional<Database> database_;
};

}  // namespace quire::tests
