// JSON texts turned into documents of one dictionary, for the tests of this folder.
#pragma once

#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sql/value/json.h"

namespace quire::sql {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string json_of(const Value& value) {
  std::string json;
  write_json(value, json);
  return json;
}

class SampleDocuments {
 public:
  KeyDictionary& dictionary() { return *dictionary_; }

  // The encoded document; lives as long as this.
  const std::string& bytes(std::string_view json) {
    std::string& out = documents_.emplace_back();
    if (const auto written = reader_.to_document(json, *dictionary_, out); !written)
      throw std::invalid_argument(written.error().message);
    return out;
  }
  Value read(std::string_view json) { return read_document(bytes_of(bytes(json)), dictionary_->number()); }
  // The same built in an arena.
  Value build(std::string_view json) { return reader_.to_value(json, arena_).value(); }
  // To a document and back.
  std::string round_trip(std::string_view json) { return json_of(read(json)); }
  Error error_of(std::string_view json) {
    std::string out;
    const auto written = reader_.to_document(json, *dictionary_, out);
    return written ? Error{ErrorCode::ok, out, {}} : written.error();
  }

 private:
  std::unique_ptr<KeyDictionary> dictionary_ = KeyDictionary::create();
  JsonReader reader_;
  Arena arena_;
  std::deque<std::string> documents_;
};

inline std::string nested_arrays(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace quire::sql
