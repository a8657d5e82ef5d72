// The counters of a container, exact, in one row of <c>/stats that each write transaction keeps:
//
//   byte 0..7    items
//        8..15   bytes of their documents
//        16..23  LSN of the last write
//        24..31  rid of the last item created
#pragma once

#include <cstdint>

#include "engine/container/record.h"
#include "engine/file/transaction.h"
#include "sql/error.h"

namespace quire::engine {

struct ContainerStatistics {
  uint64_t items = 0;
  uint64_t document_bytes = 0;
  Lsn last_lsn{};
  uint64_t last_rid = 0;
};

// container_not_found if the row is missing: it goes with its container.
Result<ContainerStatistics> read_statistics(const Transaction& transaction, Table table);
Result<void> write_statistics(WriteTransaction& transaction, Table table,
                              const ContainerStatistics& statistics);

}  // namespace quire::engine
