// Two values: the order of their keys' bytes is the order of the values, no key begins another, and what a
// key tells is what it was made of.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "sql/value/comparison.h"
#include "sql/value/json.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/key_encoding.h"

namespace {

using namespace quire::sql;

using quire::fuzz::require;

std::strong_ordering order_of(std::string_view a, std::string_view b) {
  return a <=> b;
}

struct Key {
  explicit Key(const Value& value) {
    encode_key(value, ascending);
    encode_key_descending(value, descending);
  }
  std::string ascending, descending;
};

void check_one(const Value& value, const Key& key) {
  require(encoded_key_size(key.ascending, false) == key.ascending.size());
  require(encoded_key_size(key.descending, true) == key.descending.size());
  Arena arena;
  for (const bool is_descending : {false, true}) {
    const auto decoded = decode_key(is_descending ? key.descending : key.ascending, is_descending, arena);
    require(!decoded || total_order(*decoded, value) == 0);
    require(decoded || value.is_array() || value.is_object() || value.is_number());
  }
}

void check_two(const Value& a, const Value& b) {
  const Key first(a), second(b);
  check_one(a, first);
  check_one(b, second);
  const std::strong_ordering order = total_order(a, b);
  require(order_of(first.ascending, second.ascending) == order);
  require(order_of(second.descending, first.descending) == order);
  require(order == 0 ||
          (!first.ascending.starts_with(second.ascending) && !second.ascending.starts_with(first.ascending)));
}

// Any bytes as a key that an index might have.
void check_damaged(std::string_view bytes) {
  Arena arena;
  for (const bool is_descending : {false, true}) {
    const size_t size = encoded_key_size(bytes, is_descending);
    require(size <= bytes.size());
    if (size != 0) decode_key(bytes.substr(0, size), is_descending, arena);
  }
}

}  // namespace

// Two JSON texts with a line end between them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_damaged(text);
  const size_t end = std::min(text.find('\n'), text.size());
  JsonReader reader;
  Arena arena;
  const auto a = reader.to_value(text.substr(0, end), arena);
  const auto b = reader.to_value(text.substr(std::min(end + 1, text.size())), arena);
  if (a && b) check_two(*a, *b);
  if (a) check_two(*a, Value());
  return 0;
}
