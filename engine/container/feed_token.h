// Where a reader of a change feed is, as an opaque text of 112 hexadecimal digits. Little-endian:
//
//   byte 0       version of the token: 2; 1 has 80 digits and no witness
//        1       mode: 0 latest versions, 1 all versions
//        2..3    zero
//        4..7    database number
//        8..11   container number
//       12..15   changes from this moment on: Unix seconds
//       16..23   LSN of the last change that was read
//       24..31   hash of the partition key's EPKs, 0 for all partitions
//       32..39   LSN of the witness, a row of the feed that the reader has behind it; 0 for none
//       40..47   what feed_row.h tells it by
//       48..55   XXH3-64 of the bytes before, seeded with the container's etag salt
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/container/record.h"
#include "engine/container/system_property.h"
#include "sql/error.h"

namespace quire::engine {

enum class FeedMode : uint8_t { latest_version = 0, all_versions = 1 };

// A row that is changed only by going. Where another one has its LSN, as after a backup was put in the place
// of the file and written to, the token is of changes that this file has never seen.
struct FeedWitness {
  Lsn lsn{};
  uint64_t identity = 0;
};

struct FeedPosition {
  FeedMode mode = FeedMode::latest_version;
  uint32_t from_timestamp = 0;
  Lsn after{};
  std::string epk_prefix;
  FeedWitness witness{};
};

std::string make_feed_token(const ResourceNames& names, const FeedPosition& position);
// Into `position`, whose mode and partition the token must be for. invalid_argument: of another container,
// changed since it was given, for another mode or partition.
Result<void> read_feed_token(const ResourceNames& names, std::string_view token, FeedPosition& position);

}  // namespace quire::engine
