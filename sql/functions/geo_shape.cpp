// Reading GeoJSON and checking that it is valid.
#include "sql/functions/geo_shape.h"

#include <algorithm>
#include <cmath>

namespace quire::sql {
namespace {

constexpr std::string_view kNotAPosition = "A position must be an array of a longitude and a latitude.";
constexpr std::string_view kWrongLatitude = "Latitude values must be between -90 and 90 degrees.";
constexpr std::string_view kWrongLongitude = "Longitude values must be between -180 and 180 degrees.";
constexpr std::string_view kNotAnArray = "Coordinates must be an array of positions.";
constexpr std::string_view kShortLine = "A LineString must have at least two positions.";
constexpr std::string_view kNoRing = "A Polygon must have at least one ring.";
constexpr std::string_view kNoPolygon = "A MultiPolygon must have at least one Polygon.";
constexpr std::string_view kShortRing = "A ring must have at least four positions.";
constexpr std::string_view kOpenRing = "The first and the last position of a ring must be the same.";
constexpr std::string_view kCrossedRing = "The edges of a ring must not cross each other.";
constexpr std::string_view kFoldedRing = "The edges of a ring must not run along each other.";
constexpr std::string_view kTooManyPoints = "A geometry must have at most 4096 positions.";

// The square of the distance between two points.
double squared_distance(const Direction& a, const Direction& b) {
  return dot(a - b, a - b);
}

double longest_edge_of(GeoPath ring) {
  double most = 0;
  for (size_t i = 0; i + 1 < ring.size(); ++i) most = std::max(most, squared_distance(ring[i], ring[i + 1]));
  return std::sqrt(most);
}

// What is wrong with the way in which a ring meets itself: edges that cross, or that run along each other, as
// those of a spike do, between which is nothing. Empty if it does neither. The bound on points keeps the
// square of their number small; most pairs are told apart by their ends, which lie plainly on one side.
std::string_view flaw_of_ring(GeoPath ring) {
  const double longest = longest_edge_of(ring);
  if (longest <= kSamePlace) return kFoldedRing;
  for (size_t i = 0; i + 1 < ring.size(); ++i) {
    const Arc edge{ring[i], ring[i + 1]};
    const Direction normal = cross(edge.from, edge.to - edge.from);
    // How high an end may lie over the edge, times the edge's length, where two edges run along each other.
    const double unsure = 4 * kSamePlace * (length(edge.to - edge.from) + longest);
    double before = 0;
    for (size_t j = i + 1; j + 1 < ring.size(); ++j) {
      const double after = dot(normal, ring[j + 1] - edge.from);
      const bool is_apart = std::min(before, after) > unsure || std::max(before, after) < -unsure;
      before = after;
      if (is_apart) continue;
      const Arc other{ring[j], ring[j + 1]};
      const bool goes_on = j == i + 1 && dot(edge.to - edge.from, other.to - other.from) >= 0;
      if (goes_on) continue;
      if (arcs_cross(edge, other) && !arcs_meet_at_end(edge, other)) return kCrossedRing;
      if (arcs_overlap(edge, other)) return kFoldedRing;
    }
  }
  return {};
}

class GeoShapeParser {
 public:
  explicit GeoShapeParser(Arena& arena) : arena_(arena) {}

  // The reason of the first thing that was wrong.
  std::string_view reason() const { return reason_; }

  std::optional<GeoShape> point(const Value& coordinates) {
    const std::span<Direction> points = arena_.make_array<Direction>(1);
    if (!read_position(coordinates, points[0])) return std::nullopt;
    return GeoShape{GeoKind::point, one(GeoPath(points)), {}};
  }

  std::optional<GeoShape> line(const Value& coordinates) {
    const std::optional<GeoPath> path = read_path(coordinates, 2, kShortLine);
    if (!path) return std::nullopt;
    return GeoShape{GeoKind::line, one(*path), {}};
  }

  std::optional<GeoShape> polygon(const Value& coordinates) {
    const std::span<const Value> coordinates_of_all{&coordinates, 1};
    return area(Value::array(coordinates_of_all));
  }

  // The polygons of a MultiPolygon.
  std::optional<GeoShape> area(const Value& coordinates) {
    if (!coordinates.is_array() || coordinates.size() == 0) return wrong(kNoPolygon);
    size_t ring_count = 0;
    for (uint32_t i = 0; i < coordinates.size(); ++i) ring_count += coordinates.element(i).size();
    // Every ring has positions, so that more rings than positions cannot be.
    if (ring_count > kMostGeoPoints || coordinates.size() > kMostGeoPoints) return wrong(kTooManyPoints);
    const std::span<GeoPath> rings = arena_.make_array<GeoPath>(ring_count);
    const std::span<GeoPolygon> polygons = arena_.make_array<GeoPolygon>(coordinates.size());
    size_t next = 0;
    for (uint32_t i = 0; i < coordinates.size(); ++i) {
      const Value polygon = coordinates.element(i);
      if (!polygon.is_array() || polygon.size() == 0) return wrong(kNoRing);
      polygons[i] = rings.subspan(next, polygon.size());
      for (uint32_t j = 0; j < polygon.size(); ++j) {
        const std::optional<GeoPath> ring = read_ring(polygon.element(j));
        if (!ring) return std::nullopt;
        rings[next++] = *ring;
      }
    }
    const std::string_view flaw = flaw_of_polygons(polygons);
    if (!flaw.empty()) return wrong(flaw);
    return GeoShape{GeoKind::area, rings, polygons};
  }

 private:
  std::nullopt_t wrong(std::string_view reason) {
    reason_ = reason;
    return std::nullopt;
  }

  template <typename T>
  std::span<const T> one(const T& item) {
    const std::span<T> items = arena_.make_array<T>(1);
    items[0] = item;
    return items;
  }

  bool read_position(const Value& position, Direction& direction) {
    if (++points_ > kMostGeoPoints) return wrong(kTooManyPoints), false;
    const Value longitude = position.element(0);
    const Value latitude = position.element(1);
    if (!longitude.is_number() || !latitude.is_number()) return wrong(kNotAPosition), false;
    // Written so that NaN is wrong too.
    if (!(std::fabs(latitude.as_double()) <= 90)) return wrong(kWrongLatitude), false;
    if (!(std::fabs(longitude.as_double()) <= 180)) return wrong(kWrongLongitude), false;
    direction = direction_of(longitude.as_double(), latitude.as_double());
    return true;
  }

  std::optional<GeoPath> read_path(const Value& positions, size_t least, std::string_view too_short) {
    if (!positions.is_array()) return wrong(kNotAnArray);
    if (positions.size() < least) return wrong(too_short);
    if (positions.size() > kMostGeoPoints) return wrong(kTooManyPoints);
    const std::span<Direction> points = arena_.make_array<Direction>(positions.size());
    for (uint32_t i = 0; i < positions.size(); ++i)
      if (!read_position(positions.element(i), points[i])) return std::nullopt;
    return points;
  }

  std::optional<GeoPath> read_ring(const Value& positions) {
    std::optional<GeoPath> ring = read_path(positions, 4, kShortRing);
    if (!ring) return std::nullopt;
    if (length(ring->front() - ring->back()) > kSamePlace) return wrong(kOpenRing);
    const std::string_view flaw = flaw_of_ring(*ring);
    return flaw.empty() ? ring : wrong(flaw);
  }

  Arena& arena_;
  size_t points_ = 0;
  std::string_view reason_;
};

}  // namespace

ParsedGeoShape parse_geo_shape(const Value& object, Arena& arena) {
  const Value type = object.member("type");
  const Value coordinates = object.member("coordinates");
  if (!type.is_string() || coordinates.is_undefined()) return {};
  GeoShapeParser parser(arena);
  ParsedGeoShape parsed{.is_geojson = true, .shape = std::nullopt, .reason = {}};
  if (type.as_string() == "Point")
    parsed.shape = parser.point(coordinates);
  else if (type.as_string() == "LineString")
    parsed.shape = parser.line(coordinates);
  else if (type.as_string() == "Polygon")
    parsed.shape = parser.polygon(coordinates);
  else if (type.as_string() == "MultiPolygon")
    parsed.shape = parser.area(coordinates);
  else
    parsed.is_geojson = false;
  parsed.reason = parser.reason();
  return parsed;
}

}  // namespace quire::sql
