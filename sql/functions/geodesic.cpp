#include "sql/functions/geodesic.h"

#include <GeographicLib/Geodesic.hpp>
#include <GeographicLib/GeodesicLine.hpp>
#include <GeographicLib/PolygonArea.hpp>
#include <algorithm>
#include <cmath>

namespace quire::sql {
namespace {

using GeographicLib::Geodesic;
using GeographicLib::GeodesicLine;

// A place seen from a point of an edge.
struct View {
  double distance = 0;
  double ahead = 0;  // how much of it is along the edge; negative behind
};

class EdgeView {
 public:
  EdgeView(const Direction& place, const Arc& edge)
      : longitude_(longitude_of(place)),
        latitude_(latitude_of(place)),
        line_(Geodesic::WGS84().InverseLine(latitude_of(edge.from), longitude_of(edge.from),
                                            latitude_of(edge.to), longitude_of(edge.to))) {}

  double edge_length() const { return line_.Distance(); }

  View at(double metres) const {
    double latitude = 0;
    double longitude = 0;
    double heading = 0;
    line_.Position(metres, latitude, longitude, heading);
    View view;
    double azimuth = 0;
    double arriving = 0;
    Geodesic::WGS84().Inverse(latitude, longitude, latitude_, longitude_, view.distance, azimuth, arriving);
    view.ahead = view.distance * std::cos((azimuth - heading) * kRadiansPerDegree);
    return view;
  }

 private:
  double longitude_;
  double latitude_;
  GeodesicLine line_;
};

// How far ahead the place lies falls to 0 at the nearest point, almost in a straight line; the root is found
// by the method of false position, with Illinois' halving so that both ends of the bracket move.
double distance_within(const EdgeView& edge, double low, View at_low, double high, View at_high) {
  constexpr double kClose = 1e-5;  // metres along the edge; the distance is off by its square
  constexpr int kMostSteps = 100;
  View nearest = at_low.distance < at_high.distance ? at_low : at_high;
  for (int step = 0; step < kMostSteps && high - low > kClose; ++step) {
    const double middle = low + (high - low) * at_low.ahead / (at_low.ahead - at_high.ahead);
    const View view = edge.at(middle);
    if (view.distance < nearest.distance) nearest = view;
    if (std::fabs(view.ahead) <= kClose) break;
    if (view.ahead > 0) {
      low = middle;
      at_low = view;
      at_high.ahead /= 2;
    } else {
      high = middle;
      at_high = view;
      at_low.ahead /= 2;
    }
  }
  return nearest.distance;
}

}  // namespace

double geodesic_distance(double longitude_a, double latitude_a, double longitude_b,
                         double latitude_b) noexcept {
  double metres = 0;
  Geodesic::WGS84().Inverse(latitude_a, longitude_a, latitude_b, longitude_b, metres);
  return metres;
}

double geodesic_distance(const Direction& place, const Arc& edge) noexcept {
  if (length(edge.to - edge.from) <= kSamePlace)
    return geodesic_distance(longitude_of(place), latitude_of(place), longitude_of(edge.from),
                             latitude_of(edge.from));
  const EdgeView view(place, edge);
  const double metres = view.edge_length();
  const View start = view.at(0);
  const View end = view.at(metres);
  if (start.ahead <= 0 || end.ahead >= 0) return std::min(start.distance, end.distance);
  return distance_within(view, 0, start, metres, end);
}

double geodesic_area(std::span<const Direction> ring) noexcept {
  GeographicLib::PolygonArea polygon(Geodesic::WGS84());
  for (const Direction& point : ring.first(ring.size() - 1))
    polygon.AddPoint(latitude_of(point), longitude_of(point));
  double perimeter = 0;
  double area = 0;
  polygon.Compute(false, false, perimeter, area);
  return area;
}

double geodesic_area_of_earth() noexcept {
  return Geodesic::WGS84().EllipsoidArea();
}

}  // namespace quire::sql
