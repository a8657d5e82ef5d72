// The effective partition key (EPK): 16 bytes for each component of a partition key, computed as Azure Cosmos
// DB does for version-2 hash keys, so that items fall in the same order and ranges as in the cloud service.
//
// A component's bytes: a type tag (undefined 00, null 01, false 02, true 03, number 05, string 08); a number
// goes on with its IEEE-754 double, little-endian; a string with its UTF-8 and FF. Their MurmurHash3 x64 128
// (seed 0), as 16 little-endian bytes in reverse order, the first masked with 3F, is the EPK.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sql/error.h"
#include "sql/value/value.h"

namespace quire::engine {

inline constexpr size_t kEpkBytes = 16;
inline constexpr size_t kLongestPartitionKey = 2048;  // bytes, over all components

// Writes the EPK of one component; `component` is no array and no object, and short enough
// (check_partition_key).
using PartitionHash = void (*)(const sql::Value& component, char (&epk)[kEpkBytes]);
void effective_partition_key(const sql::Value& component, char (&epk)[kEpkBytes]);

// invalid_partition_key for an array or an object, limit_exceeded past kLongestPartitionKey. The values of
// `paths` name the offending property in the message.
Result<void> check_partition_key(std::span<const sql::Value> components,
                                 const std::vector<std::vector<std::string>>& paths);

// Whether two components are the same partition key value. Numbers are the same where their doubles are, as
// the hash sees them: 2^53 and 2^53 + 1 are one partition, in Cosmos too.
bool same_partition_key_value(const sql::Value& a, const sql::Value& b) noexcept;

// ["a",1] for messages.
std::string partition_key_text(std::span<const sql::Value> components);

}  // namespace quire::engine
