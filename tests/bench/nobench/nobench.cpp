#include "tests/bench/nobench/nobench.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "tests/bench/must.h"
#include "tests/bench/random.h"

namespace quire::bench {
namespace {

constexpr uint64_t kGroups = 100;  // of sparse members: an object has the ten of one group
constexpr uint64_t kGroupSize = 10;
constexpr uint64_t kSparseValues = 10;
constexpr uint64_t kWords = 5'000;  // of the arrays, some four in each

constexpr NobenchQuery kQueries[] = {
    {"SELECT c.str1, c.num FROM nobench c",
     "SELECT json_extract(json, '$.str1'), json_extract(json, '$.num') FROM nobench", false},
    {"SELECT c.nested_obj.str, c.nested_obj.num FROM nobench c",
     "SELECT json_extract(json, '$.nested_obj.str'), json_extract(json, '$.nested_obj.num') FROM nobench",
     false},
    {"SELECT c.sparse_110, c.sparse_119 FROM nobench c",
     "SELECT json_extract(json, '$.sparse_110'), json_extract(json, '$.sparse_119') FROM nobench", false},
    {"SELECT c.sparse_110, c.sparse_220 FROM nobench c",
     "SELECT json_extract(json, '$.sparse_110'), json_extract(json, '$.sparse_220') FROM nobench", false},
    {"SELECT VALUE c FROM nobench c WHERE c.str1 = '{str}'",
     "SELECT {json} FROM nobench WHERE json_extract(json, '$.str1') = '{str}'", true},
    {"SELECT VALUE c FROM nobench c WHERE c.num BETWEEN {from} AND {to}",
     "SELECT {json} FROM nobench WHERE json_extract(json, '$.num') BETWEEN {from} AND {to}", true},
    {"SELECT VALUE c FROM nobench c WHERE c.dyn1 BETWEEN {from} AND {to}",
     "SELECT {json} FROM nobench WHERE json_extract(json, '$.dyn1') BETWEEN {from} AND {to}", true},
    {"SELECT VALUE c FROM nobench c WHERE ARRAY_CONTAINS(c.nested_arr, '{word}')",
     "SELECT {json} FROM nobench WHERE rowid IN (SELECT item FROM nobench_words WHERE word = '{word}')",
     true},
    {"SELECT VALUE c FROM nobench c WHERE c.sparse_367 = '{sparse}'",
     "SELECT {json} FROM nobench WHERE json_extract(json, '$.sparse_367') = '{sparse}'", true},
    {"SELECT c.thousandth, COUNT(1) AS items FROM nobench c WHERE c.num BETWEEN {from} AND {far}"
     " GROUP BY c.thousandth",
     "SELECT json_extract(json, '$.thousandth') AS thousandth, COUNT(*) FROM nobench"
     " WHERE json_extract(json, '$.num') BETWEEN {from} AND {far} GROUP BY thousandth",
     false},
    {"SELECT l, r FROM nobench l JOIN nobench r ON r.str1 = l.nested_obj.str"
     " WHERE l.num BETWEEN {from} AND {to}",
     "SELECT {left}, {right} FROM nobench l JOIN nobench r"
     " ON json_extract(r.json, '$.str1') = json_extract(l.json, '$.nested_obj.str')"
     " WHERE json_extract(l.json, '$.num') BETWEEN {from} AND {to}",
     true},
};

// The only string of an object; the other half of a join.
std::string string_of(uint64_t number) {
  return fmt::format("GBRDC{:016x}", Random::mixed(number + 1));
}
std::string word(uint64_t number) {
  return fmt::format("word{}", number);
}
std::string sparse_value(uint64_t number) {
  return fmt::format("GBRD{}", number % kSparseValues);
}

void append_object(Random& random, uint64_t number, uint64_t count, std::string& out) {
  const auto to = std::back_inserter(out);
  const uint64_t num = random.below(count);
  fmt::format_to(to, R"({{"id":"{}","str1":"{}","num":{},"bool":{},)", number, string_of(number), num,
                 number % 2 == 0);
  const auto dynamic = [&](bool is_text) {
    return fmt::format(fmt::runtime(is_text ? R"("{}")" : "{}"), random.below(count));
  };
  const std::string first = dynamic(random.below(10) == 0), second = dynamic(random.below(2) == 0);
  fmt::format_to(to, R"("dyn1":{},"dyn2":{},)", first, second);
  out += R"("nested_arr":[)";
  const uint64_t words = random.below(8);
  for (uint64_t i = 0; i < words; ++i)
    fmt::format_to(to, "{}\"{}\"", i == 0 ? "" : ",", word(random.below(kWords)));
  fmt::format_to(to, R"(],"nested_obj":{{"str":"{}","num":{}}},)", string_of(random.below(count)),
                 random.below(count));
  const uint64_t group = random.below(kGroups);
  for (uint64_t i = 0; i < kGroupSize; ++i)
    fmt::format_to(to, R"("sparse_{:03}":"{}",)", group * kGroupSize + i, sparse_value(random.next()));
  fmt::format_to(to, "\"thousandth\":{}}}\n", num % 1'000);
}

}  // namespace

const NobenchQuery& nobench_query(int number) {
  return kQueries[number - 1];
}

std::string nobench_text(const Fixture& fixture, std::string_view query) {
  const uint64_t items = nobench_items(fixture);
  const uint64_t from = items / 3;
  return fmt::format(fmt::runtime(query), fmt::arg("str", string_of(from)), fmt::arg("from", from),
                     fmt::arg("to", from + items / 1'000), fmt::arg("far", from + items / 10),
                     fmt::arg("word", word(kWords / 2)), fmt::arg("sparse", sparse_value(1)),
                     fmt::arg("json", "shown(json)"), fmt::arg("left", "shown(l.json)"),
                     fmt::arg("right", "shown(r.json)"));
}

uint64_t nobench_items(const Fixture& fixture) {
  constexpr uint64_t kShare = 5;  // of the readings: 100,000 of 500,000
  return std::max<uint64_t>(1, fixture.readings.count() / kShare);
}

std::string nobench_file(const Fixture& fixture) {
  std::string path = fixture.new_file_once("nobench.ndjson");
  if (std::filesystem::exists(path)) return path;
  const File file = open_file(path, "wb");
  Random random(6);
  std::string line;
  for (uint64_t i = 0; i < nobench_items(fixture); ++i) {
    line.clear();
    append_object(random, i, nobench_items(fixture), line);
    must(std::fwrite(line.data(), 1, line.size(), file.get()) == line.size(), "cannot write " + path);
  }
  return path;
}

std::string NobenchAnswer::text() const {
  return fmt::format("{} rows, {} bytes, sum {}", rows_, bytes_, sum_);
}

}  // namespace quire::bench
