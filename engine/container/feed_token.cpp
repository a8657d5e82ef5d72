#include "engine/container/feed_token.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace quire::engine {
namespace {

constexpr uint8_t kVersion = 2, kVersionWithoutWitness = 1;

struct TokenBytes {
  uint8_t version = kVersion;
  uint8_t mode = 0;
  uint16_t zero = 0;
  uint32_t database = 0;
  uint32_t container = 0;
  uint32_t from_timestamp = 0;
  uint64_t after = 0;
  uint64_t partition = 0;
  uint64_t witness = 0;
  uint64_t witness_identity = 0;
  uint64_t checksum = 0;
};
static_assert(sizeof(TokenBytes) == 56);
constexpr size_t kCheckedBytes = offsetof(TokenBytes, checksum);
constexpr size_t kCheckedBytesWithoutWitness = offsetof(TokenBytes, witness);

uint64_t checksum_of(const TokenBytes& bytes, uint64_t salt) {
  const bool has_witness = bytes.version != kVersionWithoutWitness;
  return XXH3_64bits_withSeed(&bytes, has_witness ? kCheckedBytes : kCheckedBytesWithoutWitness, salt);
}

uint64_t partition_hash(std::string_view epk_prefix) {
  return epk_prefix.empty() ? 0 : XXH3_64bits(epk_prefix.data(), epk_prefix.size());
}

std::unexpected<Error> refused(std::string_view why) {
  return fail(ErrorCode::invalid_argument, fmt::format("the feed token {}", why));
}

bool parse(std::string_view token, TokenBytes& out) {
  std::array<uint8_t, sizeof out> bytes;
  const size_t size = token.size() / 2;
  const bool has_witness = size == sizeof out;
  if (token.size() % 2 != 0 || (!has_witness && size != kCheckedBytesWithoutWitness + sizeof out.checksum))
    return false;
  for (size_t i = 0; i < size; ++i) {
    const char* digits = token.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, bytes[i], 16);
    if (error != std::errc() || end != digits + 2) return false;
  }
  out = {};
  std::memcpy(&out, bytes.data(), size - sizeof out.checksum);
  std::memcpy(&out.checksum, bytes.data() + size - sizeof out.checksum, sizeof out.checksum);
  return has_witness == (out.version != kVersionWithoutWitness);
}

}  // namespace

std::string make_feed_token(const ResourceNames& names, const FeedPosition& position) {
  TokenBytes bytes;
  bytes.mode = static_cast<uint8_t>(position.mode);
  bytes.database = names.database_number;
  bytes.container = static_cast<uint32_t>(names.container);
  bytes.from_timestamp = position.from_timestamp;
  bytes.after = static_cast<uint64_t>(position.after);
  bytes.partition = partition_hash(position.epk_prefix);
  bytes.witness = static_cast<uint64_t>(position.witness.lsn);
  bytes.witness_identity = position.witness.identity;
  bytes.checksum = checksum_of(bytes, names.etag_salt);
  std::array<uint8_t, sizeof bytes> raw;
  std::memcpy(raw.data(), &bytes, sizeof bytes);
  std::string token;
  for (const uint8_t byte : raw) fmt::format_to(std::back_inserter(token), "{:02x}", byte);
  return token;
}

Result<void> read_feed_token(const ResourceNames& names, std::string_view token, FeedPosition& position) {
  TokenBytes bytes;
  if (!parse(token, bytes)) return refused("is none: 112 hexadecimal digits, as quire_feed_token gave them");
  if (bytes.version != kVersion && bytes.version != kVersionWithoutWitness)
    return refused("is of another version of Quire");
  if (bytes.database != names.database_number || bytes.container != static_cast<uint32_t>(names.container))
    return refused("belongs to another container");
  if (bytes.checksum != checksum_of(bytes, names.etag_salt)) return refused("was changed since it was given");
  if (bytes.mode != static_cast<uint8_t>(position.mode))
    return refused("is for the other mode of the feed (latest version; all versions and deletes)");
  if (bytes.partition != partition_hash(position.epk_prefix))
    return refused("is for another partition key: open the feed with the one that it was given for");
  position.from_timestamp = bytes.from_timestamp;
  position.after = Lsn{bytes.after};
  position.witness = {Lsn{bytes.witness}, bytes.witness_identity};
  return {};
}

}  // namespace quire::engine
