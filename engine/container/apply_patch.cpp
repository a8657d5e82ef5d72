// Doing a patch: each operation makes the objects and arrays on its path anew, over the values beside it.
// Most patches put scalars in the place of values, which is done in the bytes of the document.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "engine/container/patch.h"
#include "sql/value/document_edit.h"
#include "sql/value/member_reader.h"

namespace quire::engine {
namespace {

using Steps = std::span<const std::string_view>;

std::string pointer_text(Steps steps) {
  std::string text;
  for (const std::string_view step : steps) (text += '/') += step;
  return shortened(text);
}

// An array's index as JSON Pointer has it: no sign, no zeros in front.
std::optional<uint32_t> index_of(std::string_view step) {
  uint32_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool is_whole = error == std::errc() && end == step.data() + step.size();
  if (!is_whole || (step.size() > 1 && step[0] == '0')) return std::nullopt;
  return index;
}

// Of two numbers; integers stay exact as long as they fit. Undefined: it is too large for a number.
sql::Value sum_of(const sql::Value& number, const sql::Value& more) {
  if (number.kind() == sql::Kind::integer && more.kind() == sql::Kind::integer) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(number.as_integer(), more.as_integer(), &sum))
      return sql::Value::integer(sum);
  }
  const double sum = number.as_double() + more.as_double();
  return std::isfinite(sum) ? sql::Value::number(sum) : sql::Value();
}

class Change {
 public:
  Change(PatchKind kind, Steps path, const sql::Value& value, sql::Arena& arena)
      : kind_(kind), path_(path), value_(value), arena_(arena) {}

  Result<sql::Value> apply(const sql::Value& root) { return within(root, 0); }

 private:
  std::unexpected<Error> wrong(std::string message) const {
    return fail(ErrorCode::invalid_argument, std::move(message));
  }
  std::unexpected<Error> missing(size_t depth) const {
    return wrong(fmt::format("there is nothing at {}", pointer_text(path_.first(depth + 1))));
  }

  // `parent` with what stands at the steps from `depth` on changed. Each level is a level of the item, of
  // which there are few.
  Result<sql::Value> within(const sql::Value& parent, size_t depth) {
    const bool is_last = depth + 1 == path_.size();
    if (parent.is_object()) return is_last ? change_member(parent) : descend_member(parent, depth);
    if (parent.is_array()) return is_last ? change_element(parent) : descend_element(parent, depth);
    return wrong(fmt::format("what is at {} is neither an object nor an array",
                             depth == 0 ? "/" : pointer_text(path_.first(depth))));
  }

  // ---- Objects

  static uint32_t place_of(const sql::Value& object, std::string_view name) {
    uint32_t place = 0;
    sql::MemberWalk walk(object);
    for (sql::Member member; walk.next(member) && member.name != name;) ++place;
    return place;
  }

  // Overwrites the member at `place`, which may be one past the last; undefined: leaves it out.
  sql::Value with_member(const sql::Value& object, uint32_t place, std::string_view name,
                         const sql::Value& value) {
    const std::span<sql::Member> members = arena_.make_array<sql::Member>(object.size() + size_t{1});
    size_t count = 0;
    sql::MemberWalk walk(object);
    uint32_t i = 0;
    for (sql::Member member; walk.next(member); ++i) {
      if (i == place) member = {name, value};
      if (member.value.is_defined()) members[count++] = member;
    }
    if (place == object.size()) members[count++] = {name, value};
    return sql::Value::object(members.first(count));
  }

  Result<sql::Value> descend_member(const sql::Value& object, size_t depth) {
    const uint32_t place = place_of(object, path_[depth]);
    if (place == object.size()) return missing(depth);
    QUIRE_ASSIGN(const sql::Value changed, within(object.member_at(place).value, depth + 1));
    return with_member(object, place, path_[depth], changed);
  }

  Result<sql::Value> change_member(const sql::Value& object) {
    const std::string_view name = path_.back();
    const uint32_t place = place_of(object, name);
    const bool is_there = place < object.size();
    switch (kind_) {
      case PatchKind::replace:
      case PatchKind::remove:
        if (!is_there) return missing(path_.size() - 1);
        return with_member(object, place, name, value_);
      case PatchKind::increment: {
        if (!is_there) return with_member(object, place, name, value_);
        QUIRE_ASSIGN(const sql::Value sum, incremented(object.member_at(place).value));
        return with_member(object, place, name, sum);
      }
      default:
        return with_member(object, place, name, value_);
    }
  }

  // ---- Arrays

  // The elements before `from`, then `value` if it is defined, then those from `to` on.
  sql::Value with_elements(const sql::Value& array, uint32_t from, const sql::Value& value, uint32_t to) {
    const std::span<sql::Value> elements = arena_.make_array<sql::Value>(array.size() + size_t{1});
    size_t count = 0;
    for (uint32_t i = 0; i < from; ++i) elements[count++] = array.element(i);
    if (value.is_defined()) elements[count++] = value;
    for (uint32_t i = to; i < array.size(); ++i) elements[count++] = array.element(i);
    return sql::Value::array(elements.first(count));
  }

  Result<uint32_t> index_at(size_t depth) const {
    const std::optional<uint32_t> index = index_of(path_[depth]);
    if (!index)
      return wrong(fmt::format("{} does not name an element of the array by its index",
                               pointer_text(path_.first(depth + 1))));
    return *index;
  }

  Result<sql::Value> descend_element(const sql::Value& array, size_t depth) {
    QUIRE_ASSIGN(const uint32_t index, index_at(depth));
    if (index >= array.size()) return missing(depth);
    QUIRE_ASSIGN(const sql::Value changed, within(array.element(index), depth + 1));
    return with_elements(array, index, changed, index + 1);
  }

  Result<sql::Value> change_element(const sql::Value& array) {
    const uint32_t size = array.size();
    const bool may_append = kind_ == PatchKind::add || kind_ == PatchKind::set || kind_ == PatchKind::move;
    if (may_append && path_.back() == "-") return with_elements(array, size, value_, size);
    QUIRE_ASSIGN(const uint32_t index, index_at(path_.size() - 1));
    if (may_append) {
      if (index > size)
        return wrong(fmt::format("the array has {} elements: the index {} is past its end", size, index));
      const bool inserts = kind_ != PatchKind::set || index == size;
      return with_elements(array, index, value_, inserts ? index : index + 1);
    }
    if (index >= size) return missing(path_.size() - 1);
    if (kind_ != PatchKind::increment) return with_elements(array, index, value_, index + 1);
    QUIRE_ASSIGN(const sql::Value sum, incremented(array.element(index)));
    return with_elements(array, index, sum, index + 1);
  }

  Result<sql::Value> incremented(const sql::Value& number) const {
    if (!number.is_number()) return wrong("what is there is not a number");
    const sql::Value sum = sum_of(number, value_);
    if (sum.is_undefined()) return wrong("the sum is too large for a number");
    return sum;
  }

  PatchKind kind_;
  Steps path_;
  sql::Value value_;
  sql::Arena& arena_;
};

Result<sql::Value> value_at(const sql::Value& root, Steps path) {
  sql::Value at = root;
  for (const std::string_view step : path) {
    const std::optional<uint32_t> index = at.is_array() ? index_of(step) : std::nullopt;
    at = index ? at.element(*index) : at.member(step);
  }
  if (at.is_undefined())
    return fail(ErrorCode::invalid_argument, fmt::format("there is nothing at {}", pointer_text(path)));
  return at;
}

Result<sql::Value> apply_operation(const PatchOperation& operation, const sql::Value& item,
                                   sql::Arena& arena) {
  if (operation.kind != PatchKind::move)
    return Change(operation.kind, operation.steps, operation.value, arena).apply(item);
  QUIRE_ASSIGN(const sql::Value moved, value_at(item, operation.from));
  QUIRE_ASSIGN(const sql::Value rest, Change(PatchKind::remove, operation.from, {}, arena).apply(item));
  return Change(PatchKind::move, operation.steps, moved, arena).apply(rest);
}

}  // namespace

Result<sql::Value> Patch::apply(const sql::Value& item) const {
  sql::Value patched = item;
  for (size_t i = 0; i < operations_.size(); ++i) {
    const PatchOperation& operation = operations_[i];
    auto changed = apply_operation(operation, patched, *arena_);
    if (!changed) {
      changed.error().message = fmt::format("operation {} ({} {}): {}", i + 1, operation.word,
                                            shortened(operation.path), changed.error().message);
      return changed;
    }
    patched = *changed;
  }
  return patched;
}

bool Patch::apply_within(std::string& document, sql::KeyDictionary& dictionary) const {
  sql::DocumentEdit edit(document, dictionary);
  return std::ranges::all_of(operations_, [&](const PatchOperation& operation) {
    if (operation.kind == PatchKind::remove || operation.kind == PatchKind::move) return false;
    if (!edit.seek(operation.steps)) return false;
    if (operation.kind != PatchKind::increment) return edit.overwrite(operation.value);
    const sql::Value number = edit.value();
    return number.is_number() && edit.overwrite(sum_of(number, operation.value));
  });
}

}  // namespace quire::engine
