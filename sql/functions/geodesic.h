// The shortest way between two points on the WGS84 ellipsoid.
#pragma once

namespace quire::sql {

// Metres, by Vincenty's inverse formula: exact to a millimetre, save between points that are nearly opposite
// on the globe, where it does not converge and the great circle of a sphere stands in (to half a per cent).
double geodesic_distance(double longitude_a, double latitude_a, double longitude_b,
                         double latitude_b) noexcept;

}  // namespace quire::sql
