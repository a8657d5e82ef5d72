#include "sql/plan/key_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>

#include "sql/functions/like.h"
#include "sql/value/key_encoding.h"

namespace quire::sql {
namespace {

std::string encoded(const Value& value) {
  constexpr size_t kAroundText = 4;
  std::string bytes;
  if (value.is_string()) bytes.reserve(value.as_string().size() + kAroundText);
  encode_key(value, bytes);
  return bytes;
}

std::string complement(std::string bytes) {
  for (char& byte : bytes) byte = static_cast<char>(~byte);
  return bytes;
}

// Encodings of one part, ascending: [from, to), an empty `to` without end.
struct Interval {
  std::string from;
  std::string to;
  bool is_value = false;  // all that begins with `from`, which further parts may follow
  bool is_empty() const { return !to.empty() && from >= to; }
};

Interval intersection(const Interval& a, const Interval& b) {
  Interval both;
  both.from = std::max(a.from, b.from);
  both.to = a.to.empty() ? b.to : b.to.empty() ? a.to : std::min(a.to, b.to);
  return both;
}

Interval of_types(uint8_t first, uint8_t last) {
  Interval types{std::string(1, static_cast<char>(first)), {}};
  if (last != 0xFF) types.to = std::string(1, static_cast<char>(last));
  return types;
}

constexpr size_t kMostRanges = 65'536;

class RangeMaker {
 public:
  RangeMaker(const PlannedProbe& probe, const std::function<Value(const BoundExpression&)>& value_of,
             std::span<const Value> lookup_keys, KeyRanges last)
      : probe_(probe), value_of_(value_of), lookup_keys_(lookup_keys), made_(std::move(last)) {}

  KeyRanges make() {
    made_.is_served = true;
    if (asks_one_value()) {
      take_one_value();
      return std::move(made_);
    }
    if (std::ranges::count_if(probe_.parts, is_looked_up) > 1)
      make_of_tuples();
    else
      make_of_parts();
    if (made_.ranges.size() > 1) merge();
    return std::move(made_);
  }

 private:
  static bool is_looked_up(const std::vector<IndexBound>& bounds) {
    return bounds[0].check == BoundCheck::looked_up;
  }

  void make_of_parts() {
    made_.ranges.assign(1, {});  // all entries
    for (size_t part = 0; part < probe_.parts.size() && made_.is_served; ++part) add_part(part);
  }

  // A join asks for values of several parts that belong together.
  void make_of_tuples() {
    std::vector<std::pair<std::string, std::string>> found;
    std::span<const Value> keys = lookup_keys_;
    while (!keys.empty() && made_.is_served) {
      made_.ranges.assign(1, {});
      for (size_t part = 0; part < probe_.parts.size() && made_.is_served; ++part) {
        if (is_looked_up(probe_.parts[part])) {
          lookup_keys_ = keys.first(1);
          keys = keys.subspan(1);
        }
        add_part(part);
      }
      std::ranges::move(made_.ranges, std::back_inserter(found));
      made_.is_served &= found.size() <= kMostRanges;
    }
    made_.ranges = std::move(found);
  }

  void add_part(size_t part) {
    std::vector<Interval> intervals = intervals_of(probe_.parts[part]);
    const bool is_descending = probe_.index.parts[part].is_descending;
    // An array may have any number of elements.
    if (part > 0 && made_.ranges.size() * intervals.size() > kMostRanges)
      made_.is_served = false;
    else if (part == 0 && !is_descending)
      take_first(intervals);
    else
      narrow(intervals, is_descending);
  }

  // The usual probe, which a prepared statement makes again and again: without memory of its own.
  bool asks_one_value() const noexcept {
    if (probe_.parts.size() != 1 || probe_.index.parts[0].is_descending) return false;
    const IndexBound& bound = probe_.parts[0][0];
    return bound.check == BoundCheck::equal && bound.operands.size() == 1;
  }
  void take_one_value() {
    const Value value = value_of_(*probe_.parts[0][0].operands[0]);
    made_.ranges.resize(may_equal(value, probe_.parts[0][0]) ? 1 : 0);
    for (auto& [from, to] : made_.ranges) {
      from.clear();
      encode_key(value, from);
      to = from;
      to = key_behind(std::move(to));
    }
  }

  // What a part may be: for equality a list of values, else one interval.
  std::vector<Interval> intervals_of(const std::vector<IndexBound>& bounds) {
    std::vector<Interval> found;
    const auto add = [&found](std::optional<Interval> interval) {
      if (interval) found.push_back(*std::move(interval));
    };
    if (bounds[0].check == BoundCheck::looked_up) {
      for (const Value& key : lookup_keys_) add(equal_to(key, bounds[0]));
      return found;
    }
    if (bounds[0].check == BoundCheck::in_array) {
      const Value array = value_of_(*bounds[0].operands[0]);
      if (array.is_array())
        for (uint32_t i = 0; i < array.size(); ++i) add(equal_to(array.element(i), bounds[0]));
      return found;
    }
    if (bounds[0].check == BoundCheck::equal || bounds[0].check == BoundCheck::in) {
      for (const BoundExpression* operand : bounds[0].operands) add(equal_to(value_of_(*operand), bounds[0]));
      return found;
    }
    std::optional<Interval> all = Interval{};
    for (const IndexBound& bound : bounds) {
      const auto interval = interval_of(bound);
      if (!interval) return found;
      all = intersection(*all, *interval);
    }
    if (!all->is_empty()) add(std::move(all));
    return found;
  }

  // Whether some value may be equal to it; also none where the index does not serve it.
  bool may_equal(const Value& value, const IndexBound& bound) {
    const bool is_scalar = !value.is_undefined() && !value.is_array() && !value.is_object();
    if (!is_scalar && bound.is_of_scalars) made_.is_served = false;
    if (value.is_undefined()) return false;
    if (value.is_number() && std::isnan(value.as_double())) return false;
    if (!is_scalar && probe_.index.holds == IndexHolds::scalars) made_.is_served = false;
    return made_.is_served;
  }

  std::optional<Interval> equal_to(const Value& value, const IndexBound& bound) {
    if (!may_equal(value, bound)) return std::nullopt;
    std::string bytes = encoded(value);
    std::string end = key_behind(bytes);
    return Interval{std::move(bytes), std::move(end), true};
  }

  // Nothing: no value fits.
  std::optional<Interval> interval_of(const IndexBound& bound) {
    switch (bound.check) {
      case BoundCheck::of_types:
        return of_types(bound.first_type, bound.last_type);
      case BoundCheck::like:
      case BoundCheck::prefix: {
        const Value text = value_of_(*bound.operands[0]);
        if (!text.is_string()) return std::nullopt;
        const bool is_pattern = bound.check == BoundCheck::like;
        return beginning_with(is_pattern ? text_before_wildcards(text.as_string()) : text.as_string());
      }
      case BoundCheck::at_least:
      case BoundCheck::at_most: {
        const Value value = value_of_(*bound.operands[0]);
        if (value.is_array() || value.is_object()) return equal_to(value, bound);
        return compared(
            bound.check == BoundCheck::at_least ? BoundCheck::greater_equal : BoundCheck::less_equal, value);
      }
      default:
        return compared(bound.check, value_of_(*bound.operands[0]));
    }
  }

  static Interval beginning_with(std::string_view text) {
    std::string bytes = encoded(Value::string(text));
    bytes.resize(bytes.size() - 2);  // without the string's end
    std::string end = key_behind(bytes);
    return {std::move(bytes), std::move(end)};
  }

  // Values of other types, and arrays and objects, compare to undefined.
  static std::optional<Interval> compared(BoundCheck check, const Value& value) {
    if (value.is_undefined() || value.is_array() || value.is_object()) return std::nullopt;
    if (value.is_number() && std::isnan(value.as_double())) return std::nullopt;
    const std::string bytes = encoded(value);
    Interval same_type = value.is_boolean()
                             ? of_types(0x20, 0x22)
                             : of_types(static_cast<uint8_t>(bytes[0]),
                                        static_cast<uint8_t>(static_cast<uint8_t>(bytes[0]) + 1));
    Interval side;
    switch (check) {
      case BoundCheck::less:
        side.to = bytes;
        break;
      case BoundCheck::less_equal:
        side.to = key_behind(bytes);
        break;
      case BoundCheck::greater:
        side.from = key_behind(bytes);
        break;
      default:
        side.from = bytes;
    }
    return intersection(same_type, side);
  }

  // The intervals of the first part, as they are.
  void take_first(std::vector<Interval>& intervals) {
    made_.ranges.clear();
    for (Interval& interval : intervals)
      made_.ranges.emplace_back(std::move(interval.from), std::move(interval.to));
  }

  // Each range so far, followed by each interval.
  void narrow(const std::vector<Interval>& intervals, bool is_descending) {
    std::vector<std::pair<std::string, std::string>> narrowed;
    for (const auto& [prefix, end] : made_.ranges) {
      for (const Interval& interval : intervals) {
        std::string from = interval.from, to = interval.to;
        if (is_descending) {
          // The complement turns the order round: what lay before `to` now lies behind all that begin with
          // its complement.
          from = interval.is_value     ? complement(interval.from)
                 : interval.to.empty() ? std::string()
                                       : key_behind(complement(interval.to));
          to = interval.from.empty() ? std::string() : key_behind(complement(interval.from));
        }
        narrowed.emplace_back(prefix + from, to.empty() ? end : prefix + to);
      }
    }
    made_.ranges = std::move(narrowed);
  }

  void merge() {
    std::ranges::sort(made_.ranges);
    std::vector<std::pair<std::string, std::string>> merged;
    for (auto& range : made_.ranges) {
      if (merged.empty() || (!merged.back().second.empty() && range.first >= merged.back().second)) {
        merged.push_back(std::move(range));
      } else if (!merged.back().second.empty() &&
                 (range.second.empty() || range.second > merged.back().second)) {
        merged.back().second = std::move(range.second);
      }
    }
    made_.ranges = std::move(merged);
  }

  const PlannedProbe& probe_;
  const std::function<Value(const BoundExpression&)>& value_of_;
  std::span<const Value> lookup_keys_;
  KeyRanges made_;
};

}  // namespace

KeyRanges make_key_ranges(const PlannedProbe& probe,
                          const std::function<Value(const BoundExpression&)>& value_of,
                          std::span<const Value> lookup_keys, KeyRanges last) {
  return RangeMaker(probe, value_of, lookup_keys, std::move(last)).make();
}

}  // namespace quire::sql
