// Polygons on the globe: which places they hold, and whether their rings go together.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sql/functions/sphere.h"

namespace quire::sql {

using GeoPath = std::span<const Direction>;
// An outer ring and holes, all closed.
using GeoPolygon = std::span<const GeoPath>;

Side side_of_polygon(GeoPolygon polygon, const Direction& place) noexcept;

inline Direction middle_of(const Direction& from, const Direction& to) noexcept {
  return (from + to) * (1.0 / length(from + to));
}

// A place within a polygon: in a triangle of three corners that follow each other, of which one at least cuts
// off a piece of what the ring encloses, if that is not most of the globe.
std::optional<Direction> inner_place(GeoPolygon polygon) noexcept;

// What is wrong with how rings lie to each other that are right by themselves: a hole of which nothing is in
// the outer ring, a hole or a polygon that lies in another one. Empty if nothing is. Rings that cross pass:
// edges are straight on the globe, where those who drew them may have meant them to be so on a map. (RFC
// 7946, section 3.1.6)
std::string_view flaw_of_polygons(std::span<const GeoPolygon> polygons) noexcept;

}  // namespace quire::sql
