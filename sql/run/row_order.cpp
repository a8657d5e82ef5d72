#include "sql/run/row_order.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sql/value/comparison.h"
#include "sql/value/prefetch.h"

namespace quire::sql {
namespace {

// So few rows are compared where their chunks are equal, rather than loaded with the next ones.
constexpr size_t kFewRows = 24;
// Strings that are alike for so many chunks are compared, since memcmp goes on faster.
constexpr size_t kMostDepth = 6;
// Whose texts are asked for; the keys themselves are at twice that.
constexpr size_t kRowsAhead = 16;

// A chunk's highest byte is the rank of its type, which is the same for all chunks of a value.
//   string  at depth d the six bytes from 6d on, zeros past its end; then how many there are, or kMore
//   number  at depth 0 the high 56 bits of it as an ordered double, at depth 1 the low 8 and then how far an
//           integer lies from its double
//   array, object  the high 56 bits of their hash
constexpr int kRankShift = 56;
constexpr size_t kStringBytes = 6;
constexpr uint64_t kMore = 0xFF;

enum Rank : uint64_t { undefined, null, boolean, number, string, array, object };

constexpr uint64_t ranked(Rank rank, uint64_t bits) {
  return static_cast<uint64_t>(rank) << kRankShift | bits;
}

uint64_t string_chunk(std::string_view text, size_t depth) {
  const std::string_view rest = text.substr(std::min(depth * kStringBytes, text.size()));
  uint64_t bytes = 0;
  for (size_t i = 0; i < kStringBytes; ++i)
    bytes = bytes << 8 | (i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0);
  return ranked(Rank::string, bytes << 8 | (rest.size() > kStringBytes ? kMore : rest.size()));
}

// Doubles as integers that order alike: NaN first, both zeros the same.
uint64_t ordered_bits(double real) {
  if (real != real) return 0;
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(real + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Rounding to a double keeps the order of integers, and what it took away decides among equal doubles.
uint64_t number_chunk(const Value& value, size_t depth) {
  const double real = value.as_double();
  const uint64_t bits = ordered_bits(real);
  if (depth == 0) return ranked(Rank::number, bits >> 8);
  constexpr int64_t kMostRounding = 1 << 10;
  int64_t rounded_off = 0;
  if (value.kind() == Kind::integer)
    rounded_off =
        static_cast<int64_t>(static_cast<__int128>(value.as_integer()) - static_cast<__int128>(real));
  return ranked(Rank::number, (bits & 0xFF) << 16 | static_cast<uint64_t>(rounded_off + kMostRounding));
}

uint64_t chunk_of(const Value& value, size_t depth) {
  switch (value.kind()) {
    case Kind::undefined:
      return ranked(Rank::undefined, 0);
    case Kind::null:
      return ranked(Rank::null, 0);
    case Kind::boolean:
      return ranked(Rank::boolean, value.as_boolean() ? 1 : 0);
    case Kind::integer:
    case Kind::real:
      return number_chunk(value, depth);
    case Kind::string:
      return string_chunk(value.as_string(), depth);
    case Kind::array:
      return ranked(Rank::array, deep_hash(value) >> 8);
    case Kind::object:
      return ranked(Rank::object, deep_hash(value) >> 8);
  }
  return 0;
}

// What equal chunks say of the values they are of.
enum class Verdict : uint8_t { equal, look_further, compare };

Verdict verdict_of(uint64_t chunk, size_t depth) {
  switch (static_cast<Rank>(chunk >> kRankShift)) {
    case Rank::undefined:
    case Rank::null:
    case Rank::boolean:
      return Verdict::equal;
    case Rank::number:
      return depth == 0 ? Verdict::look_further : Verdict::equal;
    case Rank::string:
      return (chunk & 0xFF) == kMore ? Verdict::look_further : Verdict::equal;
    case Rank::array:
    case Rank::object:
      break;
  }
  return Verdict::compare;
}

}  // namespace

std::strong_ordering compare_keys(const Value* a, const Value* b, const std::vector<bool>& descending) {
  for (size_t i = 0; i < descending.size(); ++i) {
    const auto order = descending[i] ? total_order(b[i], a[i]) : total_order(a[i], b[i]);
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

bool RowOrder::is_before(uint32_t a, uint32_t b) const {
  const auto order = compare_keys(keys_of(a), keys_of(b), descending_);
  return order != 0 ? order < 0 : a < b;
}

void RowOrder::sort(std::span<uint32_t> rows) {
  if (rows.size() <= kFewRows) {
    std::sort(rows.begin(), rows.end(), [this](uint32_t a, uint32_t b) { return is_before(a, b); });
    return;
  }
  entries_.reserve(rows.size());
  entries_.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) entries_[i].row = rows[i];
  ranges_.push_back({0, rows.size(), 0, 0});
  while (!ranges_.empty()) {
    const Range range = ranges_.back();
    ranges_.resize(ranges_.size() - 1);
    sort_range(range);
  }
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = entries_[i].row;
}

void RowOrder::sort_range(const Range& range) {
  const auto first = entries_.begin() + static_cast<ptrdiff_t>(range.first);
  const auto end = entries_.begin() + static_cast<ptrdiff_t>(range.end);
  const bool compares = range.depth == kMostDepth || range.end - range.first <= kFewRows;
  if (range.depth < kMostDepth) load_chunks(range);
  const auto by_chunk = [&](const Entry& a, const Entry& b) {
    if (a.chunk != b.chunk) return a.chunk < b.chunk;
    return compares ? is_before(a.row, b.row) : a.row < b.row;
  };
  if (!std::is_sorted(first, end, by_chunk)) std::sort(first, end, by_chunk);
  if (!compares) push_equal_runs(range);
}

void RowOrder::load_chunks(const Range& range) {
  const uint64_t inverted = descending_[range.key] ? UINT64_MAX : 0;
  for (size_t i = range.first; i < range.end; ++i) {
    ask_ahead(range, i);
    entries_[i].chunk = chunk_of(keys_of(entries_[i].row)[range.key], range.depth) ^ inverted;
  }
}

void RowOrder::ask_ahead(const Range& range, size_t at) const {
  const auto key_of = [&](size_t ahead) { return keys_of(entries_[at + ahead].row) + range.key; };
  if (range.end - at > 2 * kRowsAhead) prefetch(key_of(2 * kRowsAhead));
  if (range.end - at <= kRowsAhead) return;
  const Value* const key = key_of(kRowsAhead);
  if (!key->is_string()) return;
  const std::string_view text = key->as_string();
  prefetch(text.data() + std::min(range.depth * kStringBytes, text.size()));
}

void RowOrder::push_equal_runs(const Range& range) {
  const uint64_t inverted = descending_[range.key] ? UINT64_MAX : 0;
  for (size_t first = range.first; first < range.end;) {
    const uint64_t chunk = entries_[first].chunk;
    size_t end = first + 1;
    while (end < range.end && entries_[end].chunk == chunk) ++end;
    const size_t start = std::exchange(first, end);
    if (end - start == 1) continue;
    switch (verdict_of(chunk ^ inverted, range.depth)) {
      case Verdict::equal:
        if (range.key + 1 < descending_.size()) ranges_.push_back({start, end, range.key + 1, 0});
        break;
      case Verdict::look_further:
        ranges_.push_back({start, end, range.key, range.depth + 1});
        break;
      case Verdict::compare:
        ranges_.push_back({start, end, range.key, kMostDepth});
        break;
    }
  }
}

}  // namespace quire::sql
