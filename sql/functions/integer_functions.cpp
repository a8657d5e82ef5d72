// Arithmetic on 64-bit integers, exact where doubles are not. Overflow wraps as the processor does (the
// service does not say); a count of a shift is taken modulo 64.
#include <cstdint>

#include "sql/functions/families.h"
#include "sql/functions/integers.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr uint64_t kMostShift = 63;

// The row's body for an operation that is defined for all bits; unsigned arithmetic wraps without undefined
// behaviour.
template <uint64_t (*combine)(uint64_t, uint64_t)>
Value on_bits(CallContext&, Arguments arguments) {
  const auto a = static_cast<uint64_t>(integer_argument(arguments[0]));
  const auto b = static_cast<uint64_t>(integer_argument(arguments[1]));
  return Value::integer(static_cast<int64_t>(combine(a, b)));
}

uint64_t add(uint64_t a, uint64_t b) {
  return a + b;
}
uint64_t subtract(uint64_t a, uint64_t b) {
  return a - b;
}
uint64_t multiply(uint64_t a, uint64_t b) {
  return a * b;
}
uint64_t bit_and(uint64_t a, uint64_t b) {
  return a & b;
}
uint64_t bit_or(uint64_t a, uint64_t b) {
  return a | b;
}
uint64_t bit_xor(uint64_t a, uint64_t b) {
  return a ^ b;
}
uint64_t shift_left(uint64_t a, uint64_t count) {
  return a << (count & kMostShift);
}
uint64_t shift_right(uint64_t a, uint64_t count) {
  return static_cast<uint64_t>(static_cast<int64_t>(a) >> (count & kMostShift));  // keeps the sign
}

Value bit_not(CallContext&, Arguments arguments) {
  return Value::integer(~integer_argument(arguments[0]));
}

Value divide(CallContext&, Arguments arguments) {
  const int64_t dividend = integer_argument(arguments[0]);
  const int64_t divisor = integer_argument(arguments[1]);
  if (divisor == 0) return Value::undefined();
  // The one quotient that overflows is that of the least integer by -1; negating by hand wraps it.
  if (divisor == -1)
    return Value::integer(static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(dividend)));
  return Value::integer(dividend / divisor);
}

Value remainder(CallContext&, Arguments arguments) {
  const int64_t dividend = integer_argument(arguments[0]);
  const int64_t divisor = integer_argument(arguments[1]);
  if (divisor == 0) return Value::undefined();
  return Value::integer(divisor == -1 ? 0 : dividend % divisor);
}

constexpr Function kIntegerRows[] = {
    {"INTADD", "ii", on_bits<add>, "INTADD(a, b)", "The sum of two integers"},
    {"INTSUB", "ii", on_bits<subtract>, "INTSUB(a, b)", "The difference of two integers"},
    {"INTMUL", "ii", on_bits<multiply>, "INTMUL(a, b)", "The product of two integers"},
    {"INTDIV", "ii", divide, "INTDIV(a, b)", "The quotient of two integers, without its fraction"},
    {"INTMOD", "ii", remainder, "INTMOD(a, b)", "The remainder of a division, with the sign of the dividend"},
    {"INTBITAND", "ii", on_bits<bit_and>, "INTBITAND(a, b)", "The bits that are set in both integers"},
    {"INTBITOR", "ii", on_bits<bit_or>, "INTBITOR(a, b)", "The bits that are set in either integer"},
    {"INTBITXOR", "ii", on_bits<bit_xor>, "INTBITXOR(a, b)",
     "The bits that are set in just one of two integers"},
    {"INTBITNOT", "i", bit_not, "INTBITNOT(a)", "The bits that are not set"},
    {"INTBITLEFTSHIFT", "ii", on_bits<shift_left>, "INTBITLEFTSHIFT(a, count)", "The bits moved to the left"},
    {"INTBITRIGHTSHIFT", "ii", on_bits<shift_right>, "INTBITRIGHTSHIFT(a, count)",
     "The bits moved to the right; the sign stays"},
};

}  // namespace

std::span<const Function> integer_functions() noexcept {
  return kIntegerRows;
}

}  // namespace quire::sql
