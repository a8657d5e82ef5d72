// After TPC-C: the orders and payments of a wholesaler, as documents. A warehouse is a partition: its own
// document, ten districts, their customers, and the stock, in which each article's name and price stand too.
// Amounts are whole cents, so that the sides can be compared to the cent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/random.h"
#include "tests/bench/work.h"

namespace quire::bench {

struct OrderLine {
  uint64_t article;
  uint64_t quantity;
};
struct NewOrder {
  uint64_t warehouse, district, customer;
  std::vector<OrderLine> lines;  // one in a hundred orders names an article that there is not: it is undone
};
struct Payment {
  uint64_t warehouse, district, customer, amount;
};

std::string district_id(uint64_t district);
std::string customer_id(uint64_t district, uint64_t customer);
std::string stock_id(uint64_t article);

// Requests, the same at every run.
class TpccRequests {
 public:
  explicit TpccRequests(const Fixture& fixture);
  NewOrder new_order();
  Payment payment();

 private:
  uint64_t articles_;
  Random random_{5};
};

// The path of NDJSON with the first documents, written at the first call.
std::string tpcc_documents_file(const Fixture& fixture);

// A side's file, open; each request is one transaction.
class TpccStore {
 public:
  virtual ~TpccStore() = default;
  virtual void order(const NewOrder& order) = 0;  // a wrong article undoes it
  virtual void pay(const Payment& payment) = 0;
  // The documents there are, and the sums of nextOrder, quantity and ytd over them.
  virtual std::string totals() = 0;
};

enum class TpccRequest { new_order, payment };
struct TpccRun {
  TpccRequest request;
  bool is_durable;
};

// Transactions a second of one thread.
Sample measure_tpcc(const Fixture& fixture, const TpccRun& run, TpccStore& store);

Side quire_tpcc(TpccRun run);
Side sqlite_tpcc(TpccRun run);

}  // namespace quire::bench
