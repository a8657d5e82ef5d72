// SQLite's side: the same documents as JSON text, read and changed by prepared statements from C++; nothing
// is read that is not needed, and what is changed is read in the same statement.
#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "tests/bench/lines.h"
#include "tests/bench/must.h"
#include "tests/bench/sqlite_connection.h"
#include "tests/bench/tpcc/tpcc.h"

namespace quire::bench {
namespace {

constexpr const char* kWarehouseTax =
    "SELECT json_extract(json, '$.tax') FROM documents WHERE w = ?1 AND id = 'warehouse'";
constexpr const char* kNextOrder =
    "UPDATE documents SET json = json_set(json, '$.nextOrder', json_extract(json, '$.nextOrder') + 1)"
    " WHERE w = ?1 AND id = ?2 RETURNING json_extract(json, '$.nextOrder') - 1, json_extract(json, '$.tax')";
constexpr const char* kDiscount =
    "SELECT json_extract(json, '$.discount') FROM documents WHERE w = ?1 AND id = ?2";
constexpr const char* kTake =
    "UPDATE documents SET json = json_set(json, '$.quantity', json_extract(json, '$.quantity') - ?3 +"
    " CASE WHEN json_extract(json, '$.quantity') - ?3 < 10 THEN 91 ELSE 0 END,"
    " '$.ytd', json_extract(json, '$.ytd') + ?3, '$.orders', json_extract(json, '$.orders') + 1)"
    " WHERE w = ?1 AND id = ?2"
    " RETURNING json_extract(json, '$.price'), json_extract(json, '$.name'), json_extract(json, ?4)";
constexpr const char* kInsert = "INSERT INTO documents VALUES (?1, ?2, stored(?3))";
constexpr const char* kAddYtd =
    "UPDATE documents SET json = json_set(json, '$.ytd', json_extract(json, '$.ytd') + ?3)"
    " WHERE w = ?1 AND id = ?2 RETURNING json_extract(json, '$.name')";
constexpr const char* kPay =
    "UPDATE documents SET json = json_set(json, '$.balance', json_extract(json, '$.balance') - ?3,"
    " '$.paid', json_extract(json, '$.paid') + ?3, '$.payments', json_extract(json, '$.payments') + 1)"
    " WHERE w = ?1 AND id = ?2 RETURNING json_extract(json, '$.payments')";

class Store final : public TpccStore {
 public:
  Store(const Fixture& fixture, const TpccRun& run)
      : connection_(fixture.new_file("tpcc.sqlite"), fixture.sqlite_json) {
    connection_.run(
        "CREATE TABLE documents(w INTEGER, id TEXT, json TEXT NOT NULL, PRIMARY KEY (w, id)) WITHOUT ROWID");
    load(fixture);
    if (!run.is_durable) connection_.run("PRAGMA synchronous=NORMAL");
    begin_ = connection_.prepare("BEGIN IMMEDIATE");
    commit_ = connection_.prepare("COMMIT");
    rollback_ = connection_.prepare("ROLLBACK");
    tax_ = connection_.prepare(kWarehouseTax);
    next_order_ = connection_.prepare(kNextOrder);
    discount_ = connection_.prepare(kDiscount);
    take_ = connection_.prepare(kTake);
    insert_ = connection_.prepare(kInsert);
    add_ytd_ = connection_.prepare(kAddYtd);
    pay_ = connection_.prepare(kPay);
  }

  void order(const NewOrder& order) override {
    run(begin_);
    run(ordered(order) ? commit_ : rollback_);
  }

  void pay(const Payment& payment) override {
    run(begin_);
    const std::string warehouse = add_ytd(payment, "warehouse");
    const std::string district = add_ytd(payment, district_id(payment.district));
    const std::string customer = customer_id(payment.district, payment.customer);
    bind(pay_, payment.warehouse, customer);
    sqlite3_bind_int64(pay_.get(), 3, static_cast<int64_t>(payment.amount));
    must(connection_.step(pay_), "sqlite: no customer");
    const int64_t number = sqlite3_column_int64(pay_.get(), 0);
    end(pay_);
    const std::string id = fmt::format("payment-{}-{}-{}", payment.district, payment.customer, number);
    insert(payment.warehouse, id,
           fmt::format(R"({{"id":"{}","w":{},"type":"payment","amount":{},"at":"{}    {}"}})", id,
                       payment.warehouse, payment.amount, warehouse, district));
    run(commit_);
  }

  std::string totals() override {
    const SqlStatement sums = connection_.prepare(
        "SELECT COUNT(*), SUM(json_extract(json, '$.nextOrder')), SUM(json_extract(json, '$.quantity')),"
        " SUM(json_extract(json, '$.ytd')) FROM documents");
    must(connection_.step(sums), "sqlite: no sums");
    return fmt::format("[{},{},{},{}]", text_of(sums, 0), text_of(sums, 1), text_of(sums, 2),
                       text_of(sums, 3));
  }

 private:
  void load(const Fixture& fixture) {
    connection_.run("BEGIN");
    const SqlStatement insert = connection_.prepare(
        "INSERT INTO documents VALUES (json_extract(?1, '$.w'), json_extract(?1, '$.id'), stored(?1))");
    for_each_line(tpcc_documents_file(fixture), [&](std::string_view line) {
      bind_text(insert, 1, line);
      run(insert);
    });
    connection_.run("COMMIT");
  }

  // False: there is no such article.
  bool ordered(const NewOrder& order) {
    bind(tax_, order.warehouse, {});
    const int64_t warehouse_tax = one_integer(tax_);
    const std::string district = district_id(order.district);
    bind(next_order_, order.warehouse, district);
    must(connection_.step(next_order_), "sqlite: no district");
    const int64_t number = sqlite3_column_int64(next_order_.get(), 0);
    const int64_t district_tax = sqlite3_column_int64(next_order_.get(), 1);
    end(next_order_);
    const std::string customer = customer_id(order.district, order.customer);
    bind(discount_, order.warehouse, customer);
    const int64_t discount = one_integer(discount_);
    std::string lines;
    int64_t amount = 0;
    const std::string information = fmt::format("$.districts[{}]", order.district - 1);
    for (const OrderLine& line : order.lines) {
      const std::optional<int64_t> price = take(order, line, information, lines);
      if (!price) return false;
      amount += *price;
    }
    const std::string id = fmt::format("order-{}-{}", order.district, number);
    insert(order.warehouse, id,
           fmt::format(
               R"({{"type":"order","district":{},"customer":{},"lines":[{}],"id":"{}","w":{},"amount":{}}})",
               order.district, order.customer, lines, id, order.warehouse,
               amount * (100 - discount) * (100 + warehouse_tax + district_tax) / 10'000));
    return true;
  }

  // What the line costs; appends it to the lines of the order.
  std::optional<int64_t> take(const NewOrder& order, const OrderLine& line, const std::string& information,
                              std::string& lines) {
    const std::string stock = stock_id(line.article);
    bind(take_, order.warehouse, stock);
    sqlite3_bind_int64(take_.get(), 3, static_cast<int64_t>(line.quantity));
    bind_text(take_, 4, information);
    std::optional<int64_t> price;
    if (connection_.step(take_)) {
      price = sqlite3_column_int64(take_.get(), 0) * static_cast<int64_t>(line.quantity);
      fmt::format_to(std::back_inserter(lines),
                     R"({}{{"article":{},"name":"{}","quantity":{},"amount":{},"information":"{}"}})",
                     lines.empty() ? "" : ",", line.article, text_of(take_, 1), line.quantity, *price,
                     text_of(take_, 2));
    }
    end(take_);
    return price;
  }

  std::string add_ytd(const Payment& payment, const std::string& id) {
    bind(add_ytd_, payment.warehouse, id);
    sqlite3_bind_int64(add_ytd_.get(), 3, static_cast<int64_t>(payment.amount));
    must(connection_.step(add_ytd_), "sqlite: no such document");
    std::string name(text_of(add_ytd_, 0));
    end(add_ytd_);
    return name;
  }

  void insert(uint64_t warehouse, const std::string& id, const std::string& json) {
    bind(insert_, warehouse, id);
    bind_text(insert_, 3, json);
    run(insert_);
  }

  static void bind(const SqlStatement& statement, uint64_t warehouse, std::string_view id) {
    sqlite3_bind_int64(statement.get(), 1, static_cast<int64_t>(warehouse));
    if (!id.empty()) bind_text(statement, 2, id);
  }
  int64_t one_integer(const SqlStatement& statement) {
    must(connection_.step(statement), "sqlite: no such document");
    const int64_t number = sqlite3_column_int64(statement.get(), 0);
    sqlite3_reset(statement.get());
    return number;
  }
  // Steps to the end, as RETURNING asks for, and resets.
  void end(const SqlStatement& statement) {
    while (connection_.step(statement)) {
    }
    sqlite3_reset(statement.get());
  }
  void run(const SqlStatement& statement) {
    connection_.step(statement);
    sqlite3_reset(statement.get());
  }

  Connection connection_;
  SqlStatement begin_, commit_, rollback_, tax_, next_order_, discount_, take_, insert_, add_ytd_, pay_;
};

}  // namespace

Side sqlite_tpcc(TpccRun run) {
  return [run](const Fixture& fixture) {
    Store store(fixture, run);
    return measure_tpcc(fixture, run, store);
  };
}

}  // namespace quire::bench
