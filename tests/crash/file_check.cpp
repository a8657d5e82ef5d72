#include "tests/crash/file_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "quire/quire.hpp"
#include "tests/crash/workload.h"

namespace quire::tests {
namespace {

std::string fault_of_check(Database& database) {
  const auto found = database.check();
  if (!found) return "CHECK: " + found.error().message;
  return *found == "[]" ? "" : "CHECK finds " + *found;
}

std::string fault_of_holdings(Database& database, const MayHold& may_hold) {
  const Found found = look_for_holdings(database, may_hold.writer);
  if (!found.failure.empty()) return fmt::format("writer {}: {}", may_hold.writer, found.failure);
  if (std::ranges::count(may_hold.fingerprints, found.fingerprint) > 0) return "";
  return fmt::format("writer {} holds what it never held, or not what it was told is done", may_hold.writer);
}

std::string fault_after_write(Database& database) {
  if (auto made = database.create_container(R"({"id":"afterwards"})"); !made)
    return "a container cannot be made: " + made.error().message;
  auto container = database.container("afterwards");
  if (!container) return "the new container cannot be opened: " + container.error().message;
  if (const auto created = container->create(R"({"id":"1"})"); !created)
    return "an item cannot be written: " + created.error().message;
  return fault_of_check(database);
}

}  // namespace

std::string fault_of_file(const std::string& path, const std::vector<MayHold>& may_hold, Look look) {
  auto database = Database::open(path, {.must_exist = !may_hold.empty(), .durability = Durability::none});
  if (!database)
    return fmt::format("it does not open: {}: {}", database.error().name(), database.error().message);
  std::string fault = fault_of_check(*database);
  for (const MayHold& one : may_hold)
    if (fault.empty()) fault = fault_of_holdings(*database, one);
  if (fault.empty() && look == Look::write_afterwards) fault = fault_after_write(*database);
  return fault;
}

}  // namespace quire::tests
