#include "engine/api/boundary.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <cstdint>
#include <cstdlib>

namespace quire::engine {
namespace {

// A thread keeps at most so many bytes between calls.
constexpr size_t kMostKept = size_t{1} << 20;

// The first character of a message as it is shown, and how many of the message's bytes it stands for.
struct ShownCharacter {
  std::string_view text;
  size_t bytes;
};
ShownCharacter first_character(std::string_view message) noexcept {
  constexpr std::string_view kNul = "\\0", kNoCharacter = "\xEF\xBF\xBD";
  if (message.front() == '\0') return {kNul, 1};
  if ((static_cast<unsigned char>(message.front()) & 0x80) == 0) return {message.substr(0, 1), 1};
  utf8proc_int32_t code_point = 0;
  const utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(message.data()),
                                                  static_cast<utf8proc_ssize_t>(message.size()), &code_point);
  if (bytes <= 0) return {kNoCharacter, 1};
  return {message.substr(0, static_cast<size_t>(bytes)), static_cast<size_t>(bytes)};
}

}  // namespace

int report(ErrorCode code, std::string_view message, quire_error* out) noexcept {
  if (out != nullptr) {
    *out = {};
    out->code = static_cast<int>(code);
    out->status = error_code_row(code).status;
    write_message(message, out->message);
  }
  return static_cast<int>(code);
}

void write_message(std::string_view message, std::span<char> out) noexcept {
  char* to = out.data();
  const char* const end = to + out.size() - 1;
  while (!message.empty()) {
    const ShownCharacter next = first_character(message);
    if (next.text.size() > static_cast<size_t>(end - to)) break;
    to = std::copy(next.text.begin(), next.text.end(), to);
    message.remove_prefix(next.bytes);
  }
  *to = '\0';
}

int report(const Error& error, quire_error* out) noexcept {
  report(error.code, error.message, out);
  if (out != nullptr) {
    out->offset = error.position.offset;
    out->line = error.position.line;
    out->column = error.position.column;
    out->retry_after_ms = error.retry_after_ms;
  }
  return static_cast<int>(error.code);
}

Result<std::string_view> text_argument(const char* data, size_t length, std::string_view what) {
  if (data == nullptr) return null_argument(what);
  // A negative number, or one that was never set: there is no such memory.
  if (length > PTRDIFF_MAX)
    return fail(ErrorCode::misuse, fmt::format("the length of {} is {} bytes", what, length));
  return std::string_view(data, length);
}

Result<sql::Value> scalar_argument(const quire_scalar& scalar) {
  switch (number_of(scalar.type)) {
    case QUIRE_UNDEFINED:
      return sql::Value::undefined();
    case QUIRE_NULL:
      return sql::Value::null();
    case QUIRE_BOOLEAN:
      return sql::Value::boolean(scalar.integer != 0);
    case QUIRE_INTEGER:
      return sql::Value::integer(scalar.integer);
    case QUIRE_REAL:
      return sql::Value::number(scalar.real);
    case QUIRE_STRING:
      if (scalar.string == nullptr && scalar.length != 0) return null_argument("the string of a scalar");
      if (scalar.length > UINT32_MAX)
        return fail(ErrorCode::limit_exceeded, fmt::format("a string of {} bytes is longer than the most, {}",
                                                           scalar.length, UINT32_MAX));
      return sql::Value::string({scalar.string, scalar.length});
    default:
      return fail(ErrorCode::invalid_argument,
                  "the type of the scalar is none that one can have: QUIRE_UNDEFINED to QUIRE_STRING");
  }
}

Result<PartitionKeyArgument> PartitionKeyArgument::read(const quire_scalar* components, size_t count) {
  PartitionKeyArgument argument;
  if (count > kMostPartitionKeyPaths)
    return fail(
        ErrorCode::invalid_partition_key,
        fmt::format("a partition key has at most {} components, not {}", kMostPartitionKeyPaths, count));
  if (components == nullptr && count != 0) return null_argument("the partition key");
  for (const quire_scalar& component : std::span(components, count)) {
    QUIRE_ASSIGN(argument.components_[argument.count_++], scalar_argument(component));
  }
  return argument;
}

void assign(quire_buffer& buffer, std::string_view text) {
  if (text.size() > buffer.capacity) {
    const size_t capacity = std::max(text.size(), buffer.capacity + buffer.capacity / 2);
    void* const data = std::realloc(buffer.data, capacity);
    if (data == nullptr) throw std::bad_alloc();
    buffer.data = static_cast<char*>(data);
    buffer.capacity = capacity;
  }
  if (!text.empty()) std::memcpy(buffer.data, text.data(), text.size());
  buffer.length = text.size();
}

std::string& ScratchText::kept() noexcept {
  thread_local std::string text;
  return text;
}

ScratchText::~ScratchText() {
  if (text_.capacity() > kMostKept) std::string().swap(text_);
}

}  // namespace quire::engine
