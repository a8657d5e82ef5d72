#include "engine/container/record.h"

#include <xxhash.h>

#include <array>
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

uint32_t checksum_of(const char* record, uint64_t document_hash) {
  return static_cast<uint32_t>(
      XXH3_64bits_withSeed(record + kCheckedFrom, RecordHeader::kBytes - kCheckedFrom, document_hash));
}

}  // namespace

uint64_t document_hash(Bytes document) noexcept {
  return XXH3_64bits(document.data(), document.size());
}

void write_record(const RecordHeader& header, Bytes document, uint64_t hash,
                  std::span<char> record) noexcept {
  std::array<char, RecordHeader::kBytes> bytes{};
  bytes[0] = static_cast<char>(header.version);
  bytes[1] = static_cast<char>(header.flags);
  store(&bytes[8], header.timestamp);
  store(&bytes[12], header.expiry);
  store(&bytes[16], header.lsn);
  store(&bytes[24], header.rid);
  store(&bytes[kChecksumAt], checksum_of(bytes.data(), hash));
  std::memcpy(record.data(), bytes.data(), bytes.size());
  std::memcpy(record.data() + bytes.size(), document.data(), document.size());
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
             checksum_of(record.data(), document_hash(document_of(record)));
}

}  // namespace quire::engine
