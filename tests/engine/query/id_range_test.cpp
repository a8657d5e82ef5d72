// Items lie in the order of their ids: a query that wants a range of them, or their order, reads no more, and
// sorts nothing.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "engine/query/prepared_statement.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class IdRangeTest : public testing::Test {
 protected:
  std::shared_ptr<ContainerStore> make(std::string_view name, const std::vector<std::string>& paths) {
    return value_of(containers_.create(value_of(ContainerDefinition::make(name, paths))));
  }
  void add(ContainerStore& store, const std::vector<std::string>& ids, std::string_view more = "") {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      for (const std::string& id : ids)
        QUIRE_TRY(store.create(transaction, fmt::format(R"({{"id":"{}"{}}})", id, more)));
      return {};
    })));
  }
  std::unique_ptr<PreparedStatement> prepare(const std::string& sql) {
    return value_of(PreparedStatement::prepare(containers_, sql, {}));
  }
  std::vector<std::string> ids(PreparedStatement& statement) {
    std::vector<std::string> found;
    statement.reset();
    for (;;) {
      const auto row = value_of(statement.step());
      if (!row) return found;
      found.emplace_back(row->as_string());
    }
  }
  std::vector<std::string> ids(const std::string& sql) { return ids(*prepare(sql)); }
  uint64_t read_by(const std::string& sql) {
    const auto statement = prepare(sql);
    ids(*statement);
    return statement->stats().items_read;
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  OpenContainers containers_{*environment_};
};

// As many letters as a key may tell and more, so that some keys end in hashes.
std::vector<std::string> random_ids(size_t count) {
  std::mt19937_64 random(5);
  std::set<std::string> ids;
  while (ids.size() < count) {
    const size_t lengths[] = {1 + random() % 5, 470 + random() % 40, 495, 511, 1023};
    std::string id(lengths[random() % std::size(lengths)], 'm');
    for (size_t at = id.size() - std::min<size_t>(id.size(), 3); at < id.size(); ++at)
      id[at] = static_cast<char>('k' + random() % 5);
    if (random() % 3 == 0) id[0] = static_cast<char>('k' + random() % 5);
    ids.insert(id);
  }
  std::vector<std::string> all(ids.begin(), ids.end());
  std::ranges::shuffle(all, random);
  return all;
}

TEST_F(IdRangeTest, GivesWhatASortWould) {
  const std::vector<std::string> all = random_ids(600);
  add(*make("plain", {}), all);
  const auto parts = make("parts", {"/pk"});
  add(*parts, all, R"(,"pk":"x")");
  add(*parts, {"a", "m", "z"}, R"(,"pk":"y")");
  std::vector<std::string> sorted = all;
  std::ranges::sort(sorted);
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::string from = all[random() % all.size()], to = all[random() % all.size()].substr(0, 700);
    const bool has_equal = round % 2 == 0, is_reverse = round % 3 == 0;
    std::vector<std::string> wanted;
    for (const std::string& id : sorted)
      if ((has_equal ? id >= from : id > from) && (has_equal ? id <= to : id < to)) wanted.push_back(id);
    if (is_reverse) std::ranges::reverse(wanted);
    const std::string bounds = has_equal ? fmt::format("c.id >= '{}' AND c.id <= '{}'", from, to)
                                         : fmt::format("'{}' < c.id AND c.id < '{}'", from, to);
    const std::string order = is_reverse ? " ORDER BY c.id DESC" : " ORDER BY c.id";
    EXPECT_EQ(ids("SELECT VALUE c.id FROM plain c WHERE " + bounds + order), wanted);
    EXPECT_EQ(ids("SELECT VALUE c.id FROM parts c WHERE c.pk = 'x' AND " + bounds + order), wanted);
    auto unsorted = ids("SELECT VALUE c.id FROM parts c WHERE c.pk = 'x' AND " + bounds);
    std::ranges::sort(unsorted);
    if (is_reverse) std::ranges::reverse(unsorted);
    EXPECT_EQ(unsorted, wanted);
  }
  EXPECT_EQ(ids("SELECT VALUE c.id FROM plain c ORDER BY c.id"), sorted);
  EXPECT_EQ(ids("SELECT VALUE c.id FROM parts c WHERE c.pk = 'y' ORDER BY c.id DESC"),
            (std::vector<std::string>{"z", "m", "a"}));
  std::erase_if(sorted, [](const std::string& id) { return !id.starts_with("mm"); });
  EXPECT_EQ(ids("SELECT VALUE c.id FROM plain c WHERE STARTSWITH(c.id, 'mm') ORDER BY c.id"), sorted);
  EXPECT_EQ(ids("SELECT VALUE c.id FROM parts c WHERE c.id LIKE 'mm%' AND c.pk = 'x' ORDER BY c.id"), sorted);
}

TEST_F(IdRangeTest, ReadsNoMoreThanItGives) {
  std::vector<std::string> all;
  for (int i = 0; i < 2'000; ++i) all.push_back(fmt::format("{:04}", i));
  add(*make("plain", {}), all);
  add(*make("parts", {"/pk"}), all, R"(,"pk":1)");
  EXPECT_EQ(read_by("SELECT VALUE c.id FROM plain c WHERE c.id >= '0100' AND c.id < '0150'"), 50U);
  EXPECT_EQ(read_by("SELECT VALUE c.id FROM parts c WHERE c.pk = 1 AND c.id BETWEEN '0100' AND '0149'"), 50U);
  EXPECT_EQ(read_by("SELECT VALUE c.id FROM parts c WHERE c.pk = 1 AND c.id > '1990' ORDER BY c.id DESC"),
            9U);
  EXPECT_LE(
      read_by(
          "SELECT VALUE c.id FROM parts c WHERE c.pk = 1 AND c.id > '0900' ORDER BY c.id OFFSET 0 LIMIT 9"),
      16U);
  EXPECT_LE(read_by("SELECT TOP 3 VALUE c.id FROM plain c ORDER BY c.id DESC"), 16U);
  // Not where ids are compared with what is no string, which is true of none.
  EXPECT_EQ(ids("SELECT VALUE c.id FROM plain c WHERE c.id > 5"), std::vector<std::string>());
  EXPECT_EQ(ids("SELECT VALUE c.id FROM plain c WHERE c.id >= null"), std::vector<std::string>());
}

TEST_F(IdRangeTest, GoesByTheParametersOfEachRun) {
  add(*make("plain", {}), {"a", "b", "c", "d"});
  const auto statement = prepare("SELECT VALUE c.id FROM plain c WHERE c.id > @from ORDER BY c.id");
  for (const auto& [from, count] : std::initializer_list<std::pair<const char*, size_t>>{
           {"a", 3}, {"", 4}, {"d", 0}, {"bb", 2}, {"a", 3}}) {
    statement->reset();
    ASSERT_TRUE(succeeds(statement->bind("from", sql::Value::string(from))));
    EXPECT_EQ(ids(*statement).size(), count) << from;
  }
}

}  // namespace
}  // namespace quire::engine
