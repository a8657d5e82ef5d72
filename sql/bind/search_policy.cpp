#include "sql/bind/search_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sql/functions/letter_case.h"
#include "sql/functions/text_analyzer.h"
#include "sql/functions/vector_functions.h"
#include "sql/value/json.h"

namespace quire::sql {
namespace {

constexpr std::string_view kDataTypes[] = {"float32", "float16", "int8", "uint8"};
constexpr double kMostDimensions = 4096;

std::unexpected<Error> wrong(std::string_view member, std::string_view policy, std::string_view rule,
                             const Value& value) {
  std::string text;
  write_json(value, text);
  return fail(ErrorCode::invalid_definition,
              fmt::format("\"{}\" in {} must be {}, not {}", member, policy, rule,
                          value.is_undefined() ? "left out" : shortened(text)));
}

// The policy with its list checked to be one, if it has it.
Result<Value> read_policy(std::string_view json, std::string_view policy, std::string_view list_name,
                          Arena& arena) {
  JsonReader reader;
  QUIRE_ASSIGN(const Value value, reader.to_value(json, arena));
  if (value.is_null()) return Value();
  if (!value.is_object())
    return fail(ErrorCode::invalid_definition,
                fmt::format(R"({} must be an object like {{"{}": [...]}})", policy, list_name));
  const Value list = value.member(list_name);
  if (!list.is_undefined() && !list.is_array()) return wrong(list_name, policy, "an array of objects", list);
  return value;
}

// Of a property, without the /? and /* of an indexing policy.
Result<void> check_path(const Value& path, std::string_view policy) {
  const std::string_view text = path.is_string() ? path.as_string() : std::string_view();
  const bool is_path =
      text.starts_with('/') && !text.ends_with('/') && !text.ends_with("/?") && !text.ends_with("/*");
  if (is_path) return {};
  return wrong("path", policy, "that of a property, like \"/a/b\"", path);
}

Result<void> check_embedding(const Value& embedding, std::string_view policy) {
  QUIRE_TRY(check_path(embedding.member("path"), policy));
  const Value type = embedding.member("dataType");
  const auto is_type = [&](std::string_view word) { return equals_but_for_case(type.as_string(), word); };
  if (!type.is_undefined() && !(type.is_string() && std::ranges::any_of(kDataTypes, is_type)))
    return wrong("dataType", policy, R"("float32", "float16", "int8" or "uint8")", type);
  const Value dimensions = embedding.member("dimensions");
  if (!dimensions.is_undefined()) {
    const double number = dimensions.is_number() ? dimensions.as_double() : 0;
    if (!(number >= 1 && number <= kMostDimensions && number == static_cast<int>(number)))
      return wrong("dimensions", policy, "a whole number from 1 to 4096", dimensions);
  }
  const Value distance = embedding.member("distanceFunction");
  if (!distance.is_undefined() && !(distance.is_string() && is_distance_function(distance.as_string())))
    return wrong("distanceFunction", policy, R"("cosine", "dotproduct" or "euclidean")", distance);
  return {};
}

Result<void> check_language(const Value& language, std::string_view member, std::string_view policy) {
  if (language.is_undefined() || (language.is_string() && is_text_language(language.as_string()))) return {};
  return wrong(member, policy, fmt::format("one of {}", text_languages()), language);
}

}  // namespace

Result<void> check_vector_policy(std::string_view json) {
  constexpr std::string_view kPolicy = "vectorEmbeddingPolicy";
  Arena arena;
  QUIRE_ASSIGN(const Value policy, read_policy(json, kPolicy, "vectorEmbeddings", arena));
  const Value list = policy.member("vectorEmbeddings");
  for (uint32_t i = 0; list.is_array() && i < list.size(); ++i)
    QUIRE_TRY(check_embedding(list.element(i), kPolicy));
  return {};
}

Result<void> check_full_text_policy(std::string_view json) {
  constexpr std::string_view kPolicy = "fullTextPolicy";
  Arena arena;
  QUIRE_ASSIGN(const Value policy, read_policy(json, kPolicy, "fullTextPaths", arena));
  QUIRE_TRY(check_language(policy.member("defaultLanguage"), "defaultLanguage", kPolicy));
  const Value list = policy.member("fullTextPaths");
  for (uint32_t i = 0; list.is_array() && i < list.size(); ++i) {
    QUIRE_TRY(check_path(list.element(i).member("path"), kPolicy));
    QUIRE_TRY(check_language(list.element(i).member("language"), "language", kPolicy));
  }
  return {};
}

Result<void> check_geospatial_config(std::string_view json) {
  JsonReader reader;
  Arena arena;
  QUIRE_ASSIGN(const Value config, reader.to_value(json, arena));
  const Value type = config.member("type");
  if (config.is_null() || (config.is_object() && type.is_undefined()) ||
      (type.is_string() && type.as_string() == "Geography"))
    return {};
  return wrong("type", "geospatialConfig", "\"Geography\", the globe, which is all that Quire measures on",
               type);
}

}  // namespace quire::sql
