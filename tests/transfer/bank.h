// The accounts of a bank in a database file, and its ledger of transfers; what must hold of them at all
// times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "quire/quire.hpp"

namespace quire::transfer {

inline constexpr int kBranches = 4;
inline constexpr int kAccountsOfBranch = 8;
inline constexpr int64_t kFirstBalance = 1000;
inline constexpr int64_t kSum = kBranches * kAccountsOfBranch * kFirstBalance;

struct Account {
  int branch;
  std::string id;
};
Account account(int number);  // from 0 to kBranches * kAccountsOfBranch - 1

// Ends the program with a message if a call has failed.
template <typename T>
T must(Result<T> result, const char* what) {
  if (!result) {
    fprintf(stderr, "transfer: %s: %s: %s\n", what, result.error().name(), result.error().message.c_str());
    _exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// A worker waits for others a short while only: it has to be able to give up.
Database open_bank(const std::string& path, Durability durability = Durability::relaxed);
void make_bank(Database& database);

// The one value of a query; nothing if it failed because the file was busy.
std::optional<int64_t> number_from(Database& database, const std::string& sql);
// Why the bank is not as it should be; empty: it is. Each look is one snapshot.
std::string fault_of_sum(Database& database);
std::string fault_in_the_end(Database& database);

}  // namespace quire::transfer
