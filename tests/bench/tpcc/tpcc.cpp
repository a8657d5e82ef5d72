#include "tests/bench/tpcc/tpcc.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "tests/bench/must.h"

namespace quire::bench {
namespace {

constexpr uint64_t kWarehouses = 2;
constexpr uint64_t kDistricts = 10;
constexpr uint64_t kCustomers = 300;          // of a district; TPC-C has 3,000
constexpr uint64_t kMostArticles = 10'000;    // of a warehouse; TPC-C has 100,000
constexpr uint64_t kRelaxedRequests = 4'000;  // fewer where there are fewer articles
constexpr uint64_t kDurableRequests = 1'000;

uint64_t articles_of(const Fixture& fixture) {
  return std::clamp<uint64_t>(fixture.readings.count(), 100, kMostArticles);
}

std::string letters(Random& random, size_t count) {
  std::string text(count, ' ');
  for (char& byte : text) byte = static_cast<char>('a' + random.below(26));
  return text;
}

void append_district(Random& random, uint64_t warehouse, uint64_t district, std::string& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"id":"{}","w":{},"name":"{}","street":"{}","city":"{}","zip":"{}",)",
                 district_id(district), warehouse, letters(random, 8), letters(random, 15),
                 letters(random, 15), letters(random, 9));
  fmt::format_to(to, "\"tax\":{},\"ytd\":3000000,\"nextOrder\":1}}\n", random.below(21));
  for (uint64_t customer = 1; customer <= kCustomers; ++customer) {
    fmt::format_to(to, R"({{"id":"{}","w":{},"first":"{}","last":"{}","street":"{}","city":"{}",)",
                   customer_id(district, customer), warehouse, letters(random, 12), letters(random, 10),
                   letters(random, 15), letters(random, 15));
    fmt::format_to(to, "\"phone\":\"{}\",\"credit\":\"{}\",\"discount\":{},", letters(random, 16),
                   random.below(10) == 0 ? "BC" : "GC", random.below(51));
    fmt::format_to(to, "\"balance\":-1000,\"paid\":1000,\"payments\":1,\"data\":\"{}\"}}\n",
                   letters(random, 250));
  }
}

void append_stock(Random& random, uint64_t warehouse, uint64_t article, std::string& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"id":"{}","w":{},"name":"{}","price":{},"quantity":{},)", stock_id(article),
                 warehouse, letters(random, 18), 100 + random.below(9'901), 10 + random.below(91));
  fmt::format_to(to, "\"ytd\":0,\"orders\":0,\"data\":\"{}\",\"districts\":[", letters(random, 38));
  for (uint64_t district = 1; district <= kDistricts; ++district)
    fmt::format_to(to, "{}\"{}\"", district == 1 ? "" : ",", letters(random, 24));
  out += "]}\n";
}

}  // namespace

std::string district_id(uint64_t district) {
  return fmt::format("district-{}", district);
}
std::string customer_id(uint64_t district, uint64_t customer) {
  return fmt::format("customer-{}-{}", district, customer);
}
std::string stock_id(uint64_t article) {
  return fmt::format("stock-{}", article);
}

TpccRequests::TpccRequests(const Fixture& fixture) : articles_(articles_of(fixture)) {}

NewOrder TpccRequests::new_order() {
  NewOrder order{
      1 + random_.below(kWarehouses), 1 + random_.below(kDistricts), 1 + random_.below(kCustomers), {}};
  const uint64_t lines = 5 + random_.below(11);
  while (order.lines.size() < lines) {
    const OrderLine line{1 + random_.below(articles_), 1 + random_.below(10)};
    const bool is_new =
        std::ranges::find(order.lines, line.article, &OrderLine::article) == order.lines.end();
    if (is_new) order.lines.push_back(line);
  }
  if (random_.below(100) == 0) order.lines.back().article = articles_ + 1;
  return order;
}

Payment TpccRequests::payment() {
  return {1 + random_.below(kWarehouses), 1 + random_.below(kDistricts), 1 + random_.below(kCustomers),
          100 + random_.below(499'901)};
}

std::string tpcc_documents_file(const Fixture& fixture) {
  std::string path = fixture.new_file_once("tpcc.ndjson");
  if (std::filesystem::exists(path)) return path;
  std::string text;
  Random random(4);
  for (uint64_t warehouse = 1; warehouse <= kWarehouses; ++warehouse) {
    fmt::format_to(std::back_inserter(text),
                   "{{\"id\":\"warehouse\",\"w\":{},\"name\":\"{}\",\"tax\":{},\"ytd\":30000000}}\n",
                   warehouse, letters(random, 8), random.below(21));
    for (uint64_t district = 1; district <= kDistricts; ++district)
      append_district(random, warehouse, district, text);
    for (uint64_t article = 1; article <= articles_of(fixture); ++article)
      append_stock(random, warehouse, article, text);
  }
  const File file = open_file(path, "wb");
  must(std::fwrite(text.data(), 1, text.size(), file.get()) == text.size(), "cannot write " + path);
  return path;
}

Sample measure_tpcc(const Fixture& fixture, const TpccRun& run, TpccStore& store) {
  const uint64_t count = std::min(run.is_durable ? kDurableRequests : kRelaxedRequests, articles_of(fixture));
  TpccRequests requests(fixture);
  const double seconds = seconds_of([&] {
    for (uint64_t i = 0; i < count; ++i) {
      if (run.request == TpccRequest::new_order)
        store.order(requests.new_order());
      else
        store.pay(requests.payment());
    }
  });
  return {static_cast<double>(count) / seconds, store.totals()};
}

}  // namespace quire::bench
