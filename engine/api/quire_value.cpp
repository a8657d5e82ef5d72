// Values: a quire_value is a sql::Value by another name.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/api/boundary.h"
#include "quire/quire.h"
#include "sql/value/json.h"
#include "sql/value/value.h"

using quire::ErrorCode;
using quire::fail;
using quire::Result;
using quire::engine::from_c;
using quire::engine::guarded;
using quire::engine::null_argument;
using quire::engine::ScratchText;
using quire::engine::to_c;
using quire::sql::Kind;
using quire::sql::Member;
using quire::sql::Value;

namespace {

static_assert(sizeof(quire_value) == sizeof(Value) && std::is_trivially_copyable_v<Value>);

constexpr bool is_type(Kind kind, quire_type type) {
  return static_cast<int>(kind) == static_cast<int>(type);
}
static_assert(is_type(Kind::undefined, QUIRE_UNDEFINED) && is_type(Kind::null, QUIRE_NULL) &&
              is_type(Kind::boolean, QUIRE_BOOLEAN) && is_type(Kind::integer, QUIRE_INTEGER) &&
              is_type(Kind::real, QUIRE_REAL) && is_type(Kind::string, QUIRE_STRING) &&
              is_type(Kind::array, QUIRE_ARRAY) && is_type(Kind::object, QUIRE_OBJECT));

int64_t truncated(double real) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(real)) return 0;
  if (real >= kTwoTo63) return std::numeric_limits<int64_t>::max();
  if (real < -kTwoTo63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(real);
}

int write(quire_value value, quire_buffer* out, quire_error* error,
          void (*writer)(const Value&, std::string&)) {
  return guarded(error, [&]() -> Result<void> {
    if (out == nullptr) return null_argument("the buffer");
    const Value from = from_c(value);
    if (!quire::sql::has_only_finite_numbers(from))
      return fail(ErrorCode::not_json_result,
                  "the value holds NaN or Infinity, which JSON has not (4001); TOSTRING(x) writes them, "
                  "IS_FINITE_NUMBER(x) finds them");
    ScratchText scratch;
    writer(from, scratch.text());
    quire::engine::assign(*out, scratch.text());
    return {};
  });
}

}  // namespace

extern "C" {

quire_type quire_value_type(quire_value value) {
  return static_cast<quire_type>(from_c(value).kind());
}

int quire_value_boolean(quire_value value) {
  return from_c(value).is_true() ? 1 : 0;
}

int64_t quire_value_integer(quire_value value) {
  const Value from = from_c(value);
  if (from.kind() == Kind::integer) return from.as_integer();
  return from.kind() == Kind::real ? truncated(from.as_real()) : 0;
}

double quire_value_real(quire_value value) {
  const Value from = from_c(value);
  return from.is_number() ? from.as_double() : 0;
}

const char* quire_value_string(quire_value value, size_t* length) {
  const Value from = from_c(value);
  const std::string_view text = from.is_string() ? from.as_string() : std::string_view();
  if (length != nullptr) *length = text.size();
  if (!from.is_string()) return nullptr;
  return text.data() != nullptr ? text.data() : "";  // NULL means no string
}

size_t quire_value_size(quire_value value) {
  return from_c(value).size();
}

quire_value quire_value_element(quire_value value, size_t index) {
  return to_c(from_c(value).element(index));
}

quire_value quire_value_member(quire_value value, const char* name, size_t name_length) {
  if (name == nullptr && name_length != 0) return to_c(Value::undefined());
  return to_c(from_c(value).member(std::string_view(name, name_length)));
}

quire_value quire_value_member_at(quire_value value, size_t index, const char** name, size_t* name_length) {
  const Value from = from_c(value);
  Member member{};
  const bool is_there = from.is_object() && index < from.size();
  if (is_there) member = from.member_at(static_cast<uint32_t>(index));
  if (name != nullptr) *name = is_there && member.name.data() == nullptr ? "" : member.name.data();
  if (name_length != nullptr) *name_length = member.name.size();
  return to_c(member.value);
}

int quire_value_json(quire_value value, quire_buffer* out, quire_error* error) {
  return write(value, out, error, quire::sql::write_json);
}

int quire_value_pretty_json(quire_value value, quire_buffer* out, quire_error* error) {
  return write(value, out, error, quire::sql::write_pretty_json);
}

}  // extern "C"
