#include "sql/value/document.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "sql/value/document_layout.h"
#include "sql/value/document_writer.h"
#include "sql/value/member_reader.h"

namespace quire::sql {
namespace {

using layout::Container;

Error too_deep() {
  return {ErrorCode::invalid_json, fmt::format("a document may nest at most {} levels deep", kMostNesting)};
}

// False past kMostNesting, which bounds the recursion too.
bool write_value(const Value& value, DocumentWriter& writer) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::null:
      writer.null();
      return true;
    case Kind::boolean:
      writer.boolean(value.as_boolean());
      return true;
    case Kind::integer:
      writer.integer(value.as_integer());
      return true;
    case Kind::real:
      writer.real(value.as_real());
      return true;
    case Kind::string:
      writer.string(value.as_string());
      return true;
    case Kind::array: {
      if (!writer.begin_array()) return false;
      const uint32_t count = value.size();
      for (uint32_t i = 0; i < count; ++i) {
        const Value element = value.element(i);
        if (element.is_undefined()) continue;
        writer.element();
        if (!write_value(element, writer)) return false;
      }
      writer.end_array();
      return true;
    }
    case Kind::object: {
      if (!writer.begin_object()) return false;
      const MemberReader members(value);
      for (uint32_t i = 0; i < members.size(); ++i) {
        const Member member = members[i];
        if (member.value.is_undefined()) continue;
        writer.key(member.name);
        if (!write_value(member.value, writer)) return false;
      }
      writer.end_object();
      return true;
    }
  }
  return true;
}

std::unexpected<Error> damaged(const char* what, const std::byte* at, const std::byte* base) {
  return fail(ErrorCode::corrupt, fmt::format("damaged document: {} at byte {}", what, at - base));
}

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

// The bytes that a scalar's encoding takes; 0 if it is none or does not fit.
size_t scalar_extent(std::span<const std::byte> bytes) {
  using namespace layout;
  if (const size_t string = string_extent(bytes)) return string;
  const auto tag = static_cast<uint8_t>(bytes[0]);
  size_t extent = 0;
  if (tag <= kMostTagInteger || tag == kNull || tag == kFalse || tag == kTrue) extent = 1;
  if (tag >= kInteger1 && tag <= kInteger8) extent = 1 + (size_t{1} << (tag - kInteger1));
  if (tag == kReal) extent = 9;
  if (is_decimal_tag(tag)) extent = 1 + decimal_bytes(tag);
  return extent <= bytes.size() ? extent : 0;
}

struct Validation {
  const std::byte* base;
  const KeyDictionary& dictionary;

  // Slices are disjoint and within their container, so the work is linear; `depth` bounds the recursion.
  Result<void> value(std::span<const std::byte> bytes, size_t depth) const {
    if (bytes.empty()) return damaged("a value is missing", bytes.data() ? bytes.data() : base, base);
    const auto tag = static_cast<uint8_t>(bytes[0]);
    const bool is_object = layout::is_object_tag(tag);
    if (is_object || layout::is_array_tag(tag)) {
      if (depth == kMostNesting) return damaged("nesting is too deep", bytes.data(), base);
      return container(bytes, is_object, depth + 1);
    }
    const size_t extent = scalar_extent(bytes);
    if (extent == 0) return damaged("a value has an unknown tag or is cut off", bytes.data(), base);
    if (extent != bytes.size()) return damaged("bytes follow a value", bytes.data() + extent, base);
    const Value scalar = decode_value(bytes, 0);
    if (scalar.is_string() && !is_utf8(scalar.as_string()))
      return damaged("a string is not UTF-8", bytes.data(), base);
    return {};
  }

  Result<void> container(std::span<const std::byte> bytes, bool is_object, size_t depth) const {
    const Container container(bytes, is_object);
    const size_t header = container.header_size();
    if (header == 0) return damaged("the header of an array or object is cut off", bytes.data(), base);
    if (container.count() == 0 && bytes.size() != header)
      return damaged("bytes follow an empty array or object", bytes.data() + header, base);
    const std::byte* expected = bytes.data() + header;
    for (uint32_t i = 0; i < container.count(); ++i) {
      std::span<const std::byte> slice = container.slice(i);
      if (slice.data() != expected) return damaged("an offset is wrong", bytes.data(), base);
      expected = slice.data() + slice.size();
      if (is_object) QUIRE_TRY(name(container, i, slice));
      QUIRE_TRY(value(slice, depth));
    }
    if (container.count() != 0 && expected != bytes.data() + bytes.size())
      return damaged("bytes follow an array or object", expected, base);
    if (is_object && has_name_twice(container)) return damaged("a name is there twice", bytes.data(), base);
    return {};
  }

  // Of an object that is sound otherwise. One reader would take the first of the two members, another both.
  bool has_name_twice(const Container& object) const {
    bool keys_rise = !object.has_inline_names();
    for (uint32_t i = 1; i < object.count() && keys_rise; ++i) keys_rise = object.key(i - 1) < object.key(i);
    if (keys_rise) return false;
    std::vector<std::string_view> names(object.count());
    for (uint32_t i = 0; i < object.count(); ++i) {
      const bool is_inline = object.key(i) == kInlineKey;
      names[i] = is_inline ? decode_value(object.slice(i), 0).as_string() : dictionary.name(object.key(i));
    }
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) != names.end();
  }

  // Checks the name of a member and takes an inline one off its slice.
  Result<void> name(const Container& object, uint32_t index, std::span<const std::byte>& slice) const {
    const KeyNumber key = object.key(index);
    if (key != kInlineKey) {
      if (dictionary.name(key).data() == nullptr)
        return damaged("a key number is unknown", slice.data(), base);
      return {};
    }
    const size_t extent = layout::string_extent(slice);
    if (extent == 0 || !object.has_inline_names() || !is_utf8(decode_value(slice, 0).as_string()))
      return damaged("an inline name is wrong", slice.data(), base);
    slice = slice.subspan(extent);
    return {};
  }
};

}  // namespace

Value read_document(std::span<const std::byte> bytes, DictionaryNumber dictionary) noexcept {
  if (bytes.size() > UINT32_MAX) return {};
  return decode_value(bytes, dictionary);
}

Result<void> encode_value(const Value& value, KeyDictionary& dictionary, std::string& out) {
  // The writer keeps its buffers and what it has learnt of names; encode_value is called for every write.
  thread_local std::unique_ptr<DocumentWriter> writer;
  try {
    if (!writer) writer = std::make_unique<DocumentWriter>();
    writer->start(dictionary);
    if (!write_value(value, *writer)) return std::unexpected(too_deep());
    out.append(writer->bytes());
    return {};
  } catch (const DocumentTooLarge& error) {
    return fail(ErrorCode::too_large, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "out of memory while encoding a document");
  }
}

size_t document_extent(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return 0;
  const auto tag = static_cast<uint8_t>(bytes[0]);
  const bool is_object = layout::is_object_tag(tag);
  if (!is_object && !layout::is_array_tag(tag)) return 0;
  const layout::Container container(bytes, is_object);
  const size_t extent = container.extent();
  return extent >= container.header_size() && extent <= bytes.size() ? extent : 0;
}

Result<void> validate_document(std::span<const std::byte> bytes, const KeyDictionary& dictionary) {
  if (bytes.size() > UINT32_MAX) return fail(ErrorCode::corrupt, "damaged document: it is longer than 4 GiB");
  return Validation{bytes.data(), dictionary}.value(bytes, 0);
}

}  // namespace quire::sql
