#include "engine/catalog/keyed_hash.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace quire::engine {
namespace {

std::string hash_of_first(size_t bytes) {
  HashKey key;
  for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i);
  std::string message;
  for (size_t i = 0; i < bytes; ++i) message += static_cast<char>(i);
  std::string text;
  for (const char byte : keyed_hash(key, message))
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// From the reference implementation of SipHash: the key 00 01 ... 0f, the message as many bytes of 00 01 ...
TEST(KeyedHashTest, HasTheValuesOfTheReference) {
  EXPECT_EQ(hash_of_first(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(hash_of_first(1), "da87c1d86b99af44347659119b22fc45");
  EXPECT_EQ(hash_of_first(15), "5493e99933b0a8117e08ec0f97cfc3d9");
}

}  // namespace
}  // namespace quire::engine
