#include "engine/container/statistics.h"

#include <cstring>
#include <optional>
#include <type_traits>

namespace quire::engine {
namespace {

static_assert(std::is_trivially_copyable_v<ContainerStatistics> && sizeof(ContainerStatistics) == 48);
constexpr size_t kBytesOfFormat2 = 32;

}  // namespace

std::optional<ContainerStatistics> parse_statistics(Bytes row) noexcept {
  ContainerStatistics statistics;
  if (row.size() != sizeof statistics && row.size() != kBytesOfFormat2) return std::nullopt;
  std::memcpy(&statistics, row.data(), row.size());
  return statistics;
}

Result<ContainerStatistics> read_statistics(const Transaction& transaction, Table table) {
  QUIRE_ASSIGN(const std::optional<Bytes> row, transaction.get(table, kCountersRow));
  if (!row) return fail(ErrorCode::container_not_found, "the container was dropped");
  const auto statistics = parse_statistics(*row);
  if (!statistics) return fail(ErrorCode::corrupt, "the counters of a container are damaged");
  return *statistics;
}

Result<void> write_statistics(WriteTransaction& transaction, Table table,
                              const ContainerStatistics& statistics) {
  return transaction.put(table, kCountersRow,
                         {reinterpret_cast<const char*>(&statistics), sizeof statistics});
}

}  // namespace quire::engine
