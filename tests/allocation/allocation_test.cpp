// No heap allocation per row: a statement over 100,000 items allocates as often as one over 1,000. Counts
// what this program asks of operator new.
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <span>
#include <string_view>

#include "engine/query/prepared_statement.h"
#include "tests/engine/file/temporary_folder.h"

namespace {
std::atomic<uint64_t> allocations;
}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size > 0 ? size : 1);
}
void* operator new(std::size_t size) {
  void* const memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace quire::engine {
namespace {

constexpr uint64_t kFew = 1'000;
constexpr uint64_t kMany = 100'000;

class AllocationTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    environment_ = value_of(Environment::open(Environment::kInMemory)).release();
    containers_ = new OpenContainers(*environment_);
    fill("few", kFew);
    fill("many", kMany);
  }
  static void TearDownTestSuite() {
    delete containers_;
    delete environment_;
  }

  // Over many rows each query may allocate as often as over few, and `more` times.
  static void expect_few_allocations(std::span<const std::string_view> queries, uint64_t more) {
    for (const std::string_view query : queries) {
      SCOPED_TRACE(query);
      count(query, "few");  // what is made once in the life of a thread
      const uint64_t few = count(query, "few");
      EXPECT_LE(count(query, "many"), few + more);
    }
  }

 private:
  // How often running the query to its end allocates.
  static uint64_t count(std::string_view query, std::string_view container) {
    const std::string sql = fmt::format(fmt::runtime(query), container);
    const auto statement = value_of(PreparedStatement::prepare(*containers_, sql, {}));
    const uint64_t before = allocations.load();
    run(*statement);
    return allocations.load() - before;
  }

  static void fill(std::string_view name, uint64_t items) {
    const auto store = value_of(containers_->create(value_of(ContainerDefinition::make(name, {"/pk"}))));
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      for (uint64_t i = 0; i < items; ++i)
        QUIRE_TRY(store->create(
            transaction,
            fmt::format(
                R"({{"id":"{:06}","pk":"p{:03}","n":{},"kind":"kind{}","city":"S{:05}","time":"2026-01-{:02}T10:00:00Z",)"
                R"("text":"some text of a reading, long enough to live on the heap: {:06}","tags":["a","b","c"]}})",
                i, i % 100, i * 7919 % 100'000, i % 4, i % 1000, 1 + i % 28, i)));
      return {};
    })));
  }

  static void run(PreparedStatement& statement) {
    for (;;) {
      const auto row = statement.step();
      ASSERT_TRUE(succeeds(row));
      if (!*row) return;
    }
  }

  static inline Environment* environment_ = nullptr;
  static inline OpenContainers* containers_ = nullptr;
};

TEST_F(AllocationTest, AFilterAllocatesAsOftenForManyRowsAsForFew) {
  constexpr std::string_view kQueries[] = {
      "SELECT VALUE COUNT(1) FROM {} c WHERE c.n > 100 AND c.kind = 'kind1' AND STARTSWITH(c.city, 'S') "
      "AND "
      "ARRAY_LENGTH(c.tags) > 2",
      "SELECT VALUE COUNT(1) FROM {} c WHERE c.n > 100 OR c.kind = 'kind1' OR IS_DEFINED(c.other)",
      "SELECT VALUE COUNT(1) FROM {} c WHERE c.text LIKE '%0001%'",
      "SELECT VALUE COUNT(1) FROM {} c WHERE REGEXMATCH(c.text, '0+[12]')",
      "SELECT VALUE COUNT(1) FROM {} c WHERE c.kind IN ('kind1', 'kind2', c.city)",
      "SELECT VALUE COUNT(1) FROM {} c WHERE CONTAINS(c.text, 'READING', true)",
      "SELECT VALUE COUNT(1) FROM {} c WHERE ARRAY_CONTAINS(c.tags, 'b')",
      "SELECT VALUE COUNT(1) FROM {} c WHERE (c.n > 50 ? c.city : c.kind) != (c.other ?? c.kind)",
      "SELECT VALUE SUM(c.n) FROM {} c WHERE c.kind IS NOT NULL",
      "SELECT VALUE COUNT(1) FROM {} c WHERE FULLTEXTCONTAINS(c.kind, 'kind1')",
      "SELECT VALUE COUNT(1) FROM {} c WHERE ST_DISTANCE({{'type':'Point','coordinates':[c.n / 1000, "
      "1]}}, "
      "{{'type':'Point','coordinates':[1, 2]}}) < 5000000",
      "SELECT VALUE COUNT(1) FROM {} c WHERE VECTORDISTANCE([c.n, 1], [1, 2]) > 0.5",
      "SELECT VALUE COUNT(1) FROM {} c WHERE EXISTS (SELECT VALUE t FROM t IN c.tags WHERE t = 'b')",
  };
  expect_few_allocations(kQueries, 0);
}

TEST_F(AllocationTest, RowsThatComeOutAllocateNothing) {
  constexpr std::string_view kQueries[] = {
      "SELECT VALUE c.text FROM {} c",
      "SELECT * FROM {} c",
      "SELECT c.id, c.n FROM {} c",
      "SELECT VALUE {{'a': c.id, 'b': [c.n, c.tags]}} FROM {} c",
      "SELECT VALUE SUBSTRING(c.text, 5, 20) FROM {} c",
      "SELECT VALUE TRIM(c.text) FROM {} c",
      "SELECT VALUE STRINGTONUMBER(c.id) FROM {} c",
      "SELECT VALUE DATETIMEPART('dd', c.time) FROM {} c",
      "SELECT VALUE DATETIMEDIFF('hh', c.time, '2026-06-01T00:00:00Z') FROM {} c",
      "SELECT VALUE DATETIMETOTIMESTAMP(c.time) FROM {} c",
      "SELECT VALUE ROUND(c.n / 7) FROM {} c",
      "SELECT VALUE t FROM {} c JOIN t IN c.tags",
      "SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.tags) FROM {} c",
      "SELECT VALUE (SELECT VALUE COUNT(DISTINCT t) FROM t IN c.tags) FROM {} c",
  };
  expect_few_allocations(kQueries, 0);
}

// RE2 makes the states of its automaton when a text first leads there: so many, whatever the number of texts.
TEST_F(AllocationTest, APatternAllocatesForItsStatesAndNotForTexts) {
  constexpr uint64_t kStates = 100;
  constexpr std::string_view kQueries[] = {
      "SELECT VALUE COUNT(1) FROM {} c WHERE c.text LIKE '%0_0_1%'",
      "SELECT VALUE COUNT(1) FROM {} c WHERE REGEXMATCH(c.text, 'READING.*[1-9]0+[12]', 'i')",
  };
  expect_few_allocations(kQueries, kStates);
}

// What is kept grows by doubling: computed strings and arrays of a batch until the memory fits the largest
// batch, groups and sorted rows with their number.
TEST_F(AllocationTest, WhatIsKeptAllocatesWithTheLogarithmOfItsSize) {
  constexpr uint64_t kDoublings = 7;
  constexpr std::string_view kQueries[] = {
      "SELECT VALUE UPPER(c.text) FROM {} c",
      "SELECT VALUE CONCAT(c.kind, '-', c.city) FROM {} c",
      "SELECT VALUE c.kind || c.city FROM {} c",
      "SELECT VALUE REPLACE(c.text, 'reading', 'writing') FROM {} c",
      "SELECT VALUE REVERSE(c.text) FROM {} c",
      "SELECT VALUE TOSTRING(c.n) FROM {} c",
      "SELECT VALUE TOSTRING(c.tags) FROM {} c",
      "SELECT VALUE STRINGTOARRAY('[1, \"a\", {{\"b\": [2]}}]' || '') FROM {} c",
      "SELECT VALUE DATETIMEADD('mm', 1, c.time) FROM {} c",
      "SELECT VALUE DATETIMEFORMAT(c.time, 'yyyy MMM dd') FROM {} c",
      "SELECT VALUE DATETIMEBIN(c.time, 'hh', 12) FROM {} c",
      "SELECT VALUE ARRAY_CONCAT(c.tags, c.tags) FROM {} c",
      "SELECT VALUE ARRAY_SLICE(c.tags, 1) FROM {} c",
      "SELECT VALUE SETUNION(c.tags, ['x']) FROM {} c",
      "SELECT VALUE SETINTERSECT(c.tags, ['b']) FROM {} c",
      "SELECT VALUE STRINGSPLIT(c.city, '0') FROM {} c",
      "SELECT VALUE ARRAY(SELECT VALUE UPPER(t) FROM t IN c.tags ORDER BY t DESC) FROM {} c",
      "SELECT VALUE ARRAY(SELECT t, COUNT(1) AS n FROM t IN c.tags GROUP BY t) FROM {} c",
      "SELECT VALUE x.n FROM {} c JOIN (SELECT VALUE {{'n': UPPER(t)}} FROM t IN c.tags) x",
      "SELECT c.kind, COUNT(1) AS n, AVG(c.n) AS mean FROM {} c GROUP BY c.kind",
      "SELECT UPPER(c.kind) AS kind, MAX(c.text) AS last FROM {} c GROUP BY UPPER(c.kind)",
      "SELECT UPPER(c.kind) AS kind, MAX(UPPER(c.text)) AS last FROM {} c GROUP BY UPPER(c.kind)",
      "SELECT VALUE MAX(c.text || '') FROM {} c",
      "SELECT DISTINCT VALUE c.kind FROM {} c",
      "SELECT DISTINCT VALUE LOWER(c.kind) FROM {} c",
      "SELECT c.id, c.n FROM {} c ORDER BY c.n OFFSET 0 LIMIT 10",
      "SELECT VALUE c.id FROM {} c ORDER BY c.text DESC OFFSET 0 LIMIT 10",
      "SELECT VALUE c.id FROM {} c ORDER BY LOWER(c.text) DESC OFFSET 0 LIMIT 10",
  };
  expect_few_allocations(kQueries, kDoublings);
}

}  // namespace
}  // namespace quire::engine
