// Codes, the version, buffers.
#include <cstdlib>

#include "quire/quire.h"
#include "sql/error.h"

namespace {

using quire::ErrorCode;

struct Pair {
  quire_code number;
  ErrorCode code;
};
constexpr Pair kCodes[] = {
    {QUIRE_OK, ErrorCode::ok},
    {QUIRE_SYNTAX, ErrorCode::syntax},
    {QUIRE_UNRESOLVED_NAME, ErrorCode::unresolved_name},
    {QUIRE_UNKNOWN_FUNCTION, ErrorCode::unknown_function},
    {QUIRE_WRONG_ARITY, ErrorCode::wrong_arity},
    {QUIRE_SEMANTIC, ErrorCode::semantic},
    {QUIRE_NOT_IN_STRICT_MODE, ErrorCode::not_in_strict_mode},
    {QUIRE_NOT_EXECUTABLE, ErrorCode::not_executable},
    {QUIRE_LIMIT_EXCEEDED, ErrorCode::limit_exceeded},
    {QUIRE_UNBOUND_PARAMETER, ErrorCode::unbound_parameter},
    {QUIRE_INVALID_JSON, ErrorCode::invalid_json},
    {QUIRE_INVALID_ID, ErrorCode::invalid_id},
    {QUIRE_INVALID_PARTITION_KEY, ErrorCode::invalid_partition_key},
    {QUIRE_INVALID_ARGUMENT, ErrorCode::invalid_argument},
    {QUIRE_INVALID_DEFINITION, ErrorCode::invalid_definition},
    {QUIRE_NOT_JSON_RESULT, ErrorCode::not_json_result},
    {QUIRE_RUN_TIME, ErrorCode::run_time},
    {QUIRE_SCRIPT_FAILED, ErrorCode::script_failed},
    {QUIRE_FORBIDDEN, ErrorCode::forbidden},
    {QUIRE_NOT_FOUND, ErrorCode::not_found},
    {QUIRE_CONTAINER_NOT_FOUND, ErrorCode::container_not_found},
    {QUIRE_CONFLICT, ErrorCode::conflict},
    {QUIRE_CONTAINER_EXISTS, ErrorCode::container_exists},
    {QUIRE_EPK_CLASH, ErrorCode::epk_clash},
    {QUIRE_PRECONDITION_FAILED, ErrorCode::precondition_failed},
    {QUIRE_TOO_LARGE, ErrorCode::too_large},
    {QUIRE_INTERRUPTED, ErrorCode::interrupted},
    {QUIRE_BUSY, ErrorCode::busy},
    {QUIRE_TIMEOUT, ErrorCode::timeout},
    {QUIRE_TOO_MANY_REQUESTS, ErrorCode::too_many_requests},
    {QUIRE_RESULT_TOO_LARGE, ErrorCode::result_too_large},
    {QUIRE_TRANSACTION_TOO_LARGE, ErrorCode::transaction_too_large},
    {QUIRE_SNAPSHOT_TOO_OLD, ErrorCode::snapshot_too_old},
    {QUIRE_NOT_A_DATABASE, ErrorCode::not_a_database},
    {QUIRE_NEWER_FORMAT, ErrorCode::newer_format},
    {QUIRE_PERMISSION, ErrorCode::permission},
    {QUIRE_NO_SPACE, ErrorCode::no_space},
    {QUIRE_CANNOT_OPEN, ErrorCode::cannot_open},
    {QUIRE_TRUNCATED, ErrorCode::truncated},
    {QUIRE_CORRUPT, ErrorCode::corrupt},
    {QUIRE_READ_ONLY, ErrorCode::read_only},
    {QUIRE_IO, ErrorCode::io},
    {QUIRE_OUT_OF_MEMORY, ErrorCode::out_of_memory},
    {QUIRE_MISUSE, ErrorCode::misuse},
    {QUIRE_INTERNAL, ErrorCode::internal},
};

constexpr bool numbers_agree() {
  for (const Pair& pair : kCodes)
    if (static_cast<int>(pair.number) != static_cast<int>(pair.code)) return false;
  return true;
}
static_assert(numbers_agree(), "quire.h and sql/error.h number the codes alike");

constexpr char kVersion[] = QUIRE_VERSION;

}  // namespace

extern "C" {

const char* quire_code_name(int code) {
  if (code == QUIRE_ROW) return "row";
  if (code == QUIRE_DONE) return "done";
  if (code == QUIRE_NOT_MODIFIED) return "not_modified";
  for (const Pair& pair : kCodes)
    if (static_cast<int>(pair.number) == code)
      return quire::error_code_row(pair.code).name.data();  // a literal, so it ends in NUL
  return "unknown";
}

const char* quire_version(void) {
  return kVersion;
}

void quire_buffer_release(quire_buffer* buffer) {
  if (buffer == nullptr) return;
  std::free(buffer->data);
  *buffer = {};
}

}  // extern "C"
