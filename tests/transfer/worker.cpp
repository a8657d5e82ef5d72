#include "tests/transfer/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <vector>

#include "tests/transfer/bank.h"

namespace quire::transfer {
namespace {

// What a transfer came to.
enum class Outcome : uint8_t { done, refused, given_up };

class Teller {
 public:
  Teller(const WorkerPlan& plan, int thread)
      : database_(open_bank(plan.path, plan.durability)),
        accounts_(must(database_.container("accounts"), "open accounts")),
        ledger_(must(database_.container("ledger"), "open ledger")),
        name_(fmt::format("{}-{}", plan.name, thread)),
        random_(plan.seed + static_cast<uint64_t>(thread)) {}

  // One transfer of a random kind. Those that are done have a number in the ledger, one after the other.
  Outcome transfer() {
    from_ = account(pick(kBranches * kAccountsOfBranch));
    do to_ = account(pick(kBranches * kAccountsOfBranch));
    while (to_.branch == from_.branch && to_.id == from_.id);
    amount_ = pick(50) + 1;
    switch (pick(5)) {
      case 0:
        return by_batch();
      case 1:
        return by_etags();
      case 2:
        return by_statements();
      default:
        return by_transaction(pick(4) == 0);
    }
  }
  Database& database() { return database_; }

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  // A write may fail because of its deadline, a stale etag or a condition: then nothing may have happened.
  static Outcome outcome_of(const std::optional<Error>& error) {
    if (!error) return Outcome::done;
    if (error->code == QUIRE_BUSY) return Outcome::given_up;
    if (error->code == QUIRE_PRECONDITION_FAILED) return Outcome::refused;
    fprintf(stderr, "transfer: %s: %s\n", error->name(), error->message.c_str());
    _exit(1);
  }
  template <typename T>
  static Outcome outcome_of(const Result<T>& result) {
    return outcome_of(result ? std::optional<Error>() : std::optional(result.error()));
  }

  std::string withdrawal() const {
    return fmt::format(R"({{"condition":"FROM c WHERE c.balance >= {}",)"
                       R"("operations":[{{"op":"incr","path":"/balance","value":-{}}}]}})",
                       amount_, amount_);
  }
  std::string deposit() const {
    return fmt::format(R"([{{"op":"incr","path":"/balance","value":{}}}])", amount_);
  }
  std::string entry() const {
    return fmt::format(R"({{"id":"{}","worker":"{}","n":{},"amount":{}}})", next_, name_, next_, amount_);
  }

  Outcome by_transaction(bool rolls_back) {
    auto begun = database_.begin_transaction();
    if (!begun) return outcome_of(begun);
    Transaction transaction = std::move(*begun);
    const WriteOptions within{.transaction = &transaction};
    const Outcome taken = outcome_of(accounts_.patch(from_.branch, from_.id, withdrawal(), within));
    if (taken != Outcome::done) return taken;
    if (rolls_back) return Outcome::refused;
    const Outcome given = outcome_of(accounts_.patch(to_.branch, to_.id, deposit(), within));
    if (given != Outcome::done) return given;
    const Outcome entered = outcome_of(ledger_.create(entry(), &transaction));
    if (entered != Outcome::done) return entered;
    return counted(outcome_of(transaction.commit()));
  }

  // Within one partition.
  Outcome by_batch() {
    to_.branch = from_.branch;
    if (to_.id == from_.id) return Outcome::refused;
    Batch batch;
    batch.patch(from_.id, withdrawal()).patch(to_.id, deposit());
    return outcome_of(accounts_.execute(from_.branch, batch).error);
  }

  // Reads, computes, and replaces what has not changed since.
  Outcome by_etags() {
    to_.branch = from_.branch;
    if (to_.id == from_.id) return Outcome::refused;
    const ReadItem from = must(accounts_.read(from_.branch, from_.id), "read an account");
    const ReadItem to = must(accounts_.read(to_.branch, to_.id), "read an account");
    const auto with = [&](const Account& account, const ReadItem& item, int64_t change) {
      const size_t at = item.json.find("\"balance\":") + 10;
      const int64_t balance = std::stoll(item.json.substr(at)) + change;
      return balance < 0 ? std::string()
                         : fmt::format(R"({{"id":"{}","branch":{},"balance":{}}})", account.id,
                                       account.branch, balance);
    };
    const std::string less = with(from_, from, -amount_);
    if (less.empty()) return Outcome::refused;
    Batch batch;
    batch.replace(less, from.info.etag()).replace(with(to_, to, amount_), to.info.etag());
    return outcome_of(accounts_.execute(from_.branch, batch).error);
  }

  Outcome by_statements() {
    if (const Outcome begun = run("BEGIN"); begun != Outcome::done) return begun;
    const auto move = [&](const Account& account, int64_t change) {
      return run(
          fmt::format("UPDATE accounts a SET a.balance = a.balance + {} WHERE a.branch = {} AND a.id = '{}' "
                      "AND a.balance + {} >= 0",
                      change, account.branch, account.id, change));
    };
    const bool is_moved = move(from_, -amount_) == Outcome::done && changed_ == 1 &&
                          move(to_, amount_) == Outcome::done && changed_ == 1 &&
                          run("INSERT INTO ledger VALUES " + entry()) == Outcome::done;
    if (!is_moved) {
      run("ROLLBACK");
      return Outcome::refused;
    }
    return counted(run("COMMIT"));
  }
  Outcome run(const std::string& sql) {
    Statement statement = must(database_.prepare(sql), "prepare");
    const Outcome outcome = outcome_of(statement.step());
    changed_ = statement.stats().items_changed;
    return outcome;
  }

  Outcome counted(Outcome outcome) {
    if (outcome == Outcome::done) ++next_;
    return outcome;
  }

 public:
  uint64_t entries() const { return next_; }

 private:
  Database database_;
  Container accounts_, ledger_;
  std::string name_;
  std::mt19937_64 random_;
  Account from_{}, to_{};
  int64_t amount_ = 0;
  uint64_t next_ = 0;  // number of the next entry
  uint64_t changed_ = 0;
};

void look_at_the_sum(const WorkerPlan& plan, Acknowledged& acknowledged) {
  Database database = open_bank(plan.path, plan.durability);
  for (;;) {
    if (const std::string fault = fault_of_sum(database); !fault.empty()) {
      fprintf(stderr, "transfer: %s\n", fault.c_str());
      acknowledged.has_failed = 1;
    }
    ++acknowledged.looks;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

void run_worker(const WorkerPlan& plan, Acknowledged& acknowledged) {
  std::vector<std::jthread> running;
  for (int thread = 0; thread < plan.threads; ++thread)
    running.emplace_back([&, thread] {
      Teller teller(plan, thread);
      for (;;) {
        if (teller.transfer() == Outcome::given_up) ++acknowledged.given_up;
        acknowledged.transfers[plan.number][thread] = teller.entries();
      }
    });
  look_at_the_sum(plan, acknowledged);
  _exit(0);
}

}  // namespace quire::transfer
