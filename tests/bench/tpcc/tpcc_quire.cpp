// Quire's side: stored procedures in JavaScript, as they would be written for Azure.
#include <fmt/format.h>

#include <iterator>

#include "quire/quire.hpp"
#include "tests/bench/must.h"
#include "tests/bench/tpcc/tpcc.h"

namespace quire::bench {
namespace {

// Reads what it needs one after the other, takes the articles from the stock, and writes the order with its
// lines; the response is the amount.
constexpr std::string_view kNewOrder = R"(function newOrder(district, customer, lines) {
  var c = getContext().getCollection(), self = c.getSelfLink(), docs = c.getAltLink() + '/docs/';
  var order = { type: 'order', district: district, customer: customer, lines: [] }, amount = 0;
  function check(error) { if (error) throw error; }
  c.readDocument(docs + 'warehouse', function (error, warehouse) {
    check(error);
    c.readDocument(docs + 'district-' + district, function (error, place) {
      check(error);
      var number = place.nextOrder++;
      c.replaceDocument(place._self, place, check);
      c.readDocument(docs + 'customer-' + district + '-' + customer, function (error, buyer) {
        check(error);
        take(0, function () {
          order.id = 'order-' + district + '-' + number;
          order.w = warehouse.w;
          order.amount = Math.floor(amount * (100 - buyer.discount) * (100 + warehouse.tax + place.tax) / 10000);
          c.createDocument(self, order, check);
          getContext().getResponse().setBody(order.amount);
        });
      });
    });
  });
  function take(i, done) {
    if (i === lines.length) return done();
    var line = lines[i];
    c.readDocument(docs + 'stock-' + line[0], function (error, stock) {
      check(error);
      stock.quantity -= line[1];
      if (stock.quantity < 10) stock.quantity += 91;
      stock.ytd += line[1];
      stock.orders++;
      var price = stock.price * line[1];
      amount += price;
      order.lines.push({ article: line[0], name: stock.name, quantity: line[1], amount: price,
                         information: stock.districts[district - 1] });
      c.replaceDocument(stock._self, stock, function (error) { check(error); take(i + 1, done); });
    });
  }
})";

constexpr std::string_view kPayment = R"(function payment(district, customer, amount) {
  var c = getContext().getCollection(), self = c.getSelfLink(), docs = c.getAltLink() + '/docs/';
  function check(error) { if (error) throw error; }
  c.readDocument(docs + 'warehouse', function (error, warehouse) {
    check(error);
    warehouse.ytd += amount;
    c.replaceDocument(warehouse._self, warehouse, check);
    c.readDocument(docs + 'district-' + district, function (error, place) {
      check(error);
      place.ytd += amount;
      c.replaceDocument(place._self, place, check);
      c.readDocument(docs + 'customer-' + district + '-' + customer, function (error, buyer) {
        check(error);
        buyer.balance -= amount;
        buyer.paid += amount;
        buyer.payments++;
        c.replaceDocument(buyer._self, buyer, check);
        c.createDocument(self, { id: 'payment-' + district + '-' + customer + '-' + buyer.payments, w: warehouse.w,
          type: 'payment', amount: amount, at: warehouse.name + '    ' + place.name }, check);
        getContext().getResponse().setBody(buyer.balance);
      });
    });
  });
})";

class Store final : public TpccStore {
 public:
  Store(const Fixture& fixture, const TpccRun& run)
      : database_(open(fixture, run.is_durable)), container_(must(database_.container("tpcc"))) {
    must(container_.create_script(ScriptKind::procedure, "newOrder", kNewOrder));
    must(container_.create_script(ScriptKind::procedure, "payment", kPayment));
    const File input = open_file(tpcc_documents_file(fixture), "rb");
    must(container_.import([&](char* buffer, size_t capacity) {
      return static_cast<int64_t>(std::fread(buffer, 1, capacity, input.get()));
    }));
  }

  void order(const NewOrder& order) override {
    std::string arguments = fmt::format("[{},{},[", order.district, order.customer);
    for (const OrderLine& line : order.lines)
      fmt::format_to(std::back_inserter(arguments), "{}[{},{}]", &line == order.lines.data() ? "" : ",",
                     line.article, line.quantity);
    const auto done = container_.execute("newOrder", order.warehouse, arguments + "]]");
    must(done || done.error().code == QUIRE_SCRIPT_FAILED || done.error().code == QUIRE_NOT_FOUND,
         done ? "" : "quire: " + done.error().message);
  }
  void pay(const Payment& payment) override {
    must(container_.execute("payment", payment.warehouse,
                            fmt::format("[{},{},{}]", payment.district, payment.customer, payment.amount)));
  }
  std::string totals() override {
    Statement statement = must(container_.prepare(
        "SELECT VALUE [COUNT(1), SUM(c.nextOrder ?? 0), SUM(c.quantity ?? 0), SUM(c.ytd ?? 0)] FROM c"));
    std::string row;
    for (const Value value : statement.rows()) row = must(value.to_json());
    must(!statement.error(), "quire: a query failed");
    return row;
  }

 private:
  static Database open(const Fixture& fixture, bool is_durable) {
    const std::string path = fixture.new_file("tpcc.quire");
    Options options;
    options.durability = is_durable ? Durability::full : Durability::relaxed;
    Database database = must(Database::open(path, options));
    must(database.create_container(R"({"id":"tpcc","partitionKey":{"paths":["/w"]}})"));
    return database;
  }
  Database database_;
  Container container_;
};

}  // namespace

Side quire_tpcc(TpccRun run) {
  return [run](const Fixture& fixture) {
    Store store(fixture, run);
    return measure_tpcc(fixture, run, store);
  };
}

}  // namespace quire::bench
