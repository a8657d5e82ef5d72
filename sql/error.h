// What may go wrong, as a value. Every failure in Quire is an Error: a code of our own, the HTTP status that
// Azure Cosmos DB gives in the same case, a message that says what was wrong and what to do, and where it
// stood in the text that the user wrote. The codes are rows of one table (error.cpp); quire.h repeats their
// numbers, and engine/api asserts that both agree.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace quire {

// Numbers are part of the C ABI: never change or reuse one.
enum class ErrorCode : int32_t {
  ok = 0,
  // The request is wrong: status 400.
  syntax = 1,              // text that the grammar does not take (SC1001)
  unresolved_name = 2,     // identifier, alias, property of nothing (SC2001)
  unknown_function = 3,    // SC2005
  wrong_arity = 4,         // SC2050
  semantic = 5,            // any other query that cannot mean anything
  not_in_strict_mode = 6,  // Quire would take it, Azure would not
  not_executable = 7,      // parses, but this version does not execute it yet
  limit_exceeded = 8,      // text, depth, count past its bound
  unbound_parameter = 9,
  invalid_json = 10,
  invalid_id = 11,
  invalid_partition_key = 12,
  invalid_argument = 13,
  invalid_definition = 14,  // container definition
  not_json_result = 15,     // a result holds NaN or Infinity (4001)
  run_time = 16,            // an expression failed while running
  script_failed = 17,       // a script threw something, or gave up
  // Others.
  forbidden = 20,              // 403
  not_found = 21,              // 404: item
  container_not_found = 22,    // 404
  conflict = 23,               // 409: duplicate primary key
  container_exists = 24,       // 409
  epk_clash = 25,              // 409: two partition keys share an effective partition key
  precondition_failed = 26,    // 412
  too_large = 27,              // 413
  interrupted = 28,            // 499
  busy = 29,                   // 449
  timeout = 30,                // 408
  too_many_requests = 31,      // 429: past the throughput of a container
  result_too_large = 32,       // 413: past PRAGMA result_size
  transaction_too_large = 33,  // 413: past PRAGMA transaction_size
  snapshot_too_old = 34,       // 408: past PRAGMA reader_age
  // The file.
  not_a_database = 40,
  newer_format = 41,
  permission = 42,
  no_space = 43,
  cannot_open = 44,  // folder missing, locked, ...
  truncated = 45,
  corrupt = 46,
  read_only = 47,
  io = 48,
  out_of_memory = 49,
  misuse = 50,  // a call that the API's contract forbids
  internal = 51,
};

// One row per code: its stable name, the HTTP status, and the service's own code where there is one.
struct ErrorCodeRow {
  ErrorCode code;
  std::string_view name;          // "unresolved_name"
  int status;                     // HTTP status as Cosmos would answer
  std::string_view service_code;  // "SC2001", or empty
};
const ErrorCodeRow& error_code_row(ErrorCode code) noexcept;

// A place in a text: byte offset from 0, line and column from 1 (columns count code points). Line 0: nowhere.
struct Position {
  uint64_t offset = 0;
  uint32_t line = 0;
  uint32_t column = 0;
};

// The place of a byte offset within `text`.
Position position_of(std::string_view text, uint64_t offset) noexcept;

// A string; but what makes, moves and drops one is a call that the compiler takes to be rare. Nearly every
// function of Quire may fail, and drops an Error wherever one might be: written out there that was half of
// what lay between the instructions of a write, which the processor waits for.
class ErrorText : public std::string {
 public:
  [[gnu::cold]] ErrorText() noexcept;
  [[gnu::cold]] ErrorText(const char* text);
  [[gnu::cold]] ErrorText(std::string text) noexcept;
  [[gnu::cold]] ErrorText(const ErrorText& other);
  [[gnu::cold]] ErrorText(ErrorText&& other) noexcept;
  [[gnu::cold]] ErrorText& operator=(const ErrorText& other);
  [[gnu::cold]] ErrorText& operator=(ErrorText&& other) noexcept;
  [[gnu::cold]] ~ErrorText();
};

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::internal;
  ErrorText message;
  Position position{};
  uint32_t retry_after_ms = 0;  // of too_many_requests

  int status() const noexcept { return error_code_row(code).status; }
};

template <typename T>
using Result = std::expected<T, Error>;

[[gnu::cold]] std::unexpected<Error> fail(ErrorCode code, std::string message, Position position = {});

// The beginning of a text that has no more than so many bytes, and ends with a whole character.
std::string_view beginning_of(std::string_view text, size_t most_bytes) noexcept;

// A user's word as messages show it: whole, or the beginning of a long one.
std::string shortened(std::string_view word, size_t most_bytes = 40);

// The nearest of `candidates` to `name` by edit distance, for "did you mean"; empty if none is near.
class NearestName {
 public:
  explicit NearestName(std::string_view name) : name_(name) {}
  void offer(std::string_view candidate);
  std::string_view best() const noexcept { return best_; }
  // "; did you mean 'x'?" or "".
  std::string hint() const;

 private:
  std::string_view name_;
  std::string best_;
  size_t best_distance_ = SIZE_MAX;
};

}  // namespace quire

// Propagates the error of an expected-valued expression out of a function that returns an expected.
#define QUIRE_TRY(expression)                                     \
  do {                                                            \
    if (auto quire_try_ = (expression); !quire_try_) [[unlikely]] \
      return std::unexpected(std::move(quire_try_.error()));      \
  } while (false)

// QUIRE_ASSIGN(auto x, f()): x = the value, or the error is returned.
// NOLINTBEGIN(bugprone-macro-parentheses): names and declarations take no parentheses
#define QUIRE_CONCAT_INNER(a, b) a##b
#define QUIRE_CONCAT(a, b) QUIRE_CONCAT_INNER(a, b)
#define QUIRE_ASSIGN_INNER(name, declaration, expression) \
  auto name = (expression);                               \
  if (!name) [[unlikely]]                                 \
    return std::unexpected(std::move(name.error()));      \
  declaration = std::move(*name)
// NOLINTEND(bugprone-macro-parentheses)
#define QUIRE_ASSIGN(declaration, expression) \
  QUIRE_ASSIGN_INNER(QUIRE_CONCAT(quire_assign_, __LINE__), declaration, expression)
