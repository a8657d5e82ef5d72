// Quire's side: stored procedures in JavaScript, as they would be written for Azure.
#include <fmt/format.h>

#include <iterator>

#include "quire/quire.hpp"
#include "tests/bench/must.h"
#include "tests/bench/tpcc/tpcc.h"

namespace quire::bench {
namespace {

// Asks for the members that it needs of all documents in one query, takes the articles from the stock by
// patches, and writes the order with its lines; the response is the amount.
constexpr std::string_view kNewOrder = R"(function newOrder(district, customer, lines) {
  var c = getContext().getCollection(), self = c.getSelfLink(), docs = c.getAltLink() + '/docs/';
  var placeId = 'district-' + district, buyerId = 'customer-' + district + '-' + customer;
  var ids = ['warehouse', placeId, buyerId];
  lines.forEach(function (line) { ids.push('stock-' + line[0]); });
  var query = { query: 'SELECT c.id, c.w, c.tax, c.nextOrder, c.discount, c.price, c.quantity, c.name, c.districts[' +
    (district - 1) + '] AS information FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', parameters: [{ name: '@ids', value: ids }] };
  c.queryDocuments(self, query, { pageSize: -1 }, function (error, documents) {
    if (error) throw error;
    var found = {};
    documents.forEach(function (document) { found[document.id] = document; });
    var warehouse = found.warehouse, place = found[placeId], buyer = found[buyerId], amount = 0;
    var order = { type: 'order', district: district, customer: customer };
    var take = [{ op: 'set', path: '/quantity', value: 0 }, { op: 'incr', path: '/ytd', value: 0 },
      { op: 'incr', path: '/orders', value: 1 }];
    order.lines = lines.map(function (line) {
      var id = 'stock-' + line[0], stock = found[id], quantity = line[1];
      if (!stock) throw new Error('there is no article ' + line[0]);
      var left = stock.quantity - quantity, price = stock.price * quantity;
      amount += price;
      take[0].value = left < 10 ? left + 91 : left;
      take[1].value = quantity;
      c.patchDocument(docs + id, take);
      return { article: line[0], name: stock.name, quantity: quantity, amount: price,
               information: stock.information };
    });
    c.patchDocument(docs + placeId, [{ op: 'incr', path: '/nextOrder', value: 1 }]);
    order.id = 'order-' + district + '-' + place.nextOrder;
    order.w = warehouse.w;
    order.amount = Math.floor(amount * (100 - buyer.discount) * (100 + warehouse.tax + place.tax) / 10000);
    c.createDocument(self, order);
    getContext().getResponse().setBody(order.amount);
  });
})";

// Patches give the documents as they are then.
constexpr std::string_view kPayment = R"(function payment(district, customer, amount) {
  var c = getContext().getCollection(), self = c.getSelfLink(), docs = c.getAltLink() + '/docs/';
  function check(error) { if (error) throw error; }
  c.patchDocument(docs + 'warehouse', [{ op: 'incr', path: '/ytd', value: amount }], function (error, warehouse) {
    check(error);
    c.patchDocument(docs + 'district-' + district, [{ op: 'incr', path: '/ytd', value: amount }], function (error, place) {
      check(error);
      c.patchDocument(docs + 'customer-' + district + '-' + customer, [{ op: 'incr', path: '/balance', value: -amount },
        { op: 'incr', path: '/paid', value: amount }, { op: 'incr', path: '/payments', value: 1 }], function (error, buyer) {
        check(error);
        c.createDocument(self, { id: 'payment-' + district + '-' + customer + '-' + buyer.payments, w: warehouse.w,
          type: 'payment', amount: amount, at: warehouse.name + '    ' + place.name });
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
