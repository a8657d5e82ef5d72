// The counters of a container, exact, in one row of <c>/stats that each write transaction keeps:
//
//   byte 0..7    items
//        8..15   bytes of their documents
//        16..23  LSN of the last write
//        24..31  rid of the last item created
//        32..39  LSN up to which the change feed has let go of versions, or never had them
//        40..43  for how many minutes it keeps versions; 0: it keeps none
//        44..47  1: there may be versions, also some past their time
//
// In a file of format 2 or older the row ends after the rid; so it does until the container is written again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/container/record.h"
#include "engine/file/transaction.h"
#include "sql/error.h"

namespace quire::engine {

struct ContainerStatistics {
  uint64_t items = 0;
  uint64_t document_bytes = 0;
  Lsn last_lsn{};
  uint64_t last_rid = 0;
  Lsn versions_after{};
  uint32_t retention_minutes = 0;
  uint32_t has_versions = 0;
};

inline constexpr std::string_view kCountersRow = "counters";
// Of the row's bytes; nothing if they are none.
std::optional<ContainerStatistics> parse_statistics(Bytes row) noexcept;

// container_not_found if the row is missing: it goes with its container.
Result<ContainerStatistics> read_statistics(const Transaction& transaction, Table table);
Result<void> write_statistics(WriteTransaction& transaction, Table table,
                              const ContainerStatistics& statistics);

}  // namespace quire::engine
