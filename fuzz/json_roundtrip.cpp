// Any text to the JSON reader: it never crashes, and what it takes becomes a valid document whose text reads
// back as an equal document with the same text. The same bytes read as a document must not crash any
// accessor.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "sql/value/comparison.h"
#include "sql/value/extended_json.h"
#include "sql/value/json.h"
#include "sql/value/key_encoding.h"

namespace {

using namespace quire::sql;

using quire::fuzz::require;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string json_of(const Value& value) {
  std::string json;
  write_json(value, json);
  return json;
}

void json_round_trips(std::string_view text, JsonReader& reader, KeyDictionary& dictionary) {
  std::string document;
  if (const auto written = reader.to_document(text, dictionary, document); !written) {
    require(written.error().position.line != 0);
    return;
  }
  require(validate_document(bytes_of(document), dictionary).has_value());
  const Value value = read_document(bytes_of(document), dictionary.number());
  const std::string json = json_of(value);

  std::string document_again;
  require(reader.to_document(json, dictionary, document_again).has_value());
  const Value again = read_document(bytes_of(document_again), dictionary.number());
  require(json_of(again) == json);
  require(deep_equal(value, again) && deep_hash(value) == deep_hash(again));

  Arena arena;
  const auto built = reader.to_value(text, arena);
  require(built.has_value() && json_of(*built) == json && deep_equal(*built, value));
  std::string key, key_again;
  encode_key(value, key);
  encode_key(*built, key_again);
  require(key == key_again);
  map_extended_json(value, arena);
}

void bytes_are_read_safely(std::string_view bytes, KeyDictionary& dictionary) {
  const bool is_valid = validate_document(bytes_of(bytes), dictionary).has_value();
  const Value value = read_document(bytes_of(bytes), dictionary.number());
  json_of(value);
  require(deep_equal(value, value) && total_order(value, value) == 0);
  std::string again;
  const bool is_encoded = encode_value(value, dictionary, again).has_value();
  require(is_encoded || !is_valid);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  JsonReader reader;
  const auto dictionary = KeyDictionary::create();
  json_round_trips(text, reader, *dictionary);
  bytes_are_read_safely(text, *dictionary);
  return 0;
}
