// Imports: what is loaded, what stops them and leaves nothing behind, what is left out on request.
#include "engine/container/import.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "sql/value/json.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using sql::Value;
using testing::ElementsAre;
using testing::HasSubstr;

class ImportTest : public testing::Test {
 protected:
  void SetUp() override { open(Environment::kInMemory); }

  void open(std::string_view path, const ContainerOptions& container_options = {}) {
    store_.reset();
    environment_ = value_of(Environment::open(path));
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction,
                                                  value_of(ContainerDefinition::make("c", {"/k"})),
                                                  container_options));
      return {};
    })));
  }
  Result<ImportResult> import(const std::string& text) {
    skipped_.clear();
    options_.skipped = [this](uint64_t line, std::string_view message) {
      skipped_.push_back(fmt::format("{}: {}", line, message));
    };
    const auto reader = [&text, done = size_t{0}](char* buffer, size_t capacity) mutable {
      const size_t count = std::min(capacity, text.size() - done);
      std::memcpy(buffer, text.data() + done, count);
      done += count;
      return static_cast<int64_t>(count);
    };
    return import_items(*environment_, *store_, reader, options_);
  }
  // All items as JSON, in key order. What was imported is as sound as what was written by itself.
  std::vector<std::string> items() {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    ItemCursor cursor = value_of(store_->scan(snapshot));
    std::vector<Value> roots(100);
    std::vector<std::string> items;
    while (const size_t filled = value_of(cursor.next(roots)))
      for (size_t i = 0; i < filled; ++i) {
        sql::write_json(roots[i], items.emplace_back());
        EXPECT_TRUE(has_right_checksum(record_of(roots[i]))) << items.back();
      }
    return items;
  }
  uint64_t count() {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    return value_of(store_->statistics(snapshot)).items;
  }

  // The import must fail so, name this place, and load nothing.
  void expect_stop(const std::string& text, ErrorCode code, std::string_view part, uint32_t line,
                   uint32_t column = 1) {
    const uint64_t before = count();
    const auto result = import(text);
    ASSERT_TRUE(fails_with(result, code, part));
    EXPECT_EQ(result.error().position.line, line) << result.error().message;
    EXPECT_EQ(result.error().position.column, column) << result.error().message;
    EXPECT_EQ(count(), before);
  }

  ImportOptions options_;
  std::vector<std::string> skipped_;
  std::unique_ptr<Environment> environment_;
  std::shared_ptr<ContainerStore> store_;
};

// Which of them have one is found out beside the thread that writes.
TEST_F(ImportTest, ItemsKeepTheirTimesToLive) {
  value_of(import(
      "{\"id\":\"a\",\"k\":1,\"ttl\":100}\n{\"id\":\"b\",\"k\":1}\n{\"id\":\"c\",\"k\":1,\"ttl\":null}\n"
      "{\"ttl\":-1,\"id\":\"d\",\"k\":1}\n{\"id\":\"e\",\"k\":1,\"o\":{\"ttl\":5}}"));
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  ItemCursor cursor = value_of(store_->scan(snapshot));
  std::vector<Value> roots(10);
  ASSERT_EQ(value_of(cursor.next(roots)), 5U);
  const auto expiry = [&](size_t item) { return header_of(roots[item]).expiry; };
  EXPECT_EQ(expiry(0), header_of(roots[0]).timestamp + 100);
  EXPECT_EQ(expiry(1), kExpiryOfContainer);
  EXPECT_EQ(expiry(2), kExpiryOfContainer);
  EXPECT_EQ(expiry(3), kNeverExpires);
  EXPECT_EQ(expiry(4), kExpiryOfContainer);
}

TEST_F(ImportTest, LoadsLines) {
  const ImportResult result =
      value_of(import("\xEF\xBB\xBF{\"id\":\"a\",\"k\":1,\"n\":9007199254740993}\r\n\r\n{\"id\":\"b\",\"k\":"
                      "1,\"Ключ\":[{}]}"));
  EXPECT_EQ(result.items, 2u);
  EXPECT_EQ(result.skipped, 0u);
  EXPECT_THAT(items(),
              ElementsAre(R"({"id":"a","k":1,"n":9007199254740993})", R"({"id":"b","k":1,"Ключ":[{}]})"));
}

TEST_F(ImportTest, LoadsAnArray) {
  EXPECT_EQ(value_of(import(" [ {\"id\":\"a\",\"k\":1},\n{\"id\":\"b\",\"k\":\"]\"}\n]\n")).items, 2u);
  EXPECT_EQ(count(), 2u);
}

TEST_F(ImportTest, NothingIsAnImportOfNoItems) {
  for (const char* text : {"", "\n \n", "[]", "\xEF\xBB\xBF"})
    EXPECT_EQ(value_of(import(text)).items, 0u) << text;
}

TEST_F(ImportTest, ManyRunsMergeToTheSameItems) {
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += fmt::format(R"({{"id":"{}","k":{},"name{}":"{}"}})", i * 7919 % 5000, i % 37, i % 50,
                        std::string(i % 200, 'x')) +
            "\n";
  options_.sort_memory = 16 << 10;
  EXPECT_EQ(value_of(import(text)).items, 5000u);
  const std::vector<std::string> merged = items();
  open(Environment::kInMemory);
  options_.sort_memory = size_t{64} << 20;
  EXPECT_EQ(value_of(import(text)).items, 5000u);
  EXPECT_EQ(items(), merged);
}

TEST_F(ImportTest, ABadLineStopsItWithItsPlaceAndLoadsNothing) {
  const std::string good = "{\"id\":\"a\",\"k\":1}\n";
  expect_stop(good + "\n{\"id\":\"é\",\"k\":tru}\n" + good, ErrorCode::invalid_json, "", 3, 15);
  expect_stop(good + "7\n", ErrorCode::invalid_argument, "object", 2);
  expect_stop(good + "{\"k\":1}", ErrorCode::invalid_id, "no \"id\"", 2);
  expect_stop(good + "{\"id\":\"\",\"k\":1}", ErrorCode::invalid_id, "empty", 2);
  expect_stop(good + "{\"id\":7,\"k\":1}", ErrorCode::invalid_id, "string", 2);
  expect_stop(good + "{\"id\":\"" + std::string(1024, 'i') + "\",\"k\":1}", ErrorCode::invalid_id, "1024", 2);
  expect_stop(good + "{\"id\":\"b\",\"k\":{}}", ErrorCode::invalid_partition_key, "'b'", 2);
  expect_stop(good + "{\"id\":\"b\",\"k\":\"\\ud800\"}", ErrorCode::invalid_json, "", 2, 16);
  expect_stop(good + "{\"id\":\"b\",\"k\":\"" + std::string(3000, 'k') + "\"}", ErrorCode::limit_exceeded,
              "2048", 2);
  expect_stop(good + "{\"id\":\"b\",\"a\":\"" + std::string(3 << 20, 'x') + "\"}", ErrorCode::too_large,
              "2097152", 2);
  expect_stop(good + "{\"id\":\"b\",\"a\":\"" + std::string(30 << 20, 'x') + "\"}", ErrorCode::too_large,
              "2097152", 2);
  const auto deep =
      import(good + "{\"id\":\"b\",\"a\":" + std::string(128, '[') + std::string(128, ']') + "}");
  EXPECT_TRUE(fails_with(deep, ErrorCode::invalid_json, "128") ||
              fails_with(deep, ErrorCode::limit_exceeded, "128"));
  EXPECT_EQ(deep.error().position.line, 2u);
  expect_stop(std::string("\x7F"
                          "ELF\x02\x01\0\0\0\0\0",
                          11),
              ErrorCode::invalid_json, "", 1);
  EXPECT_EQ(count(), 0u);
}

TEST_F(ImportTest, ABadElementIsNamedByItsNumberToo) {
  expect_stop("[{\"id\":\"a\",\"k\":1},\n  {\"id\":\"b\",\"k\":}]", ErrorCode::invalid_json,
              "(element 2 of the array)", 2, 17);
  expect_stop("[{\"id\":\"a\",\"k\":1}, 7]", ErrorCode::invalid_argument, "(element 2 of the array)", 1, 20);
  expect_stop("[{\"id\":\"a\",\"k\":1}", ErrorCode::invalid_json, "not closed", 1, 18);
}

TEST_F(ImportTest, ASecondItemOfOneKeyStopsIt) {
  expect_stop("{\"id\":\"a\",\"k\":1}\n{\"id\":\"a\",\"k\":2}\n{\"id\":\"a\",\"k\":1.0}\n",
              ErrorCode::conflict, "item 'a' with partition key [1] stands on line 1 already", 3);
}

// So many that several threads check their keys: wherever the one lies that cannot be, it is found.
TEST_F(ImportTest, OneOfManyKeysThatIsThereStopsIt) {
  constexpr int kMany = 10'000, kPartitions = 8;
  std::string many;
  for (int i = 0; i < kMany; ++i) many += fmt::format("{{\"id\":\"{}\",\"k\":{}}}\n", i, i % kPartitions);
  for (int k = 0; k < kPartitions; ++k)
    expect_stop(many + fmt::format("{{\"id\":\"{}\",\"k\":{}}}\n", 5 * kPartitions + k, k),
                ErrorCode::conflict, "upsert takes the later one", kMany + 1);
  ASSERT_TRUE(succeeds(import(R"({"id":"4003","k":3})")));
  expect_stop(many, ErrorCode::conflict, "item '4003' with partition key [3] exists", 4004);
  options_.skip_errors = true;
  EXPECT_EQ(value_of(import(many + many)).skipped, kMany + 1U);
  EXPECT_EQ(count(), uint64_t{kMany});
}

TEST_F(ImportTest, AnItemThatExistsStopsItUnlessUpsert) {
  ASSERT_TRUE(succeeds(import("{\"id\":\"a\",\"k\":1}\n{\"id\":\"b\",\"k\":1}")));
  const std::string text =
      "{\"id\":\"c\",\"k\":1}\n{\"id\":\"b\",\"k\":1,\"n\":1}\n{\"id\":\"b\",\"k\":1,\"n\":2}";
  expect_stop(text.substr(0, text.rfind('\n')), ErrorCode::conflict, "'b' with partition key [1] exists", 2);
  options_.upsert = true;
  EXPECT_EQ(value_of(import(text)).items, 2u);
  EXPECT_THAT(items(), ElementsAre("{\"id\":\"a\",\"k\":1}", "{\"id\":\"b\",\"k\":1,\"n\":2}",
                                   "{\"id\":\"c\",\"k\":1}"));
}

TEST_F(ImportTest, SkipErrorsLeavesBadItemsOutAndTellsEach) {
  ASSERT_TRUE(succeeds(import("{\"id\":\"there\",\"k\":1}")));
  options_.skip_errors = true;
  const ImportResult result =
      value_of(import("{\"id\":\"a\",\"k\":1}\nnonsense\n{\"id\":\"there\",\"k\":1}\n{\"id\":\"a\",\"k\":1}\n"
                      "{\"id\":\"b\",\"k\":1,\"x\":\"" +
                      std::string(30 << 20, 'x') + "\"}\n{\"id\":\"c\",\"k\":1}\n"));
  EXPECT_EQ(result.items, 2u);
  EXPECT_EQ(result.skipped, 4u);
  ASSERT_EQ(skipped_.size(), 4u);
  EXPECT_THAT(skipped_[0], HasSubstr("2: "));
  EXPECT_THAT(skipped_[1], HasSubstr("5: the text of the item has more than"));
  EXPECT_THAT(skipped_[2], HasSubstr("4: item 'a' with partition key [1] stands on line 1"));
  EXPECT_THAT(skipped_[3], HasSubstr("3: item 'there'"));
  EXPECT_EQ(count(), 3u);
  EXPECT_EQ(value_of(import("[1,{\"id\":\"d\",\"k\":1},{\"id\":3},\"x\"]")).skipped, 3u);
  EXPECT_EQ(count(), 4u);
}

// Partition keys that share a hash: found among the items of one input, and against those that are there.
TEST_F(ImportTest, PartitionKeysThatClashAreNeverMixedUp) {
  const PartitionHash same = [](const Value&, char(&epk)[kEpkBytes]) { std::memset(epk, 7, kEpkBytes); };
  open(Environment::kInMemory, {.hash = same});
  const std::string text = "{\"id\":\"a\",\"k\":1}\n{\"id\":\"a\",\"k\":2}\n{\"id\":\"b\",\"k\":2}";
  expect_stop(text, ErrorCode::epk_clash, "item 'a' of partition key [1], on line 1", 2);
  options_.upsert = true;
  expect_stop(text, ErrorCode::epk_clash, "[2]", 2);
  options_.skip_errors = true;
  EXPECT_EQ(value_of(import(text)).items, 2u);
  EXPECT_THAT(items(), ElementsAre("{\"id\":\"a\",\"k\":1}", "{\"id\":\"b\",\"k\":2}"));
  options_ = {};
  expect_stop("{\"id\":\"b\",\"k\":3}", ErrorCode::epk_clash, "[3]", 1);
}

TEST_F(ImportTest, IdsAreTakenFromAPath) {
  options_.id_path = "/meta/key";
  EXPECT_EQ(
      value_of(import("{\"meta\":{\"key\":\"x\"},\"k\":1}\n{\"id\":9,\"meta\":{\"key\":12},\"k\":1}")).items,
      2u);
  EXPECT_THAT(items(), ElementsAre("{\"id\":\"12\",\"meta\":{\"key\":12},\"k\":1}",
                                   "{\"id\":\"x\",\"meta\":{\"key\":\"x\"},\"k\":1}"));
  expect_stop("{\"k\":1}", ErrorCode::invalid_id, "/meta/key", 1);
  expect_stop("{\"k\":1,\"meta\":{\"key\":[]}}", ErrorCode::invalid_id, "/meta/key", 1);
  // Their last digits are gone: the next whole number would have the same id.
  expect_stop("{\"k\":1,\"meta\":{\"key\":18446744073709551615}}", ErrorCode::invalid_id,
              "write it as a string", 1);
  ASSERT_TRUE(
      succeeds(import("{\"k\":1,\"meta\":{\"key\":9223372036854775807}}\n{\"k\":1,\"meta\":{\"key\":1.5}}")));
  for (const char* path : {"key", "/", "/a//b"}) {
    options_.id_path = path;
    EXPECT_TRUE(fails_with(import("{}"), ErrorCode::invalid_argument, path));
  }
}

TEST_F(ImportTest, IdsAreGeneratedOnRequest) {
  options_.generate_ids = true;
  EXPECT_EQ(value_of(import("{\"k\":1}\n{\"k\":1}\n{\"id\":\"own\",\"k\":1}")).items, 3u);
}

TEST_F(ImportTest, ExtendedJsonBecomesPlain) {
  options_.extended_json = true;
  ASSERT_TRUE(succeeds(import(R"({"_id":{"$oid":"61741c9cbc9ec583c836170a"},"k":{"$numberLong":"5"}})")));
  EXPECT_THAT(items(), ElementsAre(R"({"id":"61741c9cbc9ec583c836170a","k":5})"));
}

TEST_F(ImportTest, ProgressMayStopIt) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("{{\"id\":\"{}\",\"k\":1}}\n", i);
  int told = 0;
  // Slow input, so that there is time for reports.
  const auto reader = [&, done = size_t{0}](char* buffer, size_t capacity) mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const size_t count = std::min({capacity, text.size() - done, size_t{20'000}});
    std::memcpy(buffer, text.data() + done, count);
    done += count;
    return static_cast<int64_t>(count);
  };
  options_.progress = [&](uint64_t bytes, uint64_t items) {
    EXPECT_GT(bytes, 0u);
    EXPECT_GT(items, 0u);
    return ++told < 2;
  };
  EXPECT_TRUE(fails_with(import_items(*environment_, *store_, reader, options_), ErrorCode::interrupted));
  EXPECT_EQ(told, 2);
  EXPECT_EQ(count(), 0u);
}

// Of an array with so few elements none is looked at for it.
TEST_F(ImportTest, AnInterruptStopsItWhileItemsAreWritten) {
  std::string text = "[";
  for (int i = 0; i < 100; ++i)
    text += fmt::format("{}{{\"id\":\"{}\",\"k\":1,\"text\":\"{}\"}}", i == 0 ? "" : ",", i,
                        std::string(200'000, 'x'));
  text += "]";
  std::atomic<uint64_t> interrupts = 0;
  options_.interrupts = &interrupts;
  const auto reader = [&, done = size_t{0}](char* buffer, size_t capacity) mutable {
    const size_t count = std::min(capacity, text.size() - done);
    std::memcpy(buffer, text.data() + done, count);
    done += count;
    if (count == 0) ++interrupts;
    return static_cast<int64_t>(count);
  };
  const auto stopped = import_items(*environment_, *store_, reader, options_);
  ASSERT_TRUE(fails_with(stopped, ErrorCode::interrupted, "items had been written before and stay"));
  EXPECT_GT(count(), 0u);
  EXPECT_LT(count(), 100u);
}

TEST_F(ImportTest, AnInterruptStopsIt) {
  std::atomic<uint64_t> interrupts = 0;
  options_.interrupts = &interrupts;
  const auto reader = [&](char* buffer, size_t capacity) {  // endless
    ++interrupts;
    std::memset(buffer, '\n', capacity);
    const std::string_view line = "{\"id\":\"a\",\"k\":1}\n";
    for (size_t at = 0; at + line.size() < capacity; at += line.size())
      std::memcpy(buffer + at, line.data(), line.size());
    return static_cast<int64_t>(capacity);
  };
  EXPECT_TRUE(fails_with(import_items(*environment_, *store_, reader, options_), ErrorCode::interrupted));
}

TEST_F(ImportTest, AnInputThatCannotBeReadLoadsNothing) {
  bool is_first = true;
  const auto reader = [&](char* buffer, size_t) -> int64_t {
    if (!std::exchange(is_first, false)) return -1;
    std::memcpy(buffer, "{\"id\":\"a\",\"k\":1}\n", 17);
    return 17;
  };
  EXPECT_TRUE(fails_with(import_items(*environment_, *store_, reader, options_), ErrorCode::io));
  EXPECT_EQ(count(), 0u);
}

TEST_F(ImportTest, ImportsAndWritersWorkSideBySide) {
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i)
      EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
        QUIRE_TRY(store_->create(transaction, fmt::format("{{\"id\":\"w{}\",\"k\":1,\"w{}\":1}}", i, i)));
        return {};
      })));
  });
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += fmt::format("{{\"id\":\"i{}\",\"k\":{},\"i{}\":1}}\n", i, i % 5, i % 40);
  options_.sort_memory = 64 << 10;
  EXPECT_EQ(value_of(import(text)).items, 2000u);
  writer.join();
  EXPECT_EQ(count(), 2050u);
}

// None of an import's commits is synced before the last, so that each has its own copies of the pages that
// all of them change: the last ones fill those of the others.
TEST_F(ImportTest, TheLastCommitsFillWhatTheFirstOnesLeave) {
  const TemporaryFolder folder;
  open(folder.path("f.quire"));
  std::string text;
  for (int i = 0; i < 32'000; ++i)  // for some eight commits
    text += fmt::format("{{\"id\":\"{}\",\"k\":{},\"x\":\"{}\"}}\n", i, i % 100, std::string(1000, 'x'));
  ASSERT_EQ(value_of(import(text)).items, 32'000u);
  const std::string copy = folder.path("copy.quire");
  ASSERT_TRUE(succeeds(environment_->copy_to(copy)));
  constexpr uint64_t kPage = 4096, kMostFreePages = 40;
  EXPECT_LE(std::filesystem::file_size(folder.path("f.quire")),
            std::filesystem::file_size(copy) + kMostFreePages * kPage);
  store_.reset();
  environment_.reset();  // before its folder
}

// A child imports and is killed at some moment: the file opens and holds a whole number of commits.
TEST(ImportKilled, LeavesAFileWithNoneOrWholeCommits) {
  TemporaryFolder folder;
  const std::string path = folder.path("f.quire");
  std::string text;
  for (int i = 0; i < 60'000; ++i)
    text += fmt::format("{{\"id\":\"{}\",\"k\":{},\"x\":\"{}\"}}\n", i, i % 100, std::string(1000, 'x'));
  const auto reader = [&text](size_t& done) {
    return [&text, &done](char* buffer, size_t capacity) {
      const size_t count = std::min(capacity, text.size() - done);
      std::memcpy(buffer, text.data() + done, count);
      done += count;
      return static_cast<int64_t>(count);
    };
  };
  for (const int milliseconds : {20, 150, 250, 350}) {
    std::filesystem::remove(path);
    const pid_t child = fork();
    if (child == 0) {
      auto environment = value_of(Environment::open(path));
      std::shared_ptr<ContainerStore> store;
      static_cast<void>(environment->write([&](WriteTransaction& transaction) -> Result<void> {
        QUIRE_ASSIGN(store, ContainerStore::create(*environment, transaction,
                                                   value_of(ContainerDefinition::make("c", {"/k"}))));
        return {};
      }));
      size_t done = 0;
      static_cast<void>(import_items(*environment, *store, reader(done), {}));
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const auto environment = value_of(Environment::open(path));
    const ReadTransaction snapshot = value_of(environment->begin_read());
    const auto entry = value_of(Catalog(*environment).find(snapshot, "c"));
    if (!entry) continue;  // killed before there was a container
    const auto store = value_of(ContainerStore::open(*environment, *entry));
    const ReadTransaction later = value_of(environment->begin_read());
    const uint64_t expected = value_of(store->statistics(later)).items;
    ItemCursor cursor = value_of(store->scan(later));
    std::vector<Value> roots(1000);
    uint64_t found = 0;
    while (const size_t filled = value_of(cursor.next(roots))) found += filled;
    EXPECT_EQ(found, expected);
    for (const auto& file : std::filesystem::directory_iterator(folder.path(".")))
      EXPECT_TRUE(file.path().filename().string().starts_with("f.quire")) << file.path();
  }
}

}  // namespace
}  // namespace quire::engine
