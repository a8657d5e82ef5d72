#include "tests/histories/player.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "quire/quire.hpp"
#include "tests/histories/disturbers.h"
#include "tests/histories/history.h"

namespace quire::tests {
namespace {

constexpr int kMostThreads = 16;
constexpr int64_t kMostTransactions = 1'000'000;

std::string append_patch(int64_t value) {
  return fmt::format(R"([{{"op":"add","path":"/list/-","value":{}}}])", value);
}

// Makes transactions, one after the other.
class Player {
 public:
  Player(Database& database, const PlayPlan& plan, int thread)
      : database_(database),
        lists_(database.container("lists").value()),
        history_(fmt::format("{}/{}-{}", plan.history_folder, plan.process, thread)),
        random_(plan.seed * 1000 + static_cast<uint64_t>(plan.process * kMostThreads + thread)),
        next_((int64_t{plan.process} * kMostThreads + thread) * kMostTransactions + 1) {}

  // Empty, or what failed.
  std::string play_one() {
    const Kind& kind = kinds()[pick(kinds().size())];
    record_ = {};
    record_.number = next_++;
    record_.kind = kind.name;
    draw_operations(kind);
    record_.begun = moment_now();
    history_.begins(record_);
    const Result<bool> done = (this->*kind.play)();
    record_.ended = moment_now();
    record_.outcome = done.value_or(false) ? Outcome::done : Outcome::undone;
    history_.ends(record_);
    if (done || done.error().code == QUIRE_BUSY) return "";
    return fmt::format("{}: {}: {}", kind.name, done.error().name(), done.error().message);
  }

 private:
  struct Kind {
    const char* name;
    bool appends;
    Result<bool> (Player::*play)();  // false: it was undone
  };
  static std::span<const Kind> kinds();

  size_t pick(size_t below) { return random_() % below; }

  void draw_operations(const Kind& kind) {
    const auto partition = static_cast<int>(pick(kPartitions));
    if (kind.play == &Player::by_query) {  // reads all lists of the partition
      for (int i = 0; i < kListsOfPartition; ++i)
        record_.operations.push_back({.list = list_number(partition, i)});
      return;
    }
    const size_t count = 1 + pick(4);
    int64_t value = record_.number * kMostAppends;
    for (size_t i = 0; i < count; ++i) {
      Operation operation{.list = list_number(partition, static_cast<int>(pick(kListsOfPartition)))};
      operation.appends = kind.appends && (i == 0 || pick(2) == 0);
      if (operation.appends) operation.value = value++;
      record_.operations.push_back(std::move(operation));
    }
  }
  int partition() const { return partition_of(record_.operations.front().list); }

  Result<bool> by_batch() { return batch(false); }
  Result<bool> by_batch_that_fails() { return batch(true); }
  Result<bool> batch(bool fails) {
    Batch batch;
    for (const Operation& operation : record_.operations)
      operation.appends ? batch.patch(id_of(operation.list), append_patch(operation.value))
                        : batch.read(id_of(operation.list));
    if (fails) batch.remove("nobody");
    const BatchResult result = lists_.execute(partition(), batch);
    if (result.error && fails && result.error->code == QUIRE_NOT_FOUND) return false;
    if (result.error) return Failure(*result.error);
    for (size_t i = 0; i < record_.operations.size(); ++i)
      if (!record_.operations[i].appends) see(record_.operations[i], result.operations[i].json);
    return true;
  }

  Result<bool> by_transaction() { return transaction(true); }
  Result<bool> by_rollback() { return transaction(false); }
  Result<bool> transaction(bool commits) {
    auto transaction = database_.begin_transaction();
    if (!transaction) return Failure(transaction.error());
    for (Operation& operation : record_.operations) {
      if (operation.appends) {
        const auto patched = lists_.patch(partition(), id_of(operation.list), append_patch(operation.value),
                                          {.transaction = &*transaction});
        if (!patched) return Failure(patched.error());
      } else {
        const auto item = lists_.read(partition(), id_of(operation.list), {}, &*transaction);
        if (!item) return Failure(item.error());
        see(operation, item->json);
      }
    }
    if (!commits) return false;
    if (auto committed = transaction->commit(); !committed) return Failure(committed.error());
    return true;
  }

  Result<bool> by_statements() {
    if (auto begun = run("BEGIN", nullptr); !begun) return Failure(begun.error());
    for (Operation& operation : record_.operations) {
      const std::string where =
          fmt::format("WHERE c.p = {} AND c.id = '{}'", partition(), id_of(operation.list));
      const auto done =
          operation.appends
              ? run(fmt::format("PATCH lists c WITH {} {}", append_patch(operation.value), where), nullptr)
              : run("SELECT c.list FROM lists c " + where,
                    [&](int, const std::string& json) { see(operation, json); });
      if (!done) {
        static_cast<void>(run("ROLLBACK", nullptr));
        return Failure(done.error());
      }
    }
    if (auto committed = run("COMMIT", nullptr); !committed) return Failure(committed.error());
    return true;
  }

  // The procedure gives what it has read.
  Result<bool> by_procedure() {
    std::string operations;
    for (const Operation& operation : record_.operations)
      operations += fmt::format(R"({}["{}",{}])", operations.empty() ? "" : ",", id_of(operation.list),
                                operation.appends ? std::to_string(operation.value) : "null");
    const auto result = lists_.execute("play", partition(), fmt::format("[[{}]]", operations));
    if (!result) return Failure(result.error());
    size_t at = 1;  // behind the array's own bracket
    for (Operation& operation : record_.operations) {
      if (operation.appends) continue;
      at = result->body.find('[', at);
      see(operation, result->body.substr(at));
      at = result->body.find(']', at);
    }
    return true;
  }

  Result<bool> by_snapshot() {
    auto snapshot = database_.begin_snapshot();
    if (!snapshot) return Failure(snapshot.error());
    for (Operation& operation : record_.operations) {
      const auto item = snapshot->read(lists_, partition(), id_of(operation.list));
      if (!item) return Failure(item.error());
      const auto json = item->to_json();
      if (!json) return Failure(json.error());
      see(operation, *json);
    }
    return true;
  }

  Result<bool> by_query() {
    const auto done =
        run(fmt::format("SELECT VALUE c.list FROM lists c WHERE c.p = {} ORDER BY c.id", partition()),
            [&](int row, const std::string& json) {
              see(record_.operations.at(static_cast<size_t>(row)), json);
            });
    if (!done) return Failure(done.error());
    return true;
  }

  static void see(Operation& operation, const std::string& json) { operation.seen = parse_list(json); }

  Result<void> run(const std::string& sql,
                   const std::function<void(int row, const std::string& json)>& on_row) {
    auto statement = database_.prepare(sql);
    if (!statement) return Failure(statement.error());
    for (int row = 0;; ++row) {
      const auto has_row = statement->step();
      if (!has_row) return Failure(has_row.error());
      if (!*has_row) return {};
      const auto json = statement->row_json();
      if (!json) return Failure(json.error());
      if (on_row) on_row(row, std::string(*json));
    }
  }

  Database& database_;
  Container lists_;
  HistoryWriter history_;
  std::mt19937_64 random_;
  int64_t next_;
  TransactionRecord record_;
};

std::span<const Player::Kind> Player::kinds() {
  static constexpr Kind kKinds[] = {{"batch", true, &Player::by_batch},
                                    {"failing-batch", true, &Player::by_batch_that_fails},
                                    {"transaction", true, &Player::by_transaction},
                                    {"rollback", true, &Player::by_rollback},
                                    {"statements", true, &Player::by_statements},
#if QUIRE_HAS_SCRIPTS
                                    {"procedure", true, &Player::by_procedure},
#endif
                                    {"reading-transaction", false, &Player::by_transaction},
                                    {"snapshot", false, &Player::by_snapshot},
                                    {"query", false, &Player::by_query}};
  return kKinds;
}

}  // namespace

bool lay_out_lists(const std::string& path) {
  auto database = Database::open(path);
  if (!database) return false;
  const auto made = database->create_container(
      R"({"id":"lists","partitionKey":{"paths":["/p"]},"changeFeedPolicy":{"retentionDuration":60}})");
  auto lists = database->container("lists");
  if (!made || !lists) return false;
  for (ListNumber list = 0; list < kPartitions * kListsOfPartition; ++list)
    if (!lists->create(fmt::format(R"({{"id":"{}","p":{},"list":[]}})", id_of(list), partition_of(list))))
      return false;
#if QUIRE_HAS_SCRIPTS
  const auto created = lists->create_script(ScriptKind::procedure, "play", R"(
    async function play(operations) {
      const seen = [];
      const link = __.getAltLink() + '/docs/';
      const step = (i) => {
        if (i == operations.length) return __.response.setBody(seen);
        const [id, value] = operations[i];
        __.readDocument(link + id, (error, item) => {
          if (error) throw error;
          if (value === null) { seen.push(item.list); return step(i + 1); }
          item.list.push(value);
          __.replaceDocument(item._self, item, (error) => { if (error) throw error; step(i + 1); });
        });
      };
      step(0);
    })");
  if (!created) {
    fmt::print("{}\n", created.error().message);
    return false;
  }
#endif
  return true;
}

bool play(const PlayPlan& plan, int64_t milliseconds) {
  Options options;
  options.durability = plan.durability;
  auto database = Database::open(plan.path, options);
  if (!database) {
    fmt::print("open: {}\n", database.error().message);
    return false;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  const auto has_time = [end] { return std::chrono::steady_clock::now() < end; };
  std::atomic<bool> is_right = true;
  const auto until_the_end = [&](const std::function<std::string()>& act) {
    while (is_right && has_time())
      if (const std::string fault = act(); !fault.empty()) {
        fmt::print("{}\n", fault);
        is_right = false;
      }
  };
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < plan.threads; ++thread)
      threads.emplace_back([&, thread] {
        Player player(*database, plan, thread);
        until_the_end([&] { return player.play_one(); });
      });
    if (plan.has_disturbers)
      for (const auto make : disturbers())
        threads.emplace_back([&, make] { until_the_end(make(*database, plan.path, plan.process)); });
  }
  return is_right;
}

}  // namespace quire::tests
