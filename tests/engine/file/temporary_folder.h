// A folder that a test may fill, removed at its end, and short ways to say what a result should be.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "sql/error.h"

namespace quire::engine {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "quire-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

template <typename T>
testing::AssertionResult succeeds(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << error_code_row(result.error().code).name << ": "
                                     << result.error().message;
}

template <typename T>
testing::AssertionResult fails_with(const Result<T>& result, ErrorCode code, std::string_view part = {}) {
  if (result) return testing::AssertionFailure() << "it succeeded";
  const Error& error = result.error();
  if (error.code == code && error.message.contains(part)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << error_code_row(error.code).name << ": " << error.message;
}

// The value of a result that must be there.
template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

}  // namespace quire::engine
