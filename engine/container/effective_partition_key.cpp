#include "engine/container/effective_partition_key.h"

#include <fmt/format.h>
#include <murmurhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/catalog/container_definition.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kUndefinedTag = 0x00, kNullTag = 0x01, kFalseTag = 0x02, kTrueTag = 0x03, kNumberTag = 0x05,
               kStringTag = 0x08;
constexpr char kStringEnd = '\xFF';

// Writes a component's bytes; how many.
size_t component_bytes(const sql::Value& component, char* out) {
  switch (component.kind()) {
    case sql::Kind::undefined:
      out[0] = kUndefinedTag;
      return 1;
    case sql::Kind::null:
      out[0] = kNullTag;
      return 1;
    case sql::Kind::boolean:
      out[0] = component.as_boolean() ? kTrueTag : kFalseTag;
      return 1;
    case sql::Kind::integer:
    case sql::Kind::real: {
      const double number = component.as_double() == 0 ? 0.0 : component.as_double();  // -0 is 0
      out[0] = kNumberTag;
      std::memcpy(out + 1, &number, sizeof number);
      return 1 + sizeof number;
    }
    case sql::Kind::string: {
      const std::string_view text = component.as_string().substr(0, kLongestPartitionKey);
      out[0] = kStringTag;
      std::ranges::copy(text, out + 1);
      out[1 + text.size()] = kStringEnd;
      return text.size() + 2;
    }
    case sql::Kind::array:
    case sql::Kind::object:
      break;  // refused by check_partition_key
  }
  return 0;
}

// The component that was hashed last on this thread, unless it was long: items that are asked for or written
// together are often those of one partition.
struct LastHashed {
  static constexpr size_t kLongest = 64;

  bool is(const char* component, size_t count) const noexcept {
    return count == size && std::memcmp(component, bytes, count) == 0;
  }
  void set(const char* component, size_t count, const uint64_t (&hash)[2]) noexcept {
    if (count > kLongest) return;
    size = count;
    std::memcpy(bytes, component, count);
    std::memcpy(epk, hash, sizeof epk);
  }

  size_t size = 0;  // none: a component has a byte at least
  char bytes[kLongest]{};
  char epk[kEpkBytes]{};
};

size_t size_of(const sql::Value& component) {
  if (component.is_string()) return component.as_string().size();
  return component.is_number() ? sizeof(double) : 0;
}

}  // namespace

void effective_partition_key(const sql::Value& component, char (&epk)[kEpkBytes]) {
  char bytes[kLongestPartitionKey + 2];
  const size_t size = component_bytes(component, bytes);
  thread_local constinit LastHashed last;
  if (last.is(bytes, size) && size != 0) {
    std::memcpy(epk, last.epk, sizeof last.epk);
    return;
  }
  uint64_t hash[2];
  lmmh_x64_128(bytes, static_cast<unsigned>(size), 0, hash);
  // All 16 little-endian bytes reversed: the high word first, each word big-endian.
  constexpr uint64_t kUpperTwoBits = uint64_t{3} << 62;
  const uint64_t reversed[2] = {__builtin_bswap64(hash[1] & ~kUpperTwoBits), __builtin_bswap64(hash[0])};
  std::memcpy(epk, reversed, sizeof reversed);
  last.set(bytes, size, reversed);
}

Result<void> check_partition_key(std::span<const sql::Value> components,
                                 const std::vector<std::vector<std::string>>& paths) {
  size_t size = 0;
  for (size_t i = 0; i < components.size(); ++i) {
    if (components[i].is_array() || components[i].is_object())
      return fail(
          ErrorCode::invalid_partition_key,
          fmt::format("partition key {} is an {}; it must be a string, number, boolean, null or missing",
                      partition_key_path_text(paths[i]), components[i].is_array() ? "array" : "object"));
    size += size_of(components[i]);
  }
  if (size <= kLongestPartitionKey) return {};
  return fail(ErrorCode::limit_exceeded,
              fmt::format("the partition key has {} bytes; the limit is {}", size, kLongestPartitionKey));
}

bool same_partition_key_value(const sql::Value& a, const sql::Value& b) noexcept {
  if (a.is_number()) return b.is_number() && a.as_double() == b.as_double();
  if (a.kind() != b.kind()) return false;
  if (a.is_string()) return a.as_string() == b.as_string();
  return !a.is_boolean() || a.as_boolean() == b.as_boolean();
}

std::string partition_key_text(std::span<const sql::Value> components) {
  std::string text = "[";
  for (const sql::Value& component : components) {
    if (text.size() > 1) text += ',';
    if (component.is_undefined())
      text += "undefined";
    else
      sql::write_json(component, text);
  }
  text += ']';
  // There may be two of them, and there must be room for what is the matter with them.
  constexpr size_t kMostBytes = 255;
  return shortened(text, kMostBytes);
}

}  // namespace quire::engine
