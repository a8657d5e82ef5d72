#include "sql/functions/sphere.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace quire::sql {
namespace {

// How many edges may be tried as the place to look from, when the view from one grazes a corner.
constexpr size_t kMostTries = 16;

// Positive if c lies left of the great circle from a to b. Made of differences, so that it is precise nearby,
// and 0 where c is one of the others.
double turn(const Direction& a, const Direction& b, const Direction& c) {
  return dot(cross(a - c, b - c), c);
}

Direction unit(const Direction& a) {
  return a * (1.0 / length(a));
}

// Stands upright on the great circle of an arc, as long as the sine of the arc's angle. Made of a difference,
// so that it is precise for short arcs too.
Direction normal_of(const Arc& arc) {
  return cross(arc.from, arc.to - arc.from);
}

// Whether a place on the arc's great circle lies between its ends.
bool is_between(const Arc& arc, const Direction& normal, const Direction& place) {
  return dot(cross(arc.from, place - arc.from), normal) >= 0 &&
         dot(cross(place, arc.to - place), normal) >= 0;
}

// A place just left of an edge, nearer to it than any sensible ring comes to itself.
Direction left_of(const Arc& edge) {
  const Direction normal = normal_of(edge);
  const double size = length(normal);
  constexpr double most = 1e-10;  // radians: less than a millimetre
  return unit(unit(edge.from + edge.to) + normal * (std::min(size * 1e-3, most) / size));
}

// Whether the arc crosses the ring an even number of times; nothing if it grazes a corner.
std::optional<bool> crosses_evenly(std::span<const Direction> ring, const Arc& view) {
  if (length(view.from + view.to) < 1e-6) return std::nullopt;  // opposite: there is no one arc
  bool is_even = true;
  for (size_t i = 0; i + 1 < ring.size(); ++i) {
    const Arc edge{ring[i], ring[i + 1]};
    if (arcs_cross(view, edge)) is_even = !is_even;
    if (is_on_arc(view, edge.to)) return std::nullopt;
  }
  return is_even;
}

size_t longest_edge(std::span<const Direction> ring) {
  size_t longest = 0;
  double most = 0;
  for (size_t i = 0; i + 1 < ring.size(); ++i) {
    const double size = length(ring[i + 1] - ring[i]);
    if (size > most) {
      most = size;
      longest = i;
    }
  }
  return longest;
}

}  // namespace

Direction direction_of(double longitude, double latitude) noexcept {
  const double lambda = longitude * kRadiansPerDegree;
  const double phi = latitude * kRadiansPerDegree;
  return {std::cos(phi) * std::cos(lambda), std::cos(phi) * std::sin(lambda), std::sin(phi)};
}

double longitude_of(const Direction& direction) noexcept {
  return std::atan2(direction.y, direction.x) / kRadiansPerDegree;
}

double latitude_of(const Direction& direction) noexcept {
  return std::atan2(direction.z, std::hypot(direction.x, direction.y)) / kRadiansPerDegree;
}

Direction nearest_on_arc(const Arc& arc, const Direction& place) noexcept {
  const Direction normal = normal_of(arc);
  const double size = length(normal);
  if (size > kSamePlace) {
    const Direction upright = normal * (1.0 / size);
    const Direction foot = place - upright * dot(place - arc.from, upright);
    if (length(foot) > kSamePlace && is_between(arc, normal, foot)) return unit(foot);
  }
  return length(place - arc.from) <= length(place - arc.to) ? arc.from : arc.to;
}

bool is_on_arc(const Arc& arc, const Direction& place) noexcept {
  // Most places are plainly off the arc's great circle. The height is times the normal's length.
  const Direction normal = normal_of(arc);
  const double height = dot(place - arc.from, normal);
  constexpr double kMostHeight = 2 * kSamePlace;
  if (height * height > kMostHeight * kMostHeight * dot(normal, normal)) return false;
  return length(place - nearest_on_arc(arc, place)) <= kSamePlace;
}

bool arcs_cross(const Arc& a, const Arc& b) noexcept {
  const double from_a = turn(a.from, a.to, b.from);
  const double to_a = turn(a.from, a.to, b.to);
  if (from_a * to_a >= 0) return false;
  const double from_b = turn(b.from, b.to, a.from);
  const double to_b = turn(b.from, b.to, a.to);
  // Both pairs on opposite sides, and on this side of the sphere rather than the other.
  return from_b * to_b < 0 && (from_a > 0) == (to_b > 0);
}

bool arcs_meet_at_end(const Arc& a, const Arc& b) noexcept {
  return is_on_arc(a, b.from) || is_on_arc(a, b.to) || is_on_arc(b, a.from) || is_on_arc(b, a.to);
}

bool arcs_touch(const Arc& a, const Arc& b) noexcept {
  return arcs_cross(a, b) || arcs_meet_at_end(a, b);
}

bool arcs_overlap(const Arc& a, const Arc& b) noexcept {
  std::array<const Direction*, 4> shared;
  size_t count = 0;
  if (is_on_arc(a, b.from)) shared[count++] = &b.from;
  if (is_on_arc(a, b.to)) shared[count++] = &b.to;
  if (is_on_arc(b, a.from)) shared[count++] = &a.from;
  if (is_on_arc(b, a.to)) shared[count++] = &a.to;
  // Where the arcs share one point, several ends may be near it.
  constexpr double kLeastLength = 4 * kSamePlace;
  return std::any_of(shared.begin(), shared.begin() + count,
                     [&](const Direction* end) { return length(*end - *shared[0]) > kLeastLength; });
}

Side side_of_ring(std::span<const Direction> ring, const Direction& place) noexcept {
  const size_t edges = ring.size() < 2 ? 0 : ring.size() - 1;
  for (size_t i = 0; i < edges; ++i)
    if (is_on_arc({ring[i], ring[i + 1]}, place)) return Side::boundary;
  // The view from a place known to be inside: what it crosses the ring to see evenly often is inside too.
  size_t edge = longest_edge(ring);
  for (size_t tries = 0; tries < std::min(edges, kMostTries); ++tries, edge = (edge + 1) % edges) {
    const Arc from{ring[edge], ring[edge + 1]};
    if (length(cross(from.from, from.to)) <= kSamePlace) continue;
    if (const std::optional<bool> is_even = crosses_evenly(ring, {left_of(from), place}))
      return *is_even ? Side::inside : Side::outside;
  }
  return Side::outside;
}

}  // namespace quire::sql
