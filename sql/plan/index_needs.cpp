// What a plan by indexes was made for may change with the items: then it is made anew.
#include <algorithm>

#include "sql/plan/plan.h"

namespace quire::sql {

bool index_needs_hold(const Plan& plan, Source& source) {
  return std::ranges::all_of(plan.index_needs, [&](const Plan::IndexNeed& need) {
    Collection* const collection = source.collection(need.collection);
    if (collection == nullptr) return false;
    const auto found = std::ranges::find(collection->indexes(), need.index, &IndexDescription::number);
    return found != collection->indexes().end() && (!need.needs_whole_values || found->cut_entries == 0) &&
           (!need.needs_every_item || found->entries == collection->item_count());
  });
}

}  // namespace quire::sql
