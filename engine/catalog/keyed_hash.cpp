// As in J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", with their form for 128 bits.
#include "engine/catalog/keyed_hash.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace quire::engine {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie");

uint64_t word_at(const void* bytes) noexcept {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

class SipState {
 public:
  explicit SipState(const HashKey& key) noexcept {
    const uint64_t low = word_at(key.data()), high = word_at(key.data() + sizeof low);
    a_ = low ^ 0x736f6d6570736575;
    b_ = high ^ 0x646f72616e646f6d ^ 0xee;
    c_ = low ^ 0x6c7967656e657261;
    d_ = high ^ 0x7465646279746573;
  }

  void take(uint64_t word) noexcept {
    d_ ^= word;
    mix(2);
    a_ ^= word;
  }
  uint64_t first_half() noexcept {
    c_ ^= 0xee;
    mix(4);
    return a_ ^ b_ ^ c_ ^ d_;
  }
  uint64_t second_half() noexcept {
    b_ ^= 0xdd;
    mix(4);
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void mix(int rounds) noexcept {
    for (; rounds > 0; --rounds) {
      a_ += b_;
      b_ = std::rotl(b_, 13) ^ a_;
      a_ = std::rotl(a_, 32);
      c_ += d_;
      d_ = std::rotl(d_, 16) ^ c_;
      a_ += d_;
      d_ = std::rotl(d_, 21) ^ a_;
      c_ += b_;
      b_ = std::rotl(b_, 17) ^ c_;
      c_ = std::rotl(c_, 32);
    }
  }

  uint64_t a_, b_, c_, d_;
};

}  // namespace

KeyedHash keyed_hash(const HashKey& key, std::string_view message) noexcept {
  SipState state(key);
  // The last word has the length's low byte above what is left of the message.
  uint64_t last = static_cast<uint64_t>(message.size()) << 56;
  for (; message.size() >= sizeof last; message.remove_prefix(sizeof last))
    state.take(word_at(message.data()));
  for (size_t i = 0; i < message.size(); ++i)
    last |= static_cast<uint64_t>(static_cast<unsigned char>(message[i])) << (8 * i);
  state.take(last);
  const uint64_t halves[] = {state.first_half(), state.second_half()};
  KeyedHash hash;
  static_assert(sizeof halves == sizeof hash);
  std::memcpy(hash.data(), halves, sizeof halves);
  return hash;
}

}  // namespace quire::engine
