// Any bytes as a stored document, read through every accessor: nothing is read outside of them, and every
// walk ends. A document that is valid has one meaning whichever way it is read.
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/require.h"
#include "sql/value/comparison.h"
#include "sql/value/document.h"
#include "sql/value/extended_json.h"
#include "sql/value/json.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/key_encoding.h"
#include "sql/value/resolved_key.h"

namespace {

using namespace quire::sql;

using quire::fuzz::require;

std::unique_ptr<KeyDictionary> make_names() {
  auto names = KeyDictionary::create();
  for (const char* name : {"id", "a", "b", "", "name", "\xC3\xA4"}) names->add(name);
  return names;
}

uint64_t read_scalar(const Value& value) {
  uint64_t sum = static_cast<uint64_t>(value.kind());
  if (value.is_string())
    for (const char byte : value.as_string()) sum += static_cast<uint8_t>(byte);
  if (value.is_number()) sum += value.as_double() > 0;
  return sum;
}

// Without recursion: damaged bytes may lead far down.
uint64_t read_all(const Value& root, const KeyDictionary& names) {
  constexpr size_t kMostSteps = 20'000;
  const ResolvedKey key = resolve_key("a", names.number());
  std::vector<Value> to_read{root};
  uint64_t sum = 0;
  for (size_t steps = 0; !to_read.empty() && steps < kMostSteps; ++steps) {
    const Value value = to_read.back();
    to_read.pop_back();
    sum += read_scalar(value) + read_scalar(value.member(key)) + read_scalar(value.member("b")) +
           read_scalar(value.member("none")) + read_scalar(value.element(value.size()));
    for (uint32_t i = 0; i < value.size() && i < 100; ++i) {
      if (value.is_array()) to_read.push_back(value.element(i));
      if (!value.is_object()) continue;
      const Member member = value.member_at(i);
      for (const char byte : member.name) sum += static_cast<uint8_t>(byte);
      to_read.push_back(member.value);
    }
  }
  return sum;
}

std::string json_of(const Value& value) {
  std::string json;
  write_json(value, json);
  return json;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto names = make_names();
  const bool is_valid = validate_document(bytes, *names).has_value();
  const size_t extent = document_extent(bytes);
  require(extent <= size);
  const Value value = read_document(bytes, names->number());
  require(!is_valid || value.is_defined());
  require(!is_valid || extent == size || !(value.is_array() || value.is_object()));
  read_all(value, *names);
  const std::string json = json_of(value);
  require(deep_equal(value, value) && total_order(value, value) == 0);
  std::string key, descending;
  encode_key(value, key);
  encode_key_descending(value, descending);
  Arena arena;
  json_of(map_extended_json(value, arena));

  const auto other_names = KeyDictionary::create();
  std::string again;
  const bool is_encoded = encode_value(value, *other_names, again).has_value();
  require(is_encoded || !is_valid);
  if (!is_valid) return 0;
  const auto bytes_again = std::as_bytes(std::span(again));
  require(validate_document(bytes_again, *other_names).has_value());
  const Value value_again = read_document(bytes_again, other_names->number());
  require(json_of(value_again) == json && deep_hash(value) == deep_hash(value_again));
  return 0;
}
