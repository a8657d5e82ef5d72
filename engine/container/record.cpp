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

uint32_t checksum_of(const char* record, size_t size) {
  return static_cast<uint32_t>(XXH3_64bits(record + kCheckedFrom, size - kCheckedFrom));
}

}  // namespace

void write_record(const RecordHeader& header, Bytes document, std::span<char> record) noexcept {
  char* at = record.data();
  store(at, uint64_t{0});
  at[0] = static_cast<char>(header.version);
  at[1] = static_cast<char>(header.flags);
  store(at + 8, header.timestamp);
  store(at + 12, header.expiry);
  store(at + 16, header.lsn);
  store(at + 24, header.rid);
  std::memcpy(at + RecordHeader::kBytes, document.data(), document.size());
  store(at + kChecksumAt, checksum_of(at, record.size()));
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
         load<uint32_t>(record.data() + kChecksumAt) == checksum_of(record.data(), record.size());
}

}  // namespace quire::engine
