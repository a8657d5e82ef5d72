#include "engine/container/statistics.h"

#include <cstring>
#include <optional>
#include <type_traits>

namespace quire::engine {
namespace {

constexpr std::string_view kRow = "counters";
static_assert(std::is_trivially_copyable_v<ContainerStatistics> && sizeof(ContainerStatistics) == 48);
constexpr size_t kBytesOfFormat2 = 32;

}  // namespace

Result<ContainerStatistics> read_statistics(const Transaction& transaction, Table table) {
  QUIRE_ASSIGN(const std::optional<Bytes> row, transaction.get(table, kRow));
  if (!row) return fail(ErrorCode::container_not_found, "the container was dropped");
  ContainerStatistics statistics;
  if (row->size() != sizeof statistics && row->size() != kBytesOfFormat2)
    return fail(ErrorCode::corrupt, "the counters of a container are damaged");
  std::memcpy(&statistics, row->data(), row->size());
  return statistics;
}

Result<void> write_statistics(WriteTransaction& transaction, Table table,
                              const ContainerStatistics& statistics) {
  return transaction.put(table, kRow, {reinterpret_cast<const char*>(&statistics), sizeof statistics});
}

}  // namespace quire::engine
