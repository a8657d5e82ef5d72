// GeoJSON on the globe. What is no GeoJSON, or not valid, is undefined. A geometry that is constant at the
// call site is read once.
#include <array>

#include "sql/functions/families.h"
#include "sql/functions/geo_shape.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

struct SpatialState final : CallState {
  Arena arena;
  std::array<std::optional<GeoShape>, 2> constants;
};

Result<std::unique_ptr<CallState>> prepare_shapes(std::span<const std::optional<Value>> constants) {
  auto state = std::make_unique<SpatialState>();
  for (size_t i = 0; i < constants.size() && i < state->constants.size(); ++i)
    if (constants[i] && constants[i]->is_object())
      state->constants[i] = parse_geo_shape(*constants[i], state->arena).shape;
  return state;
}

// Calls `relate` with both shapes; undefined if either is none. Shapes read for this call are forgotten.
template <typename Relate>
Value relate_shapes(CallContext& context, Arguments arguments, Relate relate) {
  const auto* state = static_cast<const SpatialState*>(context.state);
  const ArenaScope scope(context.arena);
  std::array<std::optional<GeoShape>, 2> shapes;
  for (size_t i = 0; i < shapes.size(); ++i)
    shapes[i] = state != nullptr && state->constants[i] ? state->constants[i]
                                                        : parse_geo_shape(arguments[i], context.arena).shape;
  return shapes[0] && shapes[1] ? relate(*shapes[0], *shapes[1]) : Value::undefined();
}

Value distance(CallContext& context, Arguments arguments) {
  return relate_shapes(context, arguments, [](const GeoShape& a, const GeoShape& b) {
    return Value::number(shape_distance(a, b));
  });
}

Value within(CallContext& context, Arguments arguments) {
  return relate_shapes(context, arguments,
                       [](const GeoShape& a, const GeoShape& b) { return Value::boolean(is_within(a, b)); });
}

Value intersects(CallContext& context, Arguments arguments) {
  return relate_shapes(context, arguments, [](const GeoShape& a, const GeoShape& b) {
    return Value::boolean(shapes_intersect(a, b));
  });
}

Value area(CallContext& context, Arguments arguments) {
  const ArenaScope scope(context.arena);
  const ParsedGeoShape parsed = parse_geo_shape(arguments[0], context.arena);
  return parsed.shape ? Value::number(shape_area(*parsed.shape)) : Value::undefined();
}

Value is_valid(CallContext& context, Arguments arguments) {
  const ArenaScope scope(context.arena);
  const ParsedGeoShape parsed = parse_geo_shape(arguments[0], context.arena);
  return parsed.is_geojson ? Value::boolean(parsed.shape.has_value()) : Value::undefined();
}

Value is_valid_detailed(CallContext& context, Arguments arguments) {
  const Arena::Mark mark = context.arena.mark();
  const ParsedGeoShape parsed = parse_geo_shape(arguments[0], context.arena);
  context.arena.rewind(mark);
  if (!parsed.is_geojson) return Value::undefined();
  const std::span<Member> members = context.arena.make_array<Member>(2);
  members[0] = {"valid", Value::boolean(parsed.shape.has_value())};
  members[1] = {"reason", Value::string(parsed.reason)};
  return Value::object(parsed.shape ? members.first(1) : members);
}

constexpr Function kSpatialRows[] = {
    {"ST_AREA", "o", area, "ST_AREA(geometry)", "How many square metres a polygon has"},
    {"ST_DISTANCE", "oo", distance, "ST_DISTANCE(a, b)", "How many metres two geometries are apart",
     Volatility::pure, prepare_shapes},
    {"ST_INTERSECTS", "oo", intersects, "ST_INTERSECTS(a, b)",
     "Whether two geometries have a point in common", Volatility::pure, prepare_shapes},
    {"ST_ISVALID", "o", is_valid, "ST_ISVALID(geometry)", "Whether the GeoJSON is valid"},
    {"ST_ISVALIDDETAILED", "o", is_valid_detailed, "ST_ISVALIDDETAILED(geometry)",
     "Whether the GeoJSON is valid, as {valid, reason}"},
    {"ST_WITHIN", "oo", within, "ST_WITHIN(a, b)", "Whether the first geometry lies in the second",
     Volatility::pure, prepare_shapes},
};

}  // namespace

std::span<const Function> spatial_functions() noexcept {
  return kSpatialRows;
}

}  // namespace quire::sql
