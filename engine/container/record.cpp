#include "engine/container/record.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace quire::engine {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kChecksumAt = 4;
constexpr size_t kCheckedFrom = 8;

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

// `checked`: the header from kCheckedFrom on.
uint32_t checksum_of(const char* checked, uint64_t document_hash) {
  return static_cast<uint32_t>(
      XXH3_64bits_withSeed(checked, RecordHeader::kBytes - kCheckedFrom, document_hash));
}

}  // namespace

uint64_t document_hash(Bytes document) noexcept {
  return XXH3_64bits(document.data(), document.size());
}

// In numbers of 8 bytes, which are written one by one and read one by one: a read that joins two would wait
// until the processor has written both, and with them the whole item before.
void write_record(const RecordHeader& header, Bytes document, uint64_t hash,
                  std::span<char> record) noexcept {
  const volatile RecordHeader& given = header;
  const uint64_t times = given.timestamp | uint64_t{given.expiry} << 32;
  const auto lsn = static_cast<uint64_t>(given.lsn);
  const uint64_t rid = given.rid;
  const uint64_t checked[] = {times, lsn, rid};
  static_assert(sizeof checked == RecordHeader::kBytes - kCheckedFrom);
  const uint64_t checksum = checksum_of(reinterpret_cast<const char*>(checked), hash);
  store(record.data(), given.version | uint64_t{given.flags} << 8 | checksum << 32);
  store(record.data() + 8, times);
  store(record.data() + 16, lsn);
  store(record.data() + 24, rid);
  std::memcpy(record.data() + RecordHeader::kBytes, document.data(), document.size());
}

RecordHeader read_header(Bytes record) noexcept {
  const char* at = record.data();
  return {.version = static_cast<uint8_t>(at[0]),
          .flags = static_cast<uint8_t>(at[1]),
          .checksum = load<uint32_t>(at + kChecksumAt),
          .timestamp = load<uint32_t>(at + 8),
          .expiry = load<uint32_t>(at + 12),
          .lsn = load<Lsn>(at + 16),
          .rid = load<uint64_t>(at + 24)};
}

RecordHeader header_of(const sql::Value& root) noexcept {
  const auto* document = reinterpret_cast<const char*>(root.encoded_bytes().data());
  return read_header({document - RecordHeader::kBytes, RecordHeader::kBytes});
}

bool has_right_checksum(Bytes record) noexcept {
  return record.size() >= RecordHeader::kBytes &&
         load<uint32_t>(record.data() + kChecksumAt) ==
             checksum_of(record.data() + kCheckedFrom, document_hash(document_of(record)));
}

}  // namespace quire::engine
