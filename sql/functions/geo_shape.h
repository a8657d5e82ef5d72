// GeoJSON geometries as points on the globe: Point, LineString, Polygon, MultiPolygon.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sql/functions/geo_polygon.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

constexpr size_t kMostGeoPoints = 4096;  // of one geometry, as in the service

enum class GeoKind : uint8_t { point, line, area };

struct GeoShape {
  GeoKind kind = GeoKind::point;
  std::span<const GeoPath> paths;        // a point, a line, or the rings of all polygons
  std::span<const GeoPolygon> polygons;  // area alone
};

// What an object is as GeoJSON. `is_geojson` is false if it does not claim to be one of the geometries;
// otherwise either the shape is there or the reason why it is not valid.
struct ParsedGeoShape {
  bool is_geojson = false;
  std::optional<GeoShape> shape;
  std::string_view reason;
};

// The shape lies in `arena`.
ParsedGeoShape parse_geo_shape(const Value& object, Arena& arena);

bool shapes_intersect(const GeoShape& a, const GeoShape& b) noexcept;
// Whether all of `a` lies in `b`, not on its boundary alone.
bool is_within(const GeoShape& a, const GeoShape& b);
// Metres on the WGS84 ellipsoid; 0 if they intersect.
double shape_distance(const GeoShape& a, const GeoShape& b) noexcept;
// Square metres there; 0 for what is no area.
double shape_area(const GeoShape& shape) noexcept;

}  // namespace quire::sql
