#include "engine/container/record.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace quire::engine {
namespace {

using namespace record_layout;

static_assert(std::endian::native == std::endian::little);

constexpr size_t kChecksumAt = 4;
constexpr size_t kCheckedFrom = 8;
constexpr int kPlaceShift = 8;  // in the first four bytes

template <typename Number>
void store(char* at, Number number) {
  std::memcpy(at, &number, sizeof number);
}
template <typename Number>
Number load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

constexpr size_t kLsnUpperAt = 16, kRidAt = 17;  // of a short header
constexpr uint64_t kMostShortLsn = (uint64_t{1} << 40) - 1;

// `checked`: the header from kCheckedFrom on. A place of 0 leaves the hash as it is.
uint32_t checksum_of(Bytes checked, uint32_t place, uint64_t document_hash) {
  constexpr int kUpperBits = 40;
  return static_cast<uint32_t>(
      XXH3_64bits_withSeed(checked.data(), checked.size(), document_hash ^ (uint64_t{place} << kUpperBits)));
}

}  // namespace

uint64_t document_hash(Bytes document) noexcept {
  return XXH3_64bits(document.data(), document.size());
}

size_t RecordHeader::bytes() const noexcept {
  const auto number = static_cast<uint64_t>(lsn);
  if (expiry != 0 || number > kMostShortLsn || rid > number || number - rid > UINT32_MAX) return kLongHeader;
  return kShortestHeader + (static_cast<size_t>(std::bit_width(number - rid)) + 7) / 8;
}

// In numbers of 8 bytes, which are written one by one and read one by one: a read that joins two would wait
// until the processor has written both, and with them the whole item before.
void write_record(const RecordHeader& header, Bytes document, uint64_t hash,
                  std::span<char> record) noexcept {
  const size_t bytes = header.bytes();
  const bool is_short = bytes != kLongHeader;
  const volatile RecordHeader& given = header;
  const auto lsn = static_cast<uint64_t>(given.lsn);
  const uint64_t rid = given.rid;
  const uint32_t place = given.place;
  const uint64_t mark = is_short ? kShort + (bytes - kShortestHeader) : kLong;
  const uint64_t rest = is_short ? lsn >> 32 | (lsn - rid) << 8 | mark << 8 * (bytes - 1 - kLsnUpperAt) : 0;
  const uint64_t checked[] = {given.timestamp | (is_short ? lsn : given.expiry) << 32, is_short ? rest : lsn,
                              rid};
  const uint64_t checksum =
      checksum_of({reinterpret_cast<const char*>(checked), bytes - kCheckedFrom}, place, hash);
  store(record.data(), mark | uint64_t{place} << kPlaceShift | checksum << 32);
  store(record.data() + kCheckedFrom, checked[0]);
  if (is_short) {
    std::memcpy(record.data() + kLsnUpperAt, &rest, bytes - kLsnUpperAt);
  } else {
    store(record.data() + 16, lsn);
    store(record.data() + 24, rid);
  }
  std::memcpy(record.data() + bytes, document.data(), document.size());
}

RecordHeader read_header(Bytes record) noexcept {
  const char* at = record.data();
  RecordHeader header{.place = load<uint32_t>(at) >> kPlaceShift,
                      .checksum = load<uint32_t>(at + kChecksumAt),
                      .timestamp = load<uint32_t>(at + 8)};
  if (is_short(at[0])) [[likely]] {
    const uint64_t lsn = load<uint32_t>(at + 12) | uint64_t{load<uint8_t>(at + kLsnUpperAt)} << 32;
    uint64_t ahead = 0;
    for (size_t i = header_bytes(record) - kShortestHeader; i > 0; --i)
      ahead = ahead << 8 | load<uint8_t>(at + kRidAt + i - 1);
    header.lsn = Lsn{lsn};
    header.rid = lsn - ahead;
  } else {
    header.expiry = load<uint32_t>(at + 12);
    header.lsn = load<Lsn>(at + 16);
    header.rid = load<uint64_t>(at + 24);
  }
  return header;
}

Bytes record_of(const sql::Value& root) noexcept {
  const Bytes document(reinterpret_cast<const char*>(root.encoded_bytes().data()),
                       root.encoded_bytes().size());
  const size_t header = record_layout::header_bytes(document.data()[-1]);
  return {document.data() - header, header + document.size()};
}

bool has_right_checksum(Bytes record) noexcept {
  return has_known_layout(record) &&
         load<uint32_t>(record.data() + kChecksumAt) ==
             checksum_of(record.substr(kCheckedFrom, header_bytes(record) - kCheckedFrom),
                         load<uint32_t>(record.data()) >> kPlaceShift, document_hash(document_of(record)));
}

}  // namespace quire::engine
