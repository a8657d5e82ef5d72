#include "tests/damage/probe.h"

#include <fmt/format.h>

#include <filesystem>

#include "quire/quire.hpp"

namespace quire::tests {
namespace {

constexpr std::string_view kReads[] = {
    "SELECT * FROM orders o",
    "SELECT VALUE o.total FROM orders o WHERE o.total > 50 ORDER BY o.total",
    "SELECT o.customer, COUNT(1) AS n, SUM(o.total) AS total FROM orders o GROUP BY o.customer",
    "SELECT VALUE o.id FROM orders o WHERE ARRAY_CONTAINS(o.tags, 'tag 3')",
    "SELECT VALUE o FROM orders o WHERE o.number = 77",
    "SELECT TOP 10 o.id FROM orders o ORDER BY o.customer, o.total DESC",
    "SELECT VALUE t FROM o IN orders JOIN t IN o.tags",
    "SELECT VALUE o.id FROM orders o WHERE o.tenant = 't1' AND o.customer = 4",
    "SELECT VALUE twice(o.total) FROM orders o WHERE o.number < 5",
    "EXECUTE total() ON orders IN PARTITION ['t1', 4]",
    "SELECT * FROM sessions s WHERE s.user >= 'user 2' ORDER BY s.user",
    "SELECT VALUE s.pages[1].deep[0] FROM sessions s WHERE s.ttl > 0",
    "SELECT VALUE LENGTH(t.text) FROM texts t",
    "ADVISE orders",
    "CHECK",
};
constexpr std::string_view kWrites[] = {
    "INSERT INTO orders VALUES {id: 'new', tenant: 't9', customer: 9, number: 5000, total: 9}",
    "UPDATE orders SET orders.total = orders.total + 1 WHERE orders.customer = 3",
    "DELETE FROM sessions WHERE sessions.user = 'user 7'",
    "UPSERT INTO texts VALUES {id: 'aaa0', text: 'short'}",
    "CREATE INDEX fresh ON sessions (ttl)",
    "DROP CONTAINER texts",
};

class Probe {
 public:
  bool run(const std::string& path, bool is_trusted) {
    use(path, is_trusted);
    note(Database::recover(path, path + "-saved"));
    if (std::filesystem::exists(path + "-saved")) use(path + "-saved", true);
    note(Database::compact(path));
    return is_good_;
  }

 private:
  template <typename Outcome>
  bool note(const Outcome& outcome) {
    if (outcome) return true;
    if (!outcome.error().message.empty() && outcome.error().code != QUIRE_INTERNAL) return false;
    fmt::print(stderr, "error {}: '{}'\n", outcome.error().code, outcome.error().message);
    is_good_ = false;
    return false;
  }

  void use(const std::string& path, bool is_trusted) {
    auto database = Database::open(path, {.durability = Durability::none,
                                          .busy_timeout_ms = 2000,
                                          .untrusted = !is_trusted,
                                          .verify_checksums = !is_trusted,
                                          .trust_scripts = true});
    if (!note(database)) return;
    note(database->containers());
    note(database->check());
    for (const std::string_view sql : kReads) run_statement(*database, sql);
    for (const std::string_view name : {"orders", "sessions", "texts"}) read_feed(*database, name);
    for (const std::string_view sql : kWrites) run_statement(*database, sql);
    note(database->erase_expired());
    note(database->check());
    note(database->backup(path + "-copy"));
    note(database->close());
  }

  void run_statement(Database& database, std::string_view sql) {
    auto statement = database.prepare(sql);
    if (!note(statement)) return;
    for (;;) {
      const auto has_row = statement->step();
      if (!note(has_row) || !*has_row) return;
      note(statement->row_json());
    }
  }

  void read_feed(Database& database, std::string_view name) {
    auto container = database.container(name);
    if (!note(container)) return;
    auto feed = container->feed();
    if (!note(feed)) return;
    for (;;) {
      const auto has_more = feed->next();
      if (!note(has_more) || !*has_more) return;
    }
  }

  bool is_good_ = true;
};

}  // namespace

bool probe_file(const std::string& path, bool is_trusted) {
  return Probe().run(path, is_trusted);
}

}  // namespace quire::tests
