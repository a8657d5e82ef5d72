// A record of <c>/items: a header, then the item's binary document. Little-endian.
//
//   byte 0       20..24, hexadecimal: 20 and how many bytes the rid takes; as the header's last byte
//        1..3    place: how many writes of the same transaction to the container came before it, at most
//                FFFFFF
//        4..7    checksum: the low half of XXH3-64 of the rest of the header, seeded with XXH3-64 of the
//                document, of which the upper bits are changed by the place
//        8..11   _ts: Unix seconds of the last write, unsigned
//        12..16  LSN: the container's count of writes when this one was made
//        17..    how much smaller the rid is, which is the item's number within the container, given at
//                creation, kept by a replace
//        17..21  the last byte of the header
//        18..22  the document
//
// Where the item has a "ttl", or a number has no room there, byte 0 is 1, as in every record of a file of
// format 7 and before, and the header is longer:
//
//        12..15  expiry, as the item's "ttl" says: Unix seconds, FFFFFFFF for never, 0 if it says nothing
//        16..23  LSN
//        24..31  rid
//        32..    the document
//
// The document starts right behind the header, whose last byte tells how long it is: so the header is found
// from the document alone, and a root Value that a cursor handed out is enough to compute the system
// properties.
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
  static constexpr uint32_t kMostPlace = 0xFFFFFF;

  uint32_t place = 0;
  uint32_t checksum = 0;
  uint32_t timestamp = 0;
  uint32_t expiry = 0;
  Lsn lsn{};
  uint64_t rid = 0;

  // As write_record() makes it.
  size_t bytes() const noexcept;
};

// The document's part in a record's checksum.
uint64_t document_hash(Bytes document) noexcept;

// Fills all of `record` (header.bytes() + document.size() long): header, checksum, document. `hash` is that
// of the document: who writes in bulk has it from the thread that made the document.
void write_record(const RecordHeader& header, Bytes document, uint64_t hash, std::span<char> record) noexcept;

namespace record_layout {
inline constexpr uint8_t kLong = 1, kShort = 0x20;
inline constexpr size_t kLongHeader = 32, kShortestHeader = 18, kMostRidBytes = 4;
// Of a header, by its first byte or its last one; of a long header those differ.
constexpr bool is_short(char mark) noexcept {
  return static_cast<uint8_t>(static_cast<uint8_t>(mark) - kShort) <= kMostRidBytes;
}
constexpr size_t header_bytes(char mark) noexcept {
  return is_short(mark) ? kShortestHeader + (static_cast<uint8_t>(mark) - kShort) : kLongHeader;
}
}  // namespace record_layout

// Of a record that has_known_layout().
inline size_t header_bytes(Bytes record) noexcept {
  return record_layout::header_bytes(record[0]);
}

// The cheap look that every read takes, before anything else: long enough, and of a form that we know.
inline bool has_known_layout(Bytes record) noexcept {
  if (record.empty()) return false;
  const size_t header = header_bytes(record);
  if (record.size() <= header) return false;
  const char last = record[header - 1];
  if (record_layout::is_short(record[0])) [[likely]]
    return last == record[0];
  return record[0] == record_layout::kLong && !record_layout::is_short(last);
}

RecordHeader read_header(Bytes record) noexcept;
inline Bytes document_of(Bytes record) noexcept {
  return record.substr(header_bytes(record));
}

// Of the document of `root`, which came from a record.
Bytes record_of(const sql::Value& root) noexcept;
inline RecordHeader header_of(const sql::Value& root) noexcept {
  return read_header(record_of(root));
}
// The look at every byte.
bool has_right_checksum(Bytes record) noexcept;

}  // namespace quire::engine
