// How two shapes lie to each other. All pairs of edges are looked at: the bound on points makes that
// bearable.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include "sql/functions/geo_shape.h"
#include "sql/functions/geodesic.h"

namespace quire::sql {
namespace {

// Calls `visit` for each edge, a lone point being an edge from itself to itself, until it gives true.
template <typename Visit>
bool any_edge(const GeoShape& shape, Visit visit) {
  for (const GeoPath path : shape.paths) {
    if (path.size() == 1 && visit(Arc{path[0], path[0]})) return true;
    for (size_t i = 0; i + 1 < path.size(); ++i)
      if (visit(Arc{path[i], path[i + 1]})) return true;
  }
  return false;
}

template <typename Visit>
bool any_point(const GeoShape& shape, Visit visit) {
  for (const GeoPath path : shape.paths)
    for (const Direction& point : path)
      if (visit(point)) return true;
  return false;
}

// Inside if any polygon holds the place, on the boundary if it is on that of one.
Side side_of_area(const GeoShape& area, const Direction& place) {
  Side best = Side::outside;
  for (const GeoPolygon polygon : area.polygons) best = std::max(best, side_of_polygon(polygon, place));
  return best;
}

bool edges_touch(const GeoShape& a, const GeoShape& b) {
  if (a.kind == GeoKind::point) {
    const Direction& place = a.paths.front().front();
    return any_edge(b, [&](const Arc& edge) { return is_on_arc(edge, place); });
  }
  if (b.kind == GeoKind::point) return edges_touch(b, a);
  return any_edge(a,
                  [&](const Arc& x) { return any_edge(b, [&](const Arc& y) { return arcs_touch(x, y); }); });
}

bool edges_cross(const GeoShape& a, const GeoShape& b) {
  return any_edge(a, [&](const Arc& x) {
    return any_edge(b, [&](const Arc& y) { return arcs_cross(x, y) && !arcs_meet_at_end(x, y); });
  });
}

// Calls `visit` for each piece of an edge between two corners of the shape that lie on it, until it gives
// true. An edge that crosses none of an area's may still leave it, and come back, through its corners.
template <typename Visit>
bool any_piece(const Arc& edge, const GeoShape& shape, std::vector<Direction>& corners, Visit visit) {
  corners.assign({edge.from, edge.to});
  any_point(shape, [&](const Direction& corner) {
    if (is_on_arc(edge, corner)) corners.push_back(corner);
    return false;
  });
  std::ranges::sort(corners, {}, [&](const Direction& corner) { return length(corner - edge.from); });
  for (size_t i = 0; i + 1 < corners.size(); ++i)
    if (visit(Arc{corners[i], corners[i + 1]})) return true;
  return false;
}

bool is_within_area(const GeoShape& a, const GeoShape& area) {
  if (any_point(a, [&](const Direction& point) { return side_of_area(area, point) == Side::outside; }))
    return false;
  if (edges_cross(a, area)) return false;
  // Points on the boundary may join across the outside, so the middles of edges are asked too; one place at
  // least has to be inside.
  bool has_inside = false;
  std::vector<Direction> corners;
  const bool leaves = any_edge(a, [&](const Arc& edge) {
    return any_piece(edge, area, corners, [&](const Arc& piece) {
      const Side side = side_of_area(area, middle_of(piece.from, piece.to));
      has_inside = has_inside || side == Side::inside;
      return side == Side::outside;
    });
  });
  if (leaves) return false;
  if (a.kind != GeoKind::area) return has_inside;
  // A hole of the area, or a gap between its polygons, that lies within a; or one that a polygon of a fills.
  if (any_point(area, [&](const Direction& point) { return side_of_area(a, point) == Side::inside; }))
    return false;
  return std::ranges::all_of(a.polygons, [&](GeoPolygon polygon) {
    const auto place = inner_place(polygon);
    return !place || side_of_area(area, *place) != Side::outside;
  });
}

// Calls `visit` for each point of a shape with each edge of the other, both ways.
template <typename Visit>
void each_pair(const GeoShape& a, const GeoShape& b, Visit visit) {
  const auto pair_up = [&](const GeoShape& points, const GeoShape& edges) {
    any_point(points, [&](const Direction& point) {
      return any_edge(edges, [&](const Arc& edge) { return visit(point, edge), false; });
    });
  };
  pair_up(a, b);
  if (a.kind != GeoKind::point) pair_up(b, a);
}

// The least chord on the sphere from the point to one of the edge.
double chord_between(const Direction& point, const Arc& edge) {
  return length(point - nearest_on_arc(edge, point));
}

struct NearestPair {
  Direction point;
  Arc edge;
  double chord = std::numeric_limits<double>::infinity();

  void look_at(const Direction& new_point, const Arc& new_edge) {
    const double new_chord = chord_between(new_point, new_edge);
    if (new_chord < chord) *this = {new_point, new_edge, new_chord};
  }
};

// The least distance on the ellipsoid so far, and how long a chord on the sphere may be that still can beat
// it: the sphere's distances are off by less than 1 %, and its edges by less than half a per cent of their
// length.
class MeasuredDistance {
 public:
  double metres() const { return metres_; }

  void measure(const Direction& point, const Arc& edge) {
    constexpr double kLeastMetres = 0.99 * 6'371'008;  // a radian
    const double metres = geodesic_distance(point, edge);
    if (metres >= metres_) return;
    metres_ = metres;
    most_chord_ = 2 * std::sin(std::min(metres / kLeastMetres, std::numbers::pi) / 2);
  }

  void look_at(const Direction& point, const Arc& edge) {
    constexpr double kMostBend = 0.005;
    const double bend = kMostBend * length(edge.to - edge.from);
    if (chord_between(point, edge) - bend <= most_chord_) measure(point, edge);
  }

 private:
  double metres_ = std::numeric_limits<double>::infinity();
  double most_chord_ = std::numeric_limits<double>::infinity();
};

}  // namespace

bool shapes_intersect(const GeoShape& a, const GeoShape& b) noexcept {
  const auto holds_point = [](const GeoShape& area, const GeoShape& point) {
    return side_of_area(area, point.paths.front().front()) != Side::outside;
  };
  if (a.kind == GeoKind::point && b.kind == GeoKind::area) return holds_point(b, a);
  if (b.kind == GeoKind::point && a.kind == GeoKind::area) return holds_point(a, b);
  if (edges_touch(a, b)) return true;
  // No edge meets another, so each path lies on one side: one point of each tells.
  const auto holds_a_path_of = [](const GeoShape& area, const GeoShape& other) {
    if (area.kind != GeoKind::area) return false;
    return std::any_of(other.paths.begin(), other.paths.end(),
                       [&](GeoPath path) { return side_of_area(area, path.front()) != Side::outside; });
  };
  return holds_a_path_of(a, b) || holds_a_path_of(b, a);
}

bool is_within(const GeoShape& a, const GeoShape& b) {
  if (b.kind == GeoKind::area) return is_within_area(a, b);
  if (a.kind == GeoKind::area) return false;
  // No corner of b is within a piece of an edge of a, so one edge of b has to hold all of it.
  std::vector<Direction> corners;
  const auto leaves_b = [&](const Arc& piece) {
    return !any_edge(
        b, [&](const Arc& edge) { return is_on_arc(edge, piece.from) && is_on_arc(edge, piece.to); });
  };
  return !any_edge(a, [&](const Arc& edge) { return any_piece(edge, b, corners, leaves_b); });
}

double shape_distance(const GeoShape& a, const GeoShape& b) noexcept {
  if (a.kind == GeoKind::point && b.kind == GeoKind::point) {
    const Direction& from = a.paths.front().front();
    const Direction& to = b.paths.front().front();
    return geodesic_distance(longitude_of(from), latitude_of(from), longitude_of(to), latitude_of(to));
  }
  if (shapes_intersect(a, b)) return 0;
  // What is nearest on the sphere is so on the ellipsoid, too, or almost: with it at hand, few pairs are left
  // that have to be measured.
  NearestPair nearest;
  each_pair(a, b, [&](const Direction& point, const Arc& edge) { nearest.look_at(point, edge); });
  MeasuredDistance distance;
  distance.measure(nearest.point, nearest.edge);
  each_pair(a, b, [&](const Direction& point, const Arc& edge) { distance.look_at(point, edge); });
  return distance.metres();
}

double shape_area(const GeoShape& shape) noexcept {
  double sum = 0;
  for (const GeoPolygon polygon : shape.polygons) {
    sum += geodesic_area(polygon.front());
    // Holes run either way in practice: what is meant is the smaller side.
    for (const GeoPath hole : polygon.subspan(1)) {
      const double left = geodesic_area(hole);
      sum -= std::min(left, geodesic_area_of_earth() - left);
    }
  }
  return sum;
}

}  // namespace quire::sql
