// JSON text in and out.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sql/error.h"
#include "sql/value/arena.h"
#include "sql/value/document.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/value.h"

namespace quire::sql {

// Parses JSON with simdjson. Keeps its buffers from one text to the next; not thread-safe.
// Integers within int64 stay exact, all other numbers are doubles (a number past the double's range is an
// error). Duplicate keys: the last one wins, standing where the first stood. Unpaired surrogates, invalid
// UTF-8, nesting past 128 and trailing text are errors (invalid_json, with line and column in the text).
class JsonReader {
 public:
  JsonReader();
  ~JsonReader();
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;

  // The binary document of one JSON text, good until the next call; the fast path of every write.
  // `dictionary` as in encode_value.
  Result<std::string_view> to_document(std::string_view json, KeyDictionary& dictionary);
  // Appends it to `out`.
  Result<void> to_document(std::string_view json, KeyDictionary& dictionary, std::string& out);

  // The value of one JSON text, built in `arena`; the text is not needed afterwards.
  Result<Value> to_value(std::string_view json, Arena& arena);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Appends compact JSON (no white space). Undefined members and elements are left out, a lone undefined writes
// nothing. NaN and the infinities, which JSON lacks, write as the strings "NaN", "Infinity", "-Infinity"; use
// has_only_finite_numbers before a result leaves the engine.
void write_json(const Value& value, std::string& out);
// The same indented by two spaces a level.
void write_pretty_json(const Value& value, std::string& out);
bool has_only_finite_numbers(const Value& value);

// Shortest text that reads back as the same number: 1, 1.5, 1e+300 (as JavaScript prints numbers).
void write_number(const Value& number, std::string& out);
// A quoted, escaped JSON string.
void write_json_string(std::string_view text, std::string& out);

}  // namespace quire::sql
