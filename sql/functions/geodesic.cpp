#include "sql/functions/geodesic.h"

#include <cmath>
#include <numbers>

namespace quire::sql {
namespace {

// WGS84.
constexpr double kEquatorialRadius = 6378137.0;
constexpr double kFlattening = 1 / 298.257223563;
constexpr double kPolarRadius = kEquatorialRadius * (1 - kFlattening);
constexpr double kMeanRadius = (2 * kEquatorialRadius + kPolarRadius) / 3;
constexpr double kRadiansPerDegree = std::numbers::pi / 180.0;

// The two points on the auxiliary sphere, whose latitudes are reduced, at a difference of longitude there.
struct AuxiliaryArc {
  double sin_u1, cos_u1, sin_u2, cos_u2;  // reduced latitudes

  double sin_sigma = 0, cos_sigma = 0, sigma = 0;  // the arc between the points
  double cos2_alpha = 0;                           // of its azimuth at the equator
  double cos_2sigma_m = 0;                         // of twice the arc from the equator to its middle
  double sin_alpha = 0;

  void set_longitude(double lambda) {
    const double east = cos_u2 * std::sin(lambda);
    const double north = cos_u1 * sin_u2 - sin_u1 * cos_u2 * std::cos(lambda);
    sin_sigma = std::hypot(east, north);
    cos_sigma = sin_u1 * sin_u2 + cos_u1 * cos_u2 * std::cos(lambda);
    sigma = std::atan2(sin_sigma, cos_sigma);
    sin_alpha = sin_sigma == 0 ? 0 : cos_u1 * cos_u2 * std::sin(lambda) / sin_sigma;
    cos2_alpha = 1 - sin_alpha * sin_alpha;
    cos_2sigma_m =
        cos2_alpha == 0 ? 0 : cos_sigma - 2 * sin_u1 * sin_u2 / cos2_alpha;  // 0: along the equator
  }

  // How much the longitude on the auxiliary sphere exceeds that on the ellipsoid.
  double longitude_excess() const {
    const double c = kFlattening / 16 * cos2_alpha * (4 + kFlattening * (4 - 3 * cos2_alpha));
    const double m = cos_2sigma_m;
    return (1 - c) * kFlattening * sin_alpha *
           (sigma + c * sin_sigma * (m + c * cos_sigma * (2 * m * m - 1)));
  }

  double distance() const {
    const double u2 = cos2_alpha * (kEquatorialRadius * kEquatorialRadius - kPolarRadius * kPolarRadius) /
                      (kPolarRadius * kPolarRadius);
    const double a = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)));
    const double b = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)));
    const double m = cos_2sigma_m;
    const double correction = b * sin_sigma *
                              (m + b / 4 *
                                       (cos_sigma * (2 * m * m - 1) -
                                        b / 6 * m * (4 * sin_sigma * sin_sigma - 3) * (4 * m * m - 3)));
    return kPolarRadius * a * (sigma - correction);
  }
};

double great_circle_distance(double lambda, double phi_a, double phi_b) {
  const double haversine = std::pow(std::sin((phi_b - phi_a) / 2), 2) +
                           std::cos(phi_a) * std::cos(phi_b) * std::pow(std::sin(lambda / 2), 2);
  return 2 * kMeanRadius * std::asin(std::sqrt(std::fmin(1.0, haversine)));
}

}  // namespace

double geodesic_distance(double longitude_a, double latitude_a, double longitude_b,
                         double latitude_b) noexcept {
  const double difference = std::remainder(longitude_b - longitude_a, 360.0) * kRadiansPerDegree;
  const double phi_a = latitude_a * kRadiansPerDegree;
  const double phi_b = latitude_b * kRadiansPerDegree;
  const double u1 = std::atan((1 - kFlattening) * std::tan(phi_a));
  const double u2 = std::atan((1 - kFlattening) * std::tan(phi_b));
  AuxiliaryArc arc{std::sin(u1), std::cos(u1), std::sin(u2), std::cos(u2)};
  double lambda = difference;
  constexpr int most_steps = 100;
  for (int step = 0; step < most_steps; ++step) {
    arc.set_longitude(lambda);
    if (arc.sin_sigma == 0 && arc.cos_sigma > 0) return 0;
    const double next = difference + arc.longitude_excess();
    if (std::fabs(next) > std::numbers::pi) break;
    const bool has_converged = std::fabs(next - lambda) < 1e-13;
    lambda = next;
    if (has_converged) return arc.distance();
  }
  return great_circle_distance(difference, phi_a, phi_b);
}

}  // namespace quire::sql
