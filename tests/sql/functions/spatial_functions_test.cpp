#include <fmt/format.h>

#include <GeographicLib/Geodesic.hpp>
#include <GeographicLib/GeodesicLine.hpp>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sql/functions/geodesic.h"
#include "tests/sql/functions/call.h"

namespace quire::sql {
namespace {

using std::string_literals::operator""s;

std::string geometry(std::string_view type, std::string_view coordinates) {
  return R"({"type":")" + std::string(type) + R"(","coordinates":)" + std::string(coordinates) + "}";
}
std::string point(std::string_view coordinates) {
  return geometry("Point", coordinates);
}

// Ten degrees each way, counter-clockwise.
const std::string kSquare = geometry("Polygon", "[[[0,0],[10,0],[10,10],[0,10],[0,0]]]");
const std::string kSquareWithHole =
    geometry("Polygon", "[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[4,6],[6,6],[6,4],[4,4]]]");
const std::string kAllButSquare = geometry("Polygon", "[[[0,0],[0,10],[10,10],[10,0],[0,0]]]");
const std::string kPacific = geometry("Polygon", "[[[170,-10],[-170,-10],[-170,10],[170,10],[170,-10]]]");
const std::string kNorth = geometry("Polygon", "[[[0,80],[90,80],[180,80],[-90,80],[0,80]]]");

TEST(SpatialFunctions, DistanceIsThatOfTheEllipsoid) {
  // A degree along the equator, and a quarter of a meridian.
  EXPECT_NEAR(geodesic_distance(0, 0, 1, 0), 111'319.49079327358, 1e-3);
  EXPECT_NEAR(geodesic_distance(0, 0, 0, 90), 10'001'965.729, 1e-2);
  EXPECT_NEAR(geodesic_distance(179.5, 0, -179.5, 0), 111'319.49079327358, 1e-3);
  EXPECT_EQ(geodesic_distance(12, 34, 12, 34), 0);
  EXPECT_NEAR(geodesic_distance(0, 0, 180, 0), 20'003'931.4586, 1e-3);
  EXPECT_NEAR(geodesic_distance(0, 90, 0, -90), 20'003'931.4586, 1e-2);
}

TEST(SpatialFunctions, DistanceOfShapesIsThatOfTheirNearestPoints) {
  const auto metres = [](const std::string& a, const std::string& b) {
    return std::stod(call("ST_DISTANCE", {a, b}));
  };
  EXPECT_NEAR(metres(point("[-122.12826822304672,47.63980239335718]"),
                     point("[-122.11758113953535,47.66901087006131]")),
              3345.269817267368, 1e-3);
  EXPECT_EQ(metres(point("[5,5]"), kSquare), 0);
  EXPECT_NEAR(metres(point("[11,0]"), kSquare), 111'319.49, 0.1);
  EXPECT_NEAR(metres(kSquare, point("[11,0]")), 111'319.49, 0.1);
  EXPECT_NEAR(metres(point("[1,1]"), geometry("LineString", "[[0,0],[2,0]]")), 110'574.39, 1);
  EXPECT_NEAR(metres(geometry("LineString", "[[0,0],[2,0]]"), point("[1,1]")), 110'574.39, 1);
  EXPECT_NEAR(metres(geometry("Polygon", "[[[0,0],[2,0],[2,2],[0,2],[0,0]]]"), point("[1,-1]")), 110'574.39,
              1);
  EXPECT_GT(metres(point("[5,5]"), kSquareWithHole), 100'000);
}

// The nearest point of an edge by trying many.
double nearest_of_many(const Direction& place, double longitude_a, double latitude_a, double longitude_b,
                       double latitude_b) {
  const auto line =
      GeographicLib::Geodesic::WGS84().InverseLine(latitude_a, longitude_a, latitude_b, longitude_b);
  double nearest = 1e9;
  constexpr int kTries = 20'000;
  for (int i = 0; i <= kTries; ++i) {
    double latitude = 0;
    double longitude = 0;
    line.Position(line.Distance() * i / kTries, latitude, longitude);
    nearest =
        std::min(nearest, geodesic_distance(longitude_of(place), latitude_of(place), longitude, latitude));
  }
  return nearest;
}

TEST(SpatialFunctions, DistanceToAnEdgeIsThatOfItsNearestPoint) {
  struct Case {
    double longitude, latitude, longitude_a, latitude_a, longitude_b, latitude_b;
  };
  for (const Case& c :
       {Case{13.4, 52.5, 2.35, 48.85, 37.6, 55.75}, Case{13.4, 52.6, 13.39, 52.5, 13.41, 52.5},
        Case{-60, 0, 10, 10, 20, 10}, Case{179, 10, 170, 0, -170, 0}, Case{40, 89, -100, 80, 100, 80},
        Case{100, -40, -100, 60, 20, 50}}) {
    const Direction place = direction_of(c.longitude, c.latitude);
    const Arc edge{direction_of(c.longitude_a, c.latitude_a), direction_of(c.longitude_b, c.latitude_b)};
    const double tried = nearest_of_many(place, c.longitude_a, c.latitude_a, c.longitude_b, c.latitude_b);
    const double found = geodesic_distance(place, edge);
    EXPECT_LE(found, tried + 1e-3) << c.longitude << ' ' << c.latitude;
    EXPECT_GE(found, tried - 20) << c.longitude << ' ' << c.latitude;
  }
}

// Few of the edges are measured; the nearest one has to be among them, near and far.
TEST(SpatialFunctions, DistanceToAZigzagIsThatOfItsNearestEdge) {
  constexpr int kCorners = 300;
  std::vector<std::pair<double, double>> corners;
  std::string line;
  for (int i = 0; i < kCorners; ++i) {
    const double angle = i * 2 * std::numbers::pi / kCorners;
    const double radius = i % 2 == 0 ? 10 : 12;
    corners.emplace_back(radius * std::cos(angle), 40 + radius * std::sin(angle));
    line += fmt::format("{}[{},{}]", line.empty() ? "" : ",", corners.back().first, corners.back().second);
  }
  const std::string zigzag = geometry("LineString", "[" + line + "]");
  for (const auto& [longitude, latitude] :
       {std::pair{0.1, 40.2}, {13.0, 41.0}, {30.0, 38.0}, {100.0, -20.0}, {-170.0, -45.0}, {179.0, -39.0}}) {
    double nearest = 1e9;
    for (size_t i = 0; i + 1 < corners.size(); ++i)
      nearest = std::min(nearest,
                         geodesic_distance(direction_of(longitude, latitude),
                                           Arc{direction_of(corners[i].first, corners[i].second),
                                               direction_of(corners[i + 1].first, corners[i + 1].second)}));
    const std::string place = point(fmt::format("[{},{}]", longitude, latitude));
    EXPECT_NEAR(std::stod(call("ST_DISTANCE", {place, zigzag})), nearest, 1e-5) << place;
    EXPECT_NEAR(std::stod(call("ST_DISTANCE", {zigzag, place})), nearest, 1e-5) << place;
  }
}

TEST(SpatialFunctions, Area) {
  const auto area = [](const std::string& shape) { return std::stod(call("ST_AREA", {shape})); };
  const double earth = geodesic_area_of_earth();
  EXPECT_NEAR(earth, 5.10065621724e14, 1e3);
  // A degree square at the equator, and an eighth of the globe.
  EXPECT_NEAR(area(geometry("Polygon", "[[[0,0],[1,0],[1,1],[0,1],[0,0]]]")), 12'308'778'361.469, 1);
  EXPECT_NEAR(area(geometry("Polygon", "[[[0,0],[90,0],[0,90],[0,0]]]")), earth / 8, 1);
  EXPECT_NEAR(area(kSquare) + area(kAllButSquare), earth, 1);
  // The example in the service's documentation, which is not quite the geodesic's.
  EXPECT_NEAR(area(geometry("Polygon", "[[[31.8,-5],[32,-5],[32,-4.7],[31.8,-4.7],[31.8,-5]]]")),
              735'970'283.05, 10);
  const double hole = area(geometry("Polygon", "[[[4,4],[6,4],[6,6],[4,6],[4,4]]]"));
  EXPECT_NEAR(area(kSquareWithHole), area(kSquare) - hole, 1);
  EXPECT_NEAR(
      area(geometry("MultiPolygon", "[[[[0,0],[1,0],[1,1],[0,1],[0,0]]],[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]")),
      2 * 12'308'778'361.469, 1);
  expect_all({
      {"ST_AREA", {point("[1,2]")}, "0"},
      {"ST_AREA", {geometry("LineString", "[[0,0],[2,0]]")}, "0"},
      {"ST_AREA", {geometry("Polygon", "[[[0,0],[1,0],[0,0]]]")}, "undefined"},
      {"ST_AREA", {"{}"}, "undefined"},
  });
}

TEST(SpatialFunctions, Within) {
  expect_all({
      {"ST_WITHIN", {point("[5,5]"), kSquare}, "true"},
      {"ST_WITHIN", {point("[15,5]"), kSquare}, "false"},
      {"ST_WITHIN", {point("[-175,-5]"), kSquare}, "false"},
      {"ST_WITHIN", {point("[0,5]"), kSquare}, "false"},
      {"ST_WITHIN", {point("[5,5]"), kSquareWithHole}, "false"},
      {"ST_WITHIN", {point("[2,2]"), kSquareWithHole}, "true"},
      // What fills a hole, and a line that crosses one from corner to corner.
      {"ST_WITHIN",
       {geometry("Polygon", "[[[1,1],[2,1],[2,2],[1,2],[1,1]]]"),
        geometry("Polygon", "[[[0,0],[3,0],[3,3],[0,3],[0,0]],[[1,1],[1,2],[2,2],[2,1],[1,1]]]")},
       "false"},
      {"ST_WITHIN",
       {geometry("LineString", "[[0,0.5],[0,4]]"),
        geometry("Polygon",
                 "[[[-1,0],[1,0],[1,10],[-1,10],[-1,0]],[[0,1],[-0.5,1.2],[0,1.4],[0.5,1.2],[0,1]]]")},
       "false"},
      {"ST_WITHIN",
       {geometry("LineString", "[[0,2],[0,4]]"),
        geometry("Polygon",
                 "[[[-1,0],[1,0],[1,10],[-1,10],[-1,0]],[[0,1],[-0.5,1.2],[0,1.4],[0.5,1.2],[0,1]]]")},
       "true"},
      {"ST_WITHIN",
       {geometry("Polygon", "[[[0,0],[3,0],[3,3],[0,3],[0,0]]]"),
        geometry("Polygon", "[[[0,0],[3,0],[3,3],[0,3],[0,0]]]")},
       "true"},
      {"ST_WITHIN", {point("[5,5]"), kAllButSquare}, "false"},
      {"ST_WITHIN", {point("[50,50]"), kAllButSquare}, "true"},
      {"ST_WITHIN", {point("[180,0]"), kPacific}, "true"},
      {"ST_WITHIN", {point("[0,0]"), kPacific}, "false"},
      {"ST_WITHIN", {point("[45,89]"), kNorth}, "true"},
      {"ST_WITHIN", {point("[45,-89]"), kNorth}, "false"},
      {"ST_WITHIN", {geometry("LineString", "[[1,1],[9,9]]"), kSquare}, "true"},
      {"ST_WITHIN", {geometry("LineString", "[[1,1],[9,9]]"), kSquareWithHole}, "false"},
      {"ST_WITHIN", {geometry("Polygon", "[[[1,1],[2,1],[2,2],[1,2],[1,1]]]"), kSquare}, "true"},
      {"ST_WITHIN", {geometry("Polygon", "[[[1,1],[9,1],[9,9],[1,9],[1,1]]]"), kSquareWithHole}, "false"},
      {"ST_WITHIN", {kSquare, kSquare}, "true"},
      {"ST_WITHIN", {kSquare, point("[1,1]")}, "false"},
      {"ST_WITHIN", {point("[1,0]"), geometry("LineString", "[[0,0],[2,0]]")}, "true"},
      {"ST_WITHIN", {point("[1,1]"), point("[1,1]")}, "true"},
      {"ST_WITHIN",
       {point("[25,5]"),
        geometry("MultiPolygon", "[[[[0,0],[1,0],[1,1],[0,0]]],[[[20,0],[30,0],[25,9],[20,0]]]]")},
       "true"},
  });
}

TEST(SpatialFunctions, Intersect) {
  expect_all({
      {"ST_INTERSECTS", {point("[0,5]"), kSquare}, "true"},
      {"ST_INTERSECTS", {point("[-1,5]"), kSquare}, "false"},
      {"ST_INTERSECTS", {geometry("LineString", "[[-5,5],[15,5]]"), kSquare}, "true"},
      {"ST_INTERSECTS", {geometry("Polygon", "[[[1,1],[2,1],[2,2],[1,1]]]"), kSquare}, "true"},
      {"ST_INTERSECTS", {kSquare, geometry("Polygon", "[[[1,1],[2,1],[2,2],[1,1]]]")}, "true"},
      {"ST_INTERSECTS", {kSquare, kPacific}, "false"},
      {"ST_INTERSECTS",
       {geometry("LineString", "[[0,0],[2,2]]"), geometry("LineString", "[[0,2],[2,0]]")},
       "true"},
      {"ST_INTERSECTS",
       {geometry("LineString", "[[0,0],[2,2]]"), geometry("LineString", "[[180,-2],[-178,0]]")},
       "false"},
  });
}

// Edges that share a corner are close to crossing there when they are short.
TEST(SpatialFunctions, SmallRingsDoNotCrossThemselves) {
  for (double size = 1; size > 1e-7; size /= 3) {
    const auto at = [size](double x, double y) {
      return fmt::format("[{},{}]", 13.4 + x * size, 52.5 + y * size);
    };
    const std::string ring = fmt::format("[[{},{},{},{},{},{}]]", at(0, 0), at(1, 0.1), at(1.2, 1),
                                         at(0.3, 0.7), at(-0.1, 0.6), at(0, 0));
    const std::string shape = geometry("Polygon", ring);
    EXPECT_EQ(call("ST_ISVALID", {shape}), "true") << shape;
    EXPECT_EQ(call("ST_WITHIN", {point(at(0.5, 0.4)), shape}), "true") << shape;
    EXPECT_EQ(call("ST_WITHIN", {point(at(0.5, 1.4)), shape}), "false") << shape;
    EXPECT_EQ(call("ST_WITHIN", {point("[-13.4,-52.5]"), shape}), "false") << shape;
  }
}

// One edge lies on a meridian, so that places on it are known whatever the size: from a continent's to a
// grain's.
TEST(SpatialFunctions, EdgesOfShapesOfAnySizeAreMetExactly) {
  for (double size = 10; size > 1e-8; size /= 3) {
    const auto at = [size](double x, double y) {
      return fmt::format("[{},{}]", 13.4 + x * size, 52.5 + y * size);
    };
    const std::string a = at(0, 0), b = at(1, 0.5), c = at(0, 1);
    const std::string shape = geometry("Polygon", fmt::format("[[{},{},{},{}]]", a, b, c, a));
    const auto line = [](const std::string& from, const std::string& to) {
      return geometry("LineString", fmt::format("[{},{}]", from, to));
    };
    SCOPED_TRACE(shape);
    expect_all({
        {"ST_WITHIN", {point(a), shape}, "false"},
        {"ST_WITHIN", {point(b), shape}, "false"},
        {"ST_WITHIN", {point(c), shape}, "false"},
        {"ST_WITHIN", {point(at(0, 0.4)), shape}, "false"},
        {"ST_INTERSECTS", {point(at(0, 0.4)), shape}, "true"},
        {"ST_DISTANCE", {point(at(0, 0.4)), shape}, "0"},
        {"ST_WITHIN", {shape, shape}, "true"},
        {"ST_WITHIN", {line(a, c), shape}, "false"},
        {"ST_WITHIN", {line(at(0, 0.4), at(0.3, 0.5)), shape}, "true"},
        {"ST_WITHIN", {line(at(0.3, 0.5), at(0, 0.7)), shape}, "true"},
        {"ST_WITHIN", {line(at(0.3, 0.5), at(-0.1, 0.7)), shape}, "false"},
    });
  }
}

// A wall of a kilometre, half a metre thick.
TEST(SpatialFunctions, WithinAThinPolygon) {
  const std::string wall = geometry("Polygon", "[[[0,0],[0.01,0],[0.01,0.000005],[0,0.000005],[0,0]]]");
  expect_all({
      {"ST_WITHIN", {point("[0.004,0.000002]"), wall}, "true"},
      {"ST_WITHIN", {point("[0.004,0.00001]"), wall}, "false"},
      {"ST_WITHIN", {point("[50,50]"), wall}, "false"},
  });
}

TEST(SpatialFunctions, AHoleMayTouchTheOuterRingAtItsFirstCorner) {
  const std::string forwards =
      geometry("Polygon", "[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[0,0],[1,2],[2,1],[0,0]]]");
  const std::string backwards =
      geometry("Polygon", "[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[0,0],[2,1],[1,2],[0,0]]]");
  for (const std::string& shape : {forwards, backwards}) {
    expect_all({
        {"ST_WITHIN", {point("[1,1]"), shape}, "false"},
        {"ST_INTERSECTS", {point("[1,1]"), shape}, "false"},
        {"ST_WITHIN", {point("[3,3]"), shape}, "true"},
    });
  }
}

TEST(SpatialFunctions, ALineLiesInALineThatRunsAlongIt) {
  const std::string straight = geometry("LineString", "[[0,0],[1,0],[2,0]]");
  expect_all({
      {"ST_WITHIN", {geometry("LineString", "[[0,0],[2,0]]"), straight}, "true"},
      {"ST_WITHIN", {geometry("LineString", "[[0.5,0],[1.5,0]]"), straight}, "true"},
      {"ST_WITHIN", {geometry("LineString", "[[0.5,0],[2.5,0]]"), straight}, "false"},
      // One that only comes back to it, at its ends and in the middle.
      {"ST_WITHIN",
       {geometry("LineString", "[[0,0],[2,0]]"),
        geometry("LineString", "[[0,0],[0.5,1],[1,0],[1.5,1],[2,0]]")},
       "false"},
  });
}

// Between edges that run along each other is nothing: neither side of them is the inside.
TEST(SpatialFunctions, RingsThatFoldAreNotValid) {
  for (const char* ring : {
           "[[0,0],[4,0],[20,-10],[4,0],[4,4],[0,4],[0,0]]",  // a spike
           "[[4,0],[4,4],[0,4],[0,0],[4,0],[20,-10],[4,0]]",  // at the start
           "[[0,0],[1,0],[2,0],[0,0]]",                       // on one great circle
           "[[0,0],[1,1],[1,1],[0,0]]",
           "[[0,0],[4,0],[4,4],[0,0],[4,0],[4,4],[0,0]]",  // around twice
           "[[0,0],[4,0],[2,0],[2,4],[0,0]]",
           "[[1,1],[1,1],[1,1],[1,1]]",
       }) {
    const std::string shape = geometry("Polygon", fmt::format("[{}]", ring));
    EXPECT_EQ(call("ST_ISVALIDDETAILED", {shape}),
              R"({"valid":false,"reason":"The edges of a ring must not run along each other."})")
        << ring;
    EXPECT_EQ(call("ST_WITHIN", {point("[50,50]"), shape}), "undefined") << ring;
  }
  // A position twice in a row, and a ring that meets itself in a point, are no fold.
  for (const char* ring :
       {"[[0,0],[4,0],[4,0],[4,4],[0,4],[0,0]]", "[[0,0],[2,1],[4,0],[4,4],[2,1],[0,4],[0,0]]"})
    EXPECT_EQ(call("ST_ISVALID", {geometry("Polygon", fmt::format("[{}]", ring))}), "true") << ring;
}

TEST(SpatialFunctions, HolesLieWithinTheirPolygonAndNoneInAnother) {
  const std::string square = "[[0,0],[8,0],[8,8],[0,8],[0,0]]";
  const std::string hole = "[[1,1],[3,1],[3,3],[1,3],[1,1]]";
  const auto with = [&](const std::string& rings) {
    return geometry("Polygon", fmt::format("[{},{}]", square, rings));
  };
  for (const std::string& rings : {
           "[[-5,-5],[-5,5],[20,20],[5,-5],[-5,-5]]"s,  // larger than the shell
           "[[20,0],[21,0],[21,1],[20,0]]"s,            // beside it
           square,
       }) {
    EXPECT_EQ(call("ST_ISVALIDDETAILED", {with(rings)}),
              R"({"valid":false,"reason":"A hole of a Polygon must lie within its outer ring."})")
        << rings;
    EXPECT_EQ(call("ST_AREA", {with(rings)}), "undefined");
  }
  for (const std::string& other :
       {hole, "[[1.5,1.5],[2,1.5],[2,2],[1.5,1.5]]"s, "[[1,1],[1,3],[3,3],[3,1],[1,1]]"s})
    EXPECT_EQ(call("ST_ISVALIDDETAILED", {with(hole + "," + other)}),
              R"({"valid":false,"reason":"A hole of a Polygon must not lie within another one."})")
        << other;
  // Beside each other, touching, and with all corners on the shell.
  for (const std::string& rings : {hole + ",[[4,4],[5,4],[5,5],[4,4]]",
                                   hole + ",[[3,1],[5,1],[5,3],[3,3],[3,1]]", "[[0,4],[8,4],[0,8],[0,4]]"s})
    EXPECT_EQ(call("ST_ISVALID", {with(rings)}), "true") << rings;
}

TEST(SpatialFunctions, PolygonsOfOneGeometryDoNotHoldEachOther) {
  const std::string square = "[[0,0],[8,0],[8,8],[0,8],[0,0]]", small = "[[2,2],[3,2],[3,3],[2,2]]";
  const std::string hole = "[[1,1],[5,1],[5,5],[1,5],[1,1]]";
  const auto of = [](const std::string& a, const std::string& b) {
    return geometry("MultiPolygon", fmt::format("[[{}],[{}]]", a, b));
  };
  for (const std::string& shape : {of(square, square), of(square, small), of(small, square)})
    EXPECT_EQ(call("ST_ISVALIDDETAILED", {shape}),
              R"({"valid":false,"reason":"A Polygon of a MultiPolygon must not lie within another one."})")
        << shape;
  // An island in a lake, one that fills it, and a neighbour.
  const std::string with_hole = square + "," + hole;
  for (const std::string& shape :
       {of(with_hole, small), of(with_hole, hole), of(square, "[[8,0],[9,0],[9,8],[8,8],[8,0]]")})
    EXPECT_EQ(call("ST_ISVALID", {shape}), "true") << shape;
}

TEST(SpatialFunctions, InvalidGeometriesSayWhy) {
  const auto reason = [](const std::string& shape) {
    EXPECT_EQ(call("ST_ISVALID", {shape}), "false") << shape;
    EXPECT_EQ(call("ST_DISTANCE", {shape, point("[0,0]")}), "undefined") << shape;
    return call("ST_ISVALIDDETAILED", {shape});
  };
  EXPECT_EQ(call("ST_ISVALIDDETAILED", {kSquareWithHole}), R"({"valid":true})");
  EXPECT_EQ(reason(point("[133.7,-184.3]")),
            R"({"valid":false,"reason":"Latitude values must be between -90 and 90 degrees."})");
  EXPECT_NE(reason(point("[200,0]")).find("Longitude"), std::string::npos);
  EXPECT_NE(reason(point("[1]")).find("position"), std::string::npos);
  EXPECT_NE(reason(point("null")).find("position"), std::string::npos);
  EXPECT_NE(reason(geometry("LineString", "[[0,0]]")).find("two positions"), std::string::npos);
  EXPECT_NE(reason(geometry("LineString", "5")).find("array"), std::string::npos);
  EXPECT_NE(reason(geometry("Polygon", "[]")).find("one ring"), std::string::npos);
  EXPECT_NE(reason(geometry("MultiPolygon", "[]")).find("one Polygon"), std::string::npos);
  EXPECT_NE(reason(geometry("Polygon", "[[[0,0],[1,0],[0,0]]]")).find("four positions"), std::string::npos);
  EXPECT_NE(reason(geometry("Polygon", "[[[0,0],[1,0],[1,1],[0,1]]]")).find("same"), std::string::npos);
  EXPECT_NE(reason(geometry("Polygon", "[[[0,0],[1,1],[1,0],[0,1],[0,0]]]")).find("cross"),
            std::string::npos);
  std::string many = "[[0,0]";
  for (int i = 0; i < 5000; ++i) many += ",[1,1]";
  EXPECT_NE(reason(geometry("LineString", many + "]")).find("4096"), std::string::npos);
}

TEST(SpatialFunctions, WhatIsNoGeoJsonIsUndefined) {
  expect_all({
      {"ST_ISVALID", {"{}"}, "undefined"},
      {"ST_ISVALID", {"[1,2]"}, "undefined"},
      {"ST_ISVALIDDETAILED", {R"({"type":"Circle","coordinates":[1,2]})"}, "undefined"},
      {"ST_WITHIN", {point("[1,2]"), "{}"}, "undefined"},
      {"ST_DISTANCE", {point("[1,2]"), "null"}, "undefined"},
  });
}

TEST(SpatialFunctions, AConstantShapeIsReadOnce) {
  const Function& function = *find_function("ST_WITHIN");
  Arena arena;
  const Value square = value_of(kSquare, arena);
  const std::vector<std::optional<Value>> constants{std::nullopt, square};
  auto state = function.prepare(constants);
  ASSERT_TRUE(state);
  CallContext context{arena, state->get()};
  const auto ask = [&](std::string_view coordinates) {
    return text_of(
        call_function(function, context, std::vector{value_of(point(coordinates), arena), square}));
  };
  EXPECT_EQ(ask("[5,5]"), "true");
  EXPECT_EQ(ask("[50,5]"), "false");
}

}  // namespace
}  // namespace quire::sql
