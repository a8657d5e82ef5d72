#include "tests/transfer/bank.h"

#include <fmt/format.h>

namespace quire::transfer {

Account account(int number) {
  return {number / kAccountsOfBranch, fmt::format("a{}", number % kAccountsOfBranch)};
}

Database open_bank(const std::string& path, Durability durability) {
  Options options;
  options.busy_timeout_ms = 2000;
  options.durability = durability;
  return must(Database::open(path, options), "open");
}

void make_bank(Database& database) {
  const auto run = [&](const char* sql) {
    Statement statement = must(database.prepare(sql), sql);
    must(statement.step(), sql);
  };
  run("CREATE CONTAINER accounts PARTITION KEY ('/branch')");
  run("CREATE INDEX balances ON accounts (balance)");
  run("CREATE CONTAINER ledger PARTITION KEY ('/worker')");
  Container accounts = must(database.container("accounts"), "open accounts");
  for (int i = 0; i < kBranches * kAccountsOfBranch; ++i)
    must(accounts.create(fmt::format(R"({{"id":"{}","branch":{},"balance":{}}})", account(i).id,
                                     account(i).branch, kFirstBalance)),
         "make an account");
}

std::optional<int64_t> number_from(Database& database, const std::string& sql) {
  Statement statement = must(database.prepare(sql), "prepare");
  const auto has_row = statement.step();
  if (!has_row && has_row.error().code == QUIRE_BUSY) return std::nullopt;
  return must(has_row, "step") ? statement.row().as_integer() : 0;
}

std::string fault_of_sum(Database& database) {
  const auto sum = number_from(database, "SELECT VALUE SUM(a.balance) FROM accounts a");
  if (!sum || *sum == kSum) return "";
  return fmt::format("the accounts hold {}, not {}", *sum, kSum);
}

std::string fault_in_the_end(Database& database) {
  if (const std::string fault = fault_of_sum(database); !fault.empty()) return fault;
  const auto number = [&](const char* sql) { return number_from(database, sql).value_or(-1); };
  const int64_t all = number("SELECT VALUE COUNT(1) FROM accounts a");
  if (all != kBranches * kAccountsOfBranch) return fmt::format("there are {} accounts", all);
  const int64_t indexed = number("SELECT VALUE SUM(a.balance) FROM accounts a WHERE a.balance >= -1000000");
  if (indexed != kSum) return fmt::format("by the index the accounts hold {}, not {}", indexed, kSum);
  if (number("SELECT VALUE COUNT(1) FROM accounts a WHERE a.balance < 0") != 0)
    return "an account was overdrawn";
  return "";
}

}  // namespace quire::transfer
