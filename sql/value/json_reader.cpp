// JsonReader: simdjson's first stage finds the tokens of a text with vectors and validates its UTF-8;
// JsonParser walks them straight into a document or into built values. Of the 540-byte device readings the
// first stage takes 0.11 us each, all of simdjson's DOM parser 0.30 us, an on-demand walk 0.38 us (as Debian
// builds it, on-demand has no vectors). Both would come before any encoding, DOM refuses integers past 64
// bits and tells no place of an error, so the first stage is used alone. It is reached through simdjson's own
// virtual interface, which picks the widest vectors of the processor at run time.
#include <simdjson.h>

#include <algorithm>
#include <cmath>

#include "sql/value/document_writer.h"
#include "sql/value/json.h"
#include "sql/value/json_parser.h"
#include "sql/value/value_builder.h"

namespace quire::sql {
namespace {

// The index of tokens takes four bytes for each byte of the largest text seen; past this it is not kept.
constexpr size_t kLargestKeptText = size_t{16} << 20;
// Token offsets are 32 bit, and simdjson rounds lengths up.
constexpr size_t kMostTextBytes = size_t{1} << 31;
constexpr size_t kLeastCapacity = size_t{16} << 10;

// The first byte that is not part of well-formed UTF-8.
size_t first_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (at + length > text.size() || !simdjson::validate_utf8(text.data() + at, length)) return at;
    at += length;
  }
  return text.size();
}

// Where the first stage stumbled over a string: a control character in it, or its opening quote if it never
// ends.
JsonFault string_fault(std::string_view text) {
  size_t opened = std::string_view::npos;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_inside = opened != std::string_view::npos;
    const char c = text[at];
    if (c == '"') {
      opened = is_inside ? std::string_view::npos : at;
    } else if (c == '\\') {
      if (!is_inside) return {at, "expected a value"};
      ++at;
    } else if (is_inside && static_cast<unsigned char>(c) < 0x20) {
      return {at, "a control character in a string must be escaped"};
    }
  }
  return {std::min(opened, text.size()), "a string is not closed"};
}

JsonFault first_stage_fault(simdjson::error_code code, std::string_view text) {
  if (code == simdjson::EMPTY) return {text.size(), "the text is empty"};
  if (code == simdjson::UTF8_ERROR) return {first_invalid_utf8(text), "invalid UTF-8"};
  return string_fault(text);
}

std::unexpected<Error> invalid_json(const JsonFault& fault, std::string_view text) {
  return fail(ErrorCode::invalid_json, std::string("invalid JSON: ") + fault.message,
              position_of(text, fault.offset));
}

}  // namespace

struct JsonReader::Implementation {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> first_stage;
  size_t capacity = 0;
  std::unique_ptr<DocumentWriter> writer;  // has tables of all names, so that it is made where it is wanted
  ValueBuilder builder;
  std::string scratch;  // of the parser, for strings with escapes

  Result<void> find_tokens(std::string_view json) {
    if (json.size() > kMostTextBytes) return fail(ErrorCode::too_large, "a JSON text may take at most 2 GiB");
    if (json.size() > capacity || !first_stage) {
      const size_t wanted = std::bit_ceil(std::max(json.size(), kLeastCapacity));
      // The depth is for simdjson's second stage, which is never run.
      const auto error = first_stage
                             ? first_stage->set_capacity(wanted)
                             : simdjson::get_active_implementation()->create_dom_parser_implementation(
                                   wanted, 1, first_stage);
      if (error != simdjson::SUCCESS) {
        first_stage.reset();
        return fail(ErrorCode::out_of_memory, "out of memory while parsing JSON");
      }
      capacity = wanted;
    }
    const auto error = first_stage->stage1(reinterpret_cast<const uint8_t*>(json.data()), json.size(),
                                           simdjson::stage1_mode::regular);
    if (error != simdjson::SUCCESS) return invalid_json(first_stage_fault(error, json), json);
    return {};
  }

  Result<void> make_writer() {
    if (writer != nullptr) return {};
    try {
      writer = std::make_unique<DocumentWriter>();
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::out_of_memory, "out of memory while parsing JSON");
    }
    return {};
  }

  template <typename Sink>
  Result<void> parse(std::string_view json, Sink& sink) {
    try {
      QUIRE_TRY(find_tokens(json));
      // simdjson has room for some more behind the last.
      uint32_t* const starts = first_stage->structural_indexes.get();
      const size_t count = first_stage->n_structural_indexes;
      starts[count] = starts[0];
      JsonParser<Sink> parser(json, {starts, count}, sink, scratch);
      const bool is_parsed = parser.parse();
      if (json.size() > kLargestKeptText) first_stage.reset();
      if (!is_parsed) return invalid_json(parser.fault(), json);
      return {};
    } catch (const MemoryLimitExceeded&) {
      throw;  // the arena's owner handles its own limit
    } catch (const DocumentTooLarge& error) {
      return fail(ErrorCode::too_large, error.what());
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::out_of_memory, "out of memory while parsing JSON");
    }
  }
};

JsonReader::JsonReader() : implementation_(std::make_unique<Implementation>()) {}
JsonReader::~JsonReader() = default;
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;

Result<std::string_view> JsonReader::to_document(std::string_view json, KeyDictionary& dictionary) {
  QUIRE_TRY(implementation_->make_writer());
  DocumentWriter& writer = *implementation_->writer;
  writer.start(dictionary);
  QUIRE_TRY(implementation_->parse(json, writer));
  return writer.bytes();
}

Result<void> JsonReader::to_document(std::string_view json, KeyDictionary& dictionary, std::string& out) {
  QUIRE_ASSIGN(const std::string_view document, to_document(json, dictionary));
  out.append(document);
  return {};
}

Result<Value> JsonReader::to_value(std::string_view json, Arena& arena) {
  ValueBuilder& builder = implementation_->builder;
  builder.start(arena);
  QUIRE_TRY(implementation_->parse(json, builder));
  return builder.root();
}

}  // namespace quire::sql
