#include "sql/plan/plan_choice.h"

#include <algorithm>
#include <string_view>

#include "sql/plan/index_estimate.h"
#include "sql/plan/key_ranges.h"
#include "sql/value/key_encoding.h"

namespace quire::sql {
namespace {

// With all of them known before the query runs.
bool reads_parameters(const PlannedProbe& probe) {
  bool has_parameter = false;
  for (const std::vector<IndexBound>& bounds : probe.parts) {
    for (const IndexBound& bound : bounds) {
      for (const BoundExpression* operand : bound.operands) {
        if (operand->kind != BoundKind::parameter && operand->kind != BoundKind::constant) return false;
        has_parameter |= operand->kind == BoundKind::parameter;
      }
    }
  }
  return has_parameter;
}

std::string_view leading_parts(std::string_view values, const PlannedProbe& probe) {
  size_t size = 0;
  for (size_t part = 0; part < probe.parts.size() && size < values.size(); ++part)
    size += encoded_key_size(values.substr(size), probe.index.parts[part].is_descending);
  return values.substr(0, size);
}

// The share of the entries that the most frequent value may have, as samples tell: an end of a run may lie
// anywhere between two of them.
double greatest_share(const PlannedProbe& probe, const std::vector<std::string>& bounds) {
  size_t longest = 0;
  for (size_t first = 0, next = 0; first < bounds.size(); first = next) {
    const std::string_view value = leading_parts(bounds[first], probe);
    while (next < bounds.size() && leading_parts(bounds[next], probe) == value) ++next;
    longest = std::max(longest, next - first);
  }
  return static_cast<double>(longest + 1) / static_cast<double>(bounds.size());
}

}  // namespace

bool may_lead_to_more(const PlannedProbe& probe, Collection& collection, double most) {
  const auto entries = static_cast<double>(probe.index.entries);
  if (entries <= most || !reads_parameters(probe)) return false;
  const auto names_values = [](const std::vector<IndexBound>& bounds) { return bounds[0].names_values(); };
  if (!std::ranges::all_of(probe.parts, names_values)) return true;
  if (probe.index.is_unique && probe.parts.size() == probe.index.parts.size()) return false;
  const auto known = collection.index_statistics(probe.index.number);
  if (!known || known->bounds == nullptr || known->bounds->empty()) return true;
  return entries * greatest_share(probe, *known->bounds) > most;
}

bool leads_to_few(const PlanChoice& choice, Source& source,
                  const std::function<Value(const BoundExpression&)>& value_of) {
  Collection* const collection = source.collection(choice.collection);
  if (collection == nullptr) return choice.expects_few;
  const KeyRanges ranges = make_key_ranges(choice.probe, value_of);
  if (!ranges.is_served) return false;
  if (ranges.ranges.empty()) return true;
  const auto most = static_cast<uint64_t>(choice.most_entries);
  const auto cursor = open_ranges(choice.probe, ranges, *collection);
  const auto count = cursor != nullptr ? cursor->count_entries(most + 1) : Result<uint64_t>(most);
  return count && *count <= most;
}

}  // namespace quire::sql
