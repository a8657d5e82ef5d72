// A transactional batch (DIALECT.md, section 11): operations on one partition that happen as a whole or not
// at all, one after the other, each seeing those before it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/container/container.h"
#include "sql/error.h"

namespace quire::engine {

inline constexpr size_t kMostBatchOperations = 100;
inline constexpr size_t kMostBatchBytes = size_t{2} << 20;  // of ids, items and patches together

enum class BatchKind : uint8_t { create, upsert, replace, read, patch, remove };

struct BatchOperation {
  BatchKind kind;
  std::string_view id;    // read, patch, remove; replace, if it is not that of the body
  std::string_view body;  // JSON: of the item, or of the patch (patch.h)
  std::string_view if_match;
  std::string_view if_none_match;  // read
};

// What became of an operation. Status as HTTP has it: 200, 201 (created), 204 (removed), 304 (unchanged),
// that of the error for the one that failed, 424 for the others then.
struct BatchOutcome {
  int status = 424;
  Etag etag{};
  bool has_etag = false;
  uint32_t timestamp = 0;
  double charge = 0;  // request units
  std::string item;   // of a read: JSON with system properties
};

// The condition of a patch, to be asked about the item that is there.
using MakeCondition = std::function<ItemCondition(std::string_view condition)>;

// `outcomes`: one for each operation. Must run in a transaction of its own, nested or not: an error, which
// names the operation by its number from 1, leaves the work of those before. limit_exceeded, too_large and
// invalid_argument for the batch as a whole. `log` gets what triggers wrote; null: nobody asks.
Result<void> run_batch(WriteTransaction& transaction, ContainerStore& store,
                       std::span<const sql::Value> partition_key, std::span<const BatchOperation> operations,
                       const MakeCondition& make_condition, std::span<BatchOutcome> outcomes,
                       ScriptLog* log = nullptr);

}  // namespace quire::engine
