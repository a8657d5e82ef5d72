#include "sql/functions/geo_polygon.h"

#include <algorithm>

namespace quire::sql {
namespace {

constexpr std::string_view kHoleOutside = "A hole of a Polygon must lie within its outer ring.";
constexpr std::string_view kHoleInHole = "A hole of a Polygon must not lie within another one.";
constexpr std::string_view kPolygonInPolygon = "A Polygon of a MultiPolygon must not lie within another one.";

// Whether a hole's inside is the side that holds the outer ring: holes run either way in practice. Corners of
// the outer ring that the hole touches do not tell.
bool runs_around_outer_ring(GeoPath hole, GeoPath outer) {
  for (const Direction& corner : outer) {
    const Side side = side_of_ring(hole, corner);
    if (side != Side::boundary) return side == Side::inside;
  }
  return false;
}

// Where a place lies to what a hole takes away.
Side side_of_hole(GeoPath hole, bool runs_around, const Direction& place) {
  const Side side = side_of_ring(hole, place);
  if (side == Side::boundary || !runs_around) return side;
  return side == Side::inside ? Side::outside : Side::inside;
}

// Whether a corner of a ring, or the middle of an edge, is such a place.
template <typename Test>
bool any_place(GeoPath ring, Test test) {
  for (size_t i = 0; i + 1 < ring.size(); ++i)
    if (test(ring[i]) || test(middle_of(ring[i], ring[i + 1]))) return true;
  return false;
}

std::string_view flaw_of_holes(GeoPolygon polygon) {
  const GeoPath outer = polygon.front();
  const auto is_in_outer = [&](const Direction& place) { return side_of_ring(outer, place) == Side::inside; };
  for (const GeoPath hole : polygon.subspan(1))
    if (!any_place(hole, is_in_outer)) return kHoleOutside;
  for (size_t i = 1; i < polygon.size(); ++i) {
    const bool runs_around = runs_around_outer_ring(polygon[i], outer);
    const auto is_apart = [&](const Direction& place) {
      return side_of_hole(polygon[i], runs_around, place) == Side::outside;
    };
    for (size_t j = 1; j < polygon.size(); ++j)
      if (i != j && !any_place(polygon[j], is_apart)) return kHoleInHole;
  }
  return {};
}

// What fills a hole of the other does not.
bool lies_in(GeoPolygon polygon, GeoPolygon other) {
  const auto is_apart = [&](const Direction& place) {
    return side_of_polygon(other, place) == Side::outside;
  };
  if (any_place(polygon.front(), is_apart)) return false;
  const auto place = inner_place(polygon);
  return place && side_of_polygon(other, *place) == Side::inside;
}

}  // namespace

Side side_of_polygon(GeoPolygon polygon, const Direction& place) noexcept {
  const GeoPath outer = polygon.front();
  if (const Side side = side_of_ring(outer, place); side != Side::inside) return side;
  for (const GeoPath hole : polygon.subspan(1)) {
    const Side side = side_of_hole(hole, runs_around_outer_ring(hole, outer), place);
    if (side == Side::boundary) return side;
    if (side == Side::inside) return Side::outside;
  }
  return Side::inside;
}

std::optional<Direction> inner_place(GeoPolygon polygon) noexcept {
  const GeoPath ring = polygon.front();
  const size_t corners = ring.size() - 1;
  for (size_t i = 0; i < corners; ++i) {
    const Direction sum = ring[i] + ring[i + 1] + ring[(i + 2) % corners];
    const Direction place = sum * (1.0 / length(sum));
    if (side_of_polygon(polygon, place) == Side::inside) return place;
  }
  return std::nullopt;
}

std::string_view flaw_of_polygons(std::span<const GeoPolygon> polygons) noexcept {
  for (const GeoPolygon polygon : polygons)
    if (const std::string_view flaw = flaw_of_holes(polygon); !flaw.empty()) return flaw;
  for (size_t i = 0; i < polygons.size(); ++i)
    for (size_t j = 0; j < polygons.size(); ++j)
      if (i != j && lies_in(polygons[i], polygons[j])) return kPolygonInPolygon;
  return {};
}

}  // namespace quire::sql
