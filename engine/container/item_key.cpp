#include "engine/container/item_key.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <xxhash.h>

#include <algorithm>
#include <random>

namespace quire::engine {

void ItemKey::assign(std::span<const sql::Value> components, std::string_view id, PartitionHash hash) {
  size_ = 0;
  for (const sql::Value& component : components) {
    hash(component, reinterpret_cast<char(&)[kEpkBytes]>(bytes_[size_]));
    size_ += kEpkBytes;
  }
  if (size_ + id.size() < kLongestTableKey) {
    size_ += id.copy(bytes_ + size_, id.size());
    return;
  }
  const XXH128_hash_t digest = XXH3_128bits(id.data(), id.size());
  static_assert(sizeof digest == kIdHashBytes);
  const size_t prefix = kLongestTableKey - size_ - sizeof digest;
  std::memcpy(bytes_ + size_, id.data(), prefix);
  std::memcpy(bytes_ + size_ + prefix, &digest, sizeof digest);
  size_ = kLongestTableKey;
}

std::string start_of_part(uint32_t part, uint32_t parts) {
  std::string bytes;
  if (part == 0) return bytes;
  const uint64_t start = (uint64_t{part} << 30) / parts;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(start >> shift & 0xFF));
  return bytes;
}

namespace {

// The characters that no id may have. Eight at a time, the last eight overlapping those before.
bool has_forbidden(std::string_view id) noexcept {
  constexpr uint64_t kEach = 0x0101010101010101;
  // Has the highest bit of a byte set where there is a zero; behind one, others may have it too.
  const auto zeros = [](uint64_t word) { return (word - kEach) & ~word & kEach * 0x80; };
  uint64_t found = 0;
  const auto look_at = [&](size_t at) {
    uint64_t word;
    std::memcpy(&word, id.data() + at, sizeof word);
    found |= zeros(word ^ kEach * '/') | zeros(word ^ kEach * '\\');
  };
  if (id.size() < sizeof(uint64_t)) return id.find_first_of("/\\") != std::string_view::npos;
  for (size_t at = 0; at + sizeof(uint64_t) < id.size(); at += sizeof(uint64_t)) look_at(at);
  look_at(id.size() - sizeof(uint64_t));
  return found != 0;
}

}  // namespace

// `?` and `#`, which the service's documentation warns of too, break some clients' URLs, not the service: it
// takes them.
Result<void> check_item_id(const sql::Value& id) {
  if (!id.is_string()) return fail(ErrorCode::invalid_id, "an item's \"id\" must be a string");
  const std::string_view text = id.as_string();
  if (text.empty()) return fail(ErrorCode::invalid_id, "an item's \"id\" must not be empty");
  if (text.size() > kLongestItemId)
    return fail(ErrorCode::invalid_id, fmt::format("an item's \"id\" may have {} bytes; '{}' has {}",
                                                   kLongestItemId, shortened(text), text.size()));
  if (!has_forbidden(text)) return {};
  const char found = text[text.find_first_of("/\\")];
  return fail(ErrorCode::invalid_id,
              fmt::format("an item's \"id\" must not contain '{}': '{}'", found, text));
}

Uuid make_uuid() {
  unsigned char random[16];
  if (getrandom(random, sizeof random, 0) != sizeof random) {
    std::random_device device;
    for (unsigned char& byte : random) byte = static_cast<unsigned char>(device());
  }
  random[6] = (random[6] & 0x0F) | 0x40;  // version 4: random
  random[8] = (random[8] & 0x3F) | 0x80;  // variant of RFC 4122
  constexpr char kDigits[] = "0123456789abcdef";
  Uuid uuid;
  size_t at = 0;
  for (size_t i = 0; i < sizeof random; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid.text[at++] = '-';
    uuid.text[at++] = kDigits[random[i] >> 4];
    uuid.text[at++] = kDigits[random[i] & 0x0F];
  }
  return uuid;
}

}  // namespace quire::engine
