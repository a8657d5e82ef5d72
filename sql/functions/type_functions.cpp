// What kind of value is this? None of these is ever undefined: undefined is simply of no type.
#include <cmath>

#include "sql/functions/date_time.h"
#include "sql/functions/families.h"
#include "sql/functions/integers.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

Value is_array(CallContext&, Arguments arguments) {
  return Value::boolean(arguments[0].is_array());
}
Value is_bool(CallContext&, Arguments arguments) {
  return Value::boolean(arguments[0].is_boolean());
}
Value is_defined(CallContext&, Arguments arguments) {
  return Value::boolean(arguments[0].is_defined());
}
Value is_null(CallContext&, Arguments arguments) {
  return Value::boolean(arguments[0].is_null());
}
Value is_number(CallContext&, Arguments arguments) {
  return Value::boolean(arguments[0].is_number());
}
Value is_object(CallContext&, Arguments arguments) {
  return Value::boolean(arguments[0].is_object());
}
Value is_string(CallContext&, Arguments arguments) {
  return Value::boolean(arguments[0].is_string());
}

Value is_primitive(CallContext&, Arguments arguments) {
  const Value& value = arguments[0];
  return Value::boolean(value.is_defined() && !value.is_array() && !value.is_object());
}

Value is_finite_number(CallContext&, Arguments arguments) {
  const Value& value = arguments[0];
  return Value::boolean(value.kind() == Kind::integer ||
                        (value.is_number() && std::isfinite(value.as_real())));
}

Value is_integer(CallContext&, Arguments arguments) {
  const Value& value = arguments[0];
  return Value::boolean(value.kind() == Kind::integer ||
                        (value.is_number() && integer_from(value.as_real()).has_value()));
}

Value is_date_time(CallContext&, Arguments arguments) {
  return Value::boolean(arguments[0].is_string() && parse_date_time(arguments[0].as_string()).has_value());
}

// For look-up and documentation: it is bound to a container, and never called.
Value is_bound_elsewhere(CallContext&, Arguments) {
  return Value::undefined();
}

constexpr Function kTypeRows[] = {
    {"DOCUMENTID", "x", is_bound_elsewhere, "DOCUMENTID(alias)",
     "A number of the item that no other item of its container has"},
    {"IS_ARRAY", "x", is_array, "IS_ARRAY(value)", "Whether the value is an array"},
    {"IS_BOOL", "x", is_bool, "IS_BOOL(value)", "Whether the value is true or false"},
    {"IS_DATETIME", "x", is_date_time, "IS_DATETIME(value)",
     "Whether the value is a date and time in ISO 8601"},
    {"IS_DEFINED", "x", is_defined, "IS_DEFINED(value)", "Whether the property exists"},
    {"IS_FINITE_NUMBER", "x", is_finite_number, "IS_FINITE_NUMBER(value)",
     "Whether the value is a number, but not NaN or an infinity"},
    {"IS_INTEGER", "x", is_integer, "IS_INTEGER(value)",
     "Whether the value is a whole number of at most 64 bits"},
    {"IS_NULL", "x", is_null, "IS_NULL(value)", "Whether the value is null"},
    {"IS_NUMBER", "x", is_number, "IS_NUMBER(value)", "Whether the value is a number"},
    {"IS_OBJECT", "x", is_object, "IS_OBJECT(value)", "Whether the value is an object"},
    {"IS_PRIMITIVE", "x", is_primitive, "IS_PRIMITIVE(value)",
     "Whether the value is null, a boolean, a number or a string"},
    {"IS_STRING", "x", is_string, "IS_STRING(value)", "Whether the value is a string"},
};

}  // namespace

std::span<const Function> type_functions() noexcept {
  return kTypeRows;
}

}  // namespace quire::sql
