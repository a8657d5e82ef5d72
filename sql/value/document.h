// The binary document: a JSON value as bytes that are read in place. Written once, by JsonReader or
// encode_value; read by Value's accessors, which never copy. Its bytes are drawn in document_layout.h:
//
//   scalar   tag (small integers and short strings inside it) | bytes
//   array    tag | count | offsets x (count + 1) | values in order
//   object   tag | count | 16-bit key numbers x count | offsets x (count + 1) | values in source order
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/error.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/value.h"

namespace quire::sql {

// Arrays and objects within each other: [] is one level.
constexpr size_t kMostNesting = 128;

// The value whose encoding starts at bytes[0]; undefined if the bytes are no document. Never reads outside
// `bytes`, whatever they hold. Lives as long as `bytes`.
Value read_document(std::span<const std::byte> bytes, DictionaryNumber dictionary) noexcept;

// Appends the encoding of any Value (encoded by another dictionary, built, scalar) to `out`. Names new to
// `dictionary` are added to it: for the holder of the write lock. Undefined members and elements are left
// out. Fails past kMostNesting. A lone undefined encodes as null. Thread-safe for different dictionaries.
Result<void> encode_value(const Value& value, KeyDictionary& dictionary, std::string& out);

// How many of the bytes the array or object takes that starts at bytes[0]; 0 if none does.
size_t document_extent(std::span<const std::byte> bytes) noexcept;

// Walks every byte of a document: structure, offsets, key numbers, UTF-8. For CHECK and for fuzzing.
Result<void> validate_document(std::span<const std::byte> bytes, const KeyDictionary& dictionary);

}  // namespace quire::sql
