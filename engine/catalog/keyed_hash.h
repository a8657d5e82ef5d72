// SipHash-2-4 with 128 bits: a hash that only who knows the key can compute, and that does not tell the key.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace quire::engine {

inline constexpr size_t kKeyedHashBytes = 16;
using HashKey = std::array<unsigned char, kKeyedHashBytes>;
using KeyedHash = std::array<char, kKeyedHashBytes>;

KeyedHash keyed_hash(const HashKey& key, std::string_view message) noexcept;

}  // namespace quire::engine
