// The border between C++ and the C functions of quire.h: arguments in, errors and bytes out. No exception
// passes it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "engine/catalog/container_definition.h"
#include "quire/quire.h"
#include "sql/error.h"
#include "sql/value/value.h"

namespace quire::engine {

// ---- Errors

// Fills `error`, if there is one; the code, for the caller to return.
int report(const Error& error, quire_error* out) noexcept;
int report(ErrorCode code, std::string_view message, quire_error* out) noexcept;
// As much of a message as there is room for, up to a whole character, ended by NUL. Where the message has a
// NUL itself, as an id may, C would take that for its end: it becomes "\0" to be seen. What is no UTF-8, as a
// path or a name that the caller gave, becomes U+FFFD: other languages' strings would not take it.
void write_message(std::string_view message, std::span<char> out) noexcept;

// Runs the body of a C function, a callable that gives Result<void>.
template <typename Body>
int guarded(quire_error* error, const Body& body) noexcept {
  try {
    const Result<void> result = body();
    if (result) [[likely]]
      return QUIRE_OK;
    return report(result.error(), error);
  } catch (const std::bad_alloc&) {
    return report(ErrorCode::out_of_memory, "memory ran out", error);
  } catch (const std::exception& exception) {
    return report(ErrorCode::internal, exception.what(), error);
  } catch (...) {
    return report(ErrorCode::internal, "an exception of unknown type", error);
  }
}

// ---- Arguments

inline std::unexpected<Error> null_argument(std::string_view what) {
  return fail(ErrorCode::misuse, std::string(what) + " is NULL");
}

// A text of explicit length; misuse where there are no bytes at all, or more than there can be.
Result<std::string_view> text_argument(const char* data, size_t length, std::string_view what);

// A precondition as the engine takes it, which reads an empty one as none: NULL is none, but an empty text,
// which has come about by mistake, is an etag that no item has.
inline std::string_view etag_argument(const char* etag) noexcept {
  constexpr std::string_view kOfNoItem = "\"\"";
  if (etag == nullptr) return {};
  return *etag != '\0' ? std::string_view(etag) : kOfNoItem;
}

// The options as this version knows them: zero where an older caller's struct ends.
template <typename Options>
Result<Options> options_argument(const Options* given) {
  Options options{};
  if (given == nullptr) return options;
  if (given->struct_size < sizeof given->struct_size)
    return fail(ErrorCode::misuse, "struct_size of the options must be set to their size");
  std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  return options;
}

// The number of an enum that C filled in: C may put any number there, which C++ must not read as the enum.
template <typename Enum>
uint32_t number_of(const Enum& value) noexcept {
  static_assert(sizeof value == sizeof(uint32_t));
  uint32_t number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

Result<sql::Value> scalar_argument(const quire_scalar& scalar);

// The components of a partition key, in place.
class PartitionKeyArgument {
 public:
  static Result<PartitionKeyArgument> read(const quire_scalar* components, size_t count);
  std::span<const sql::Value> components() const noexcept { return std::span(components_).first(count_); }

 private:
  std::array<sql::Value, kMostPartitionKeyPaths> components_;
  size_t count_ = 0;
};

// ---- Values and bytes out

inline quire_value to_c(const sql::Value& value) noexcept {
  return std::bit_cast<quire_value>(value);
}
inline sql::Value from_c(quire_value value) noexcept {
  return std::bit_cast<sql::Value>(value);
}

// Replaces what the buffer holds. Throws std::bad_alloc.
void assign(quire_buffer& buffer, std::string_view text);

// A text that this thread writes before it goes to a buffer, its memory kept from one call to the next.
class ScratchText {
 public:
  ScratchText() noexcept : text_(kept()) { text_.clear(); }
  ~ScratchText();
  ScratchText(const ScratchText&) = delete;
  ScratchText& operator=(const ScratchText&) = delete;

  std::string& text() noexcept { return text_; }

 private:
  static std::string& kept() noexcept;
  std::string& text_;
};

}  // namespace quire::engine
