// Whether what transactions did and saw could have happened one after the other: in the order of the change
// feed's LSNs, each seeing all of those before it and none of those after, none half, and none before one
// that had ended when it began.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/histories/history.h"

namespace quire::tests {

// A version of a list, from the change feed.
struct ListVersion {
  uint64_t lsn;
  ListNumber list;
  List values;
};

// Why it could not; empty: it could. `versions` in the order of their LSNs, all since the lists were empty.
std::string fault_of_history(std::span<const TransactionRecord> records,
                             std::span<const ListVersion> versions);

}  // namespace quire::tests
