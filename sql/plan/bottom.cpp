#include "sql/plan/bottom.h"

#include <utility>

namespace quire::sql {

Bottom find_bottom(Place& root) {
  std::vector<Place*> places;
  for (Place* at = &root;; at = &(*at)->input) {
    places.push_back(at);
    if ((*at)->input == nullptr) break;
  }
  Bottom bottom;
  bottom.scan = places.back();
  size_t next = places.size() - 1;
  if (next > 0 && (*places[next - 1])->kind == PlanKind::filter) bottom.filter = places[--next];
  if (next > 0 && (*places[next - 1])->kind == PlanKind::sort) bottom.sort = places[next - 1];
  while (next > 0) bottom.above.push_back(places[--next]->get());
  return bottom;
}

void take_out(Place& node) {
  Place below = std::move(node->input);
  node = std::move(below);
}

}  // namespace quire::sql
