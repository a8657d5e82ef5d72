// A record of <c>/items: a header of 32 bytes, then the item's binary document. Little-endian.
//
//   byte 0       version of the record: 1
//        1..3    place: how many writes of the same transaction to the container came before it, at most
//                FFFFFF
//        4..7    checksum: the low half of XXH3-64 of bytes 8..31, seeded with XXH3-64 of the document, of
//                which the upper bits are changed by the place
//        8..11   _ts: Unix seconds of the last write, unsigned
//        12..15  expiry, as the item's "ttl" says: Unix seconds, FFFFFFFF for never, 0 if it says nothing
//        16..23  LSN: the container's count of writes when this one was made
//        24..31  rid: the item's number within the container, given at creation, kept by a replace
//        32..    the document
//
// The document starts right behind the header, so that the header is found from the document alone: a root
// Value that a cursor handed out is enough to compute the system properties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/file/table.h"
#include "sql/error.h"
#include "sql/value/value.h"

namespace quire::engine {

enum class Lsn : uint64_t {};

// Each write has an LSN of its own, by which the feed is ordered; users see, as in Cosmos, that of their
// transaction: the LSN of its first write.
inline Lsn transaction_lsn(Lsn lsn, uint32_t place) noexcept {
  return Lsn{static_cast<uint64_t>(lsn) - place};
}

struct RecordHeader {
  static constexpr size_t kBytes = 32;
  static constexpr uint8_t kVersion = 1;
  static constexpr uint32_t kMostPlace = 0xFFFFFF;

  uint8_t version = kVersion;
  uint32_t place = 0;
  uint32_t checksum = 0;
  uint32_t timestamp = 0;
  uint32_t expiry = 0;
  Lsn lsn{};
  uint64_t rid = 0;
};

// The document's part in a record's checksum.
uint64_t document_hash(Bytes document) noexcept;

// Fills all of `record` (kBytes + document.size() long): header, checksum, document. `hash` is that of the
// document: who writes in bulk has it from the thread that made the document.
void write_record(const RecordHeader& header, Bytes document, uint64_t hash, std::span<char> record) noexcept;

// `record` is at least kBytes long.
RecordHeader read_header(Bytes record) noexcept;
// The header before the document of `root`, which came from a record.
RecordHeader header_of(const sql::Value& root) noexcept;

inline Bytes document_of(Bytes record) noexcept {
  return record.substr(RecordHeader::kBytes);
}

// The cheap look that every read takes: long enough, of a version that we know.
inline bool has_known_layout(Bytes record) noexcept {
  return record.size() > RecordHeader::kBytes && static_cast<uint8_t>(record[0]) == RecordHeader::kVersion;
}
// The look at every byte.
bool has_right_checksum(Bytes record) noexcept;

}  // namespace quire::engine
