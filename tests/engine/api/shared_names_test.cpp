// Several handles of one container in a process: one from before its definition was changed, one from after
// it, one of another database that is open on the same file. What each writes, the others know, from the
// moment that it is written until it is taken back.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

constexpr std::string_view kWithIndexes = R"(, "indexingPolicy": {"includedPaths": [{"path": "/*"}]})";

class SharedNamesTest : public DatabaseTest {
 protected:
  // All of them have read what the file holds.
  void make_handles(std::string_view more = "") {
    reopen(file("a.quire"), {.durability = Durability::none});
    auto opened = Database::open(file("a.quire"));
    ASSERT_TRUE(succeeds(opened));
    second_database_.emplace(std::move(*opened));
    ASSERT_TRUE(succeeds(database_->create_container(R"({"id":"things")" + std::string(more) + "}")));
    handles_.push_back(std::move(database_->container("things").value()));
    EXPECT_EQ(query("CREATE INDEX first ON things (n)"), "");
    handles_.push_back(std::move(database_->container("things").value()));
    handles_.push_back(std::move(second_database_->container("things").value()));
    for (Container& handle : handles_) ASSERT_TRUE(succeeds(handle.upsert(R"({"id":"0"})")));
  }

  Result<ItemInfo> write(size_t handle, std::string_view json, Transaction& transaction) {
    return handles_[handle].upsert(json, {.transaction = &transaction});
  }
  // Whichever handle reads it.
  void expect_item(std::string_view id, std::string_view json) {
    for (Container& handle : handles_) EXPECT_EQ(handle.read_json({}, id, false).value_or("none"), json);
  }
  void expect_no_fault() { EXPECT_EQ(database_->check().value_or("no check"), "[]"); }

  std::optional<Database> second_database_;
  std::vector<Container> handles_;
};

TEST_F(SharedNamesTest, HandlesWriteNewNamesInOneTransaction) {
  make_handles();
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(transaction));
  // Each knows the container's names as they were before the next writes.
  for (size_t handle : {0u, 1u}) ASSERT_TRUE(succeeds(write(handle, R"({"id":"0"})", *transaction)));
  ASSERT_TRUE(succeeds(write(0, R"({"id":"1","name":"of the first"})", *transaction)));
  ASSERT_TRUE(succeeds(write(1, R"({"id":"2","title":"of the second"})", *transaction)));
  ASSERT_TRUE(succeeds(transaction->commit()));
  expect_item("1", R"({"id":"1","name":"of the first"})");
  expect_item("2", R"({"id":"2","title":"of the second"})");
  expect_no_fault();
}

TEST_F(SharedNamesTest, AStatementSeesWhatAnOlderHandleHasWrittenInItsTransaction) {
  make_handles();
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("UPDATE things t SET t.n = 1 WHERE t.id = 'none'"), "");
  ASSERT_TRUE(succeeds(handles_[0].create(R"({"id":"1","n":{"inner":1}})")));
  EXPECT_EQ(query("UPDATE things t SET t.later = 2 WHERE t.id = '1' RETURNING VALUE t.n"), "{\"inner\":1}\n");
  EXPECT_EQ(query("COMMIT"), "");
  expect_item("1", R"({"id":"1","n":{"inner":1},"later":2})");
  expect_no_fault();
}

TEST_F(SharedNamesTest, NamesThatARollbackTakesBackAreGoneForAllHandles) {
  make_handles();
  {
    auto transaction = database_->begin_transaction();
    ASSERT_TRUE(succeeds(transaction));
    ASSERT_TRUE(succeeds(write(0, R"({"id":"1","undone":1})", *transaction)));
    ASSERT_TRUE(succeeds(write(1, R"({"id":"2","undone":2})", *transaction)));
  }
  for (size_t handle = 0; handle < handles_.size(); ++handle) {
    const std::string id = std::to_string(handle);
    ASSERT_TRUE(succeeds(handles_[handle].upsert(R"({"id":")" + id + R"(","of)" + id + R"(":true})")));
    expect_item(id, R"({"id":")" + id + R"(","of)" + id + R"(":true})");
  }
  expect_no_fault();
}

TEST_F(SharedNamesTest, ThreadsWriteNewNamesByAllHandlesAtOnce) {
  make_handles();
  constexpr int kItems = 150;
  const auto json_of = [](size_t handle, int i) {
    const std::string id = std::to_string(handle) + "-" + std::to_string(i);
    return std::pair(id, R"({"id":")" + id + R"(","name )" + id + R"(":")" + id + R"("})");
  };
  {
    std::vector<std::jthread> threads;
    for (size_t handle = 0; handle < handles_.size(); ++handle)
      threads.emplace_back([&, handle] {
        for (int i = 0; i < kItems; ++i)
          EXPECT_TRUE(succeeds(handles_[handle].create(json_of(handle, i).second)));
      });
  }
  for (size_t handle = 0; handle < handles_.size(); ++handle)
    for (int i = 0; i < kItems; ++i) {
      const auto [id, json] = json_of(handle, i);
      ASSERT_EQ(handles_[0].read_json({}, id, false).value_or("none"), json);
    }
  expect_no_fault();
}

TEST_F(SharedNamesTest, NewPathsOfAPolicyGetNumbersOfTheirOwn) {
  make_handles(kWithIndexes);
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(transaction));
  for (size_t handle : {0u, 1u}) ASSERT_TRUE(succeeds(write(handle, R"({"id":"0"})", *transaction)));
  ASSERT_TRUE(succeeds(write(0, R"({"id":"1","a":1})", *transaction)));
  ASSERT_TRUE(succeeds(write(1, R"({"id":"2","b":1})", *transaction)));
  ASSERT_TRUE(succeeds(write(0, R"({"id":"3","c":1})", *transaction)));
  ASSERT_TRUE(succeeds(transaction->commit()));
  for (const auto& [path, id] : {std::pair("a", "1"), std::pair("b", "2"), std::pair("c", "3")})
    EXPECT_EQ(query("SELECT VALUE t.id FROM things t WHERE t." + std::string(path) + " = 1"),
              '"' + std::string(id) + "\"\n");
  expect_no_fault();
}

TEST_F(SharedNamesTest, PathsThatARollbackTakesBackAreGoneForAllHandles) {
  make_handles(kWithIndexes);
  {
    auto transaction = database_->begin_transaction();
    ASSERT_TRUE(succeeds(transaction));
    ASSERT_TRUE(succeeds(write(0, R"({"id":"1","undone":1})", *transaction)));
    ASSERT_TRUE(succeeds(write(1, R"({"id":"2"})", *transaction)));
  }
  ASSERT_TRUE(succeeds(handles_[0].upsert(R"({"id":"1","a":1})")));
  ASSERT_TRUE(succeeds(handles_[1].upsert(R"({"id":"2","b":1,"a":2})")));
  for (const std::string condition : {"t.a = 1", "t.b = 1 AND t.a = 2"})
    EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM things t WHERE " + condition), "1\n");
  expect_no_fault();
}

}  // namespace
}  // namespace quire::tests
