// Lengths and areas on the WGS84 ellipsoid, by GeographicLib (Karney 2013): exact to nanometres everywhere.
#pragma once

#include <span>

#include "sql/functions/sphere.h"

namespace quire::sql {

// Metres along the shortest way between two points.
double geodesic_distance(double longitude_a, double latitude_a, double longitude_b,
                         double latitude_b) noexcept;
// Metres from a place to the nearest point of the shortest way between the ends of an arc.
double geodesic_distance(const Direction& place, const Arc& edge) noexcept;
// Square metres on the left of a closed ring, so that one that runs clockwise has all but what it goes
// around.
double geodesic_area(std::span<const Direction> ring) noexcept;
// Of the whole ellipsoid.
double geodesic_area_of_earth() noexcept;

}  // namespace quire::sql
