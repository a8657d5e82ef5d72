#include "sql/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace quire {
namespace {

using enum ErrorCode;

constexpr ErrorCodeRow kRows[] = {
    {ok, "ok", 200, ""},
    {syntax, "syntax", 400, "SC1001"},
    {unresolved_name, "unresolved_name", 400, "SC2001"},
    {unknown_function, "unknown_function", 400, "SC2005"},
    {wrong_arity, "wrong_arity", 400, "SC2050"},
    {semantic, "semantic", 400, ""},
    {not_in_strict_mode, "not_in_strict_mode", 400, ""},
    {not_executable, "not_executable", 400, ""},
    {limit_exceeded, "limit_exceeded", 400, ""},
    {unbound_parameter, "unbound_parameter", 400, ""},
    {invalid_json, "invalid_json", 400, ""},
    {invalid_id, "invalid_id", 400, ""},
    {invalid_partition_key, "invalid_partition_key", 400, ""},
    {invalid_argument, "invalid_argument", 400, ""},
    {invalid_definition, "invalid_definition", 400, ""},
    {not_json_result, "not_json_result", 400, "4001"},
    {run_time, "run_time", 400, ""},
    {script_failed, "script_failed", 400, ""},
    {forbidden, "forbidden", 403, ""},
    {not_found, "not_found", 404, ""},
    {container_not_found, "container_not_found", 404, ""},
    {conflict, "conflict", 409, ""},
    {container_exists, "container_exists", 409, ""},
    {epk_clash, "epk_clash", 409, ""},
    {precondition_failed, "precondition_failed", 412, ""},
    {too_large, "too_large", 413, ""},
    {interrupted, "interrupted", 499, ""},
    {busy, "busy", 449, ""},
    {timeout, "timeout", 408, ""},
    {too_many_requests, "too_many_requests", 429, ""},
    {result_too_large, "result_too_large", 413, ""},
    {transaction_too_large, "transaction_too_large", 413, ""},
    {snapshot_too_old, "snapshot_too_old", 408, ""},
    {not_a_database, "not_a_database", 500, ""},
    {newer_format, "newer_format", 500, ""},
    {permission, "permission", 500, ""},
    {no_space, "no_space", 500, ""},
    {cannot_open, "cannot_open", 500, ""},
    {truncated, "truncated", 500, ""},
    {corrupt, "corrupt", 500, ""},
    {read_only, "read_only", 500, ""},
    {io, "io", 500, ""},
    {out_of_memory, "out_of_memory", 500, ""},
    {misuse, "misuse", 500, ""},
    {internal, "internal", 500, ""},
};

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// How many letters must be put in, left out, changed, or swapped with their neighbour to make b of a, without
// regard to ASCII case; both are names, so short. (Optimal string alignment, three rows of the table.)
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> previous(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, previous);
    std::swap(previous, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = previous[j - 1] + (is_same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, change});
      const bool is_swap =
          i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) && is_same_letter(a[i - 2], b[j - 1]);
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Longer names are not compared: a misspelt name is short, and the comparison is quadratic.
constexpr size_t kLongestComparedName = 64;

}  // namespace

std::string_view beginning_of(std::string_view text, size_t most_bytes) noexcept {
  if (text.size() <= most_bytes) return text;
  size_t cut = most_bytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut);
}

std::string shortened(std::string_view word, size_t most_bytes) {
  if (word.size() <= most_bytes) return std::string(word);
  return std::string(beginning_of(word, most_bytes)) + "...";
}

ErrorText::ErrorText() noexcept = default;
ErrorText::ErrorText(const char* text) : std::string(text) {}
ErrorText::ErrorText(std::string text) noexcept : std::string(std::move(text)) {}
ErrorText::ErrorText(const ErrorText& other) = default;
ErrorText::ErrorText(ErrorText&& other) noexcept = default;
ErrorText& ErrorText::operator=(const ErrorText& other) = default;
ErrorText& ErrorText::operator=(ErrorText&& other) noexcept = default;
ErrorText::~ErrorText() = default;

std::unexpected<Error> fail(ErrorCode code, std::string message, Position position) {
  return std::unexpected(Error{.code = code, .message = std::move(message), .position = position});
}

const ErrorCodeRow& error_code_row(ErrorCode code) noexcept {
  for (const ErrorCodeRow& row : kRows)
    if (row.code == code) return row;
  return kRows[std::size(kRows) - 1];
}

Position position_of(std::string_view text, uint64_t offset) noexcept {
  Position position{offset, 1, 1};
  const size_t end = std::min<size_t>(offset, text.size());
  for (size_t i = 0; i < end; ++i) {
    if (text[i] == '\n') {
      ++position.line;
      position.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++position.column;
    }
  }
  return position;
}

void NearestName::offer(std::string_view candidate) {
  if (name_.empty() || name_.size() > kLongestComparedName || candidate.size() > kLongestComparedName) return;
  const size_t distance = edit_distance(name_, candidate);
  const size_t allowed = std::max<size_t>(1, name_.size() / 3);
  // Of one letter each, any two names are one edit apart.
  const bool share_letters = distance < std::max(name_.size(), candidate.size());
  if (share_letters && distance <= allowed && distance < best_distance_) {
    best_distance_ = distance;
    best_ = candidate;
  }
}

std::string NearestName::hint() const {
  return best_.empty() ? std::string() : "; did you mean '" + best_ + "'?";
}

}  // namespace quire
