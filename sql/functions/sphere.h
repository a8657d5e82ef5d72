// Directions from the centre of a sphere, and the great circles between them: the geometry under the spatial
// functions. Whether shapes touch or contain each other is decided here; how far apart they are, on the
// ellipsoid.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace quire::sql {

inline constexpr double kRadiansPerDegree = std::numbers::pi / 180.0;

struct Direction {
  double x = 0;
  double y = 0;
  double z = 0;
};

inline Direction operator+(const Direction& a, const Direction& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Direction operator-(const Direction& a, const Direction& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Direction operator*(const Direction& a, double scale) {
  return {a.x * scale, a.y * scale, a.z * scale};
}
inline double dot(const Direction& a, const Direction& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Direction cross(const Direction& a, const Direction& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(const Direction& a) {
  return std::sqrt(dot(a, a));
}

// Degrees of latitude and longitude as a unit vector, and back.
Direction direction_of(double longitude, double latitude) noexcept;
double longitude_of(const Direction& direction) noexcept;
double latitude_of(const Direction& direction) noexcept;

// A great circle's shorter arc between two directions.
struct Arc {
  Direction from;
  Direction to;
};

// Points nearer than this, in radians (some micrometres on the ground), are one.
constexpr double kSamePlace = 1e-12;

// The point of the arc that is nearest to `place`.
Direction nearest_on_arc(const Arc& arc, const Direction& place) noexcept;
bool is_on_arc(const Arc& arc, const Direction& place) noexcept;
// Whether two arcs cross at a point inside both; where an end of one is on the other, rounding decides.
bool arcs_cross(const Arc& a, const Arc& b) noexcept;
// Whether an end of one is on the other.
bool arcs_meet_at_end(const Arc& a, const Arc& b) noexcept;
// Whether they have a point in common.
bool arcs_touch(const Arc& a, const Arc& b) noexcept;
// Whether they have more than a point in common.
bool arcs_overlap(const Arc& a, const Arc& b) noexcept;

enum class Side : uint8_t { outside, boundary, inside };

// Where `place` lies to a closed ring (its last point is its first). Inside is on the left of every edge, so
// that a ring that runs clockwise holds all but what it goes around.
Side side_of_ring(std::span<const Direction> ring, const Direction& place) noexcept;

}  // namespace quire::sql
