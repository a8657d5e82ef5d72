#include "sql/bind/container_policy.h"

#include <optional>
#include <string_view>

#include "sql/functions/letter_case.h"
#include "sql/value/json.h"

namespace quire::sql {
namespace {

// Whether the text of a path, /a/b or /"a b"/c, names these steps.
bool names_path(std::string_view text, std::span<const BoundStep> path) {
  for (const BoundStep& step : path) {
    if (step.is_index() || !text.starts_with('/')) return false;
    text.remove_prefix(1);
    const bool is_quoted = text.starts_with('"');
    if (is_quoted) text.remove_prefix(1);
    if (!text.starts_with(step.name)) return false;
    text.remove_prefix(step.name.size());
    if (is_quoted && !text.starts_with('"')) return false;
    if (is_quoted) text.remove_prefix(1);
  }
  return text.empty();
}

// Of the list of objects with a `path` in them, the string that `property` has in the one for this path.
std::string property_for_path(const Value& list, std::span<const BoundStep> path, std::string_view property) {
  if (!list.is_array()) return {};
  for (uint32_t i = 0; i < list.size(); ++i) {
    const Value entry_path = list.element(i).member("path");
    const Value found = list.element(i).member(property);
    if (entry_path.is_string() && found.is_string() && names_path(entry_path.as_string(), path))
      return std::string(found.as_string());
  }
  return {};
}

// The policy of that name; undefined if there is none.
Value policy_of(const Collection& collection, std::string_view name, Arena& arena) {
  const std::string_view json = collection.definition_property(name);
  if (json.empty()) return {};
  JsonReader reader;
  return reader.to_value(json, arena).value_or(Value());
}

bool covers(const Value& index, std::span<const OrderedPath> paths) {
  if (!index.is_array() || index.size() != paths.size()) return false;
  size_t opposite = 0;
  for (uint32_t i = 0; i < index.size(); ++i) {
    const Value path = index.element(i).member("path");
    const Value order = index.element(i).member("order");
    if (!path.is_string() || !names_path(path.as_string(), paths[i].steps)) return false;
    const bool is_descending = order.is_string() && equals_but_for_case(order.as_string(), "descending");
    opposite += is_descending != paths[i].descending ? 1 : 0;
  }
  return opposite == 0 || opposite == paths.size();
}

}  // namespace

std::string distance_function_of(const Collection& collection, std::span<const BoundStep> path) {
  Arena arena;
  const Value policy = policy_of(collection, "vectorEmbeddingPolicy", arena);
  return property_for_path(policy.member("vectorEmbeddings"), path, "distanceFunction");
}

std::string text_language_of(const Collection& collection, std::span<const BoundStep> path) {
  Arena arena;
  const Value policy = policy_of(collection, "fullTextPolicy", arena);
  const std::string language = property_for_path(policy.member("fullTextPaths"), path, "language");
  const Value otherwise = policy.member("defaultLanguage");
  return language.empty() && otherwise.is_string() ? std::string(otherwise.as_string()) : language;
}

bool has_composite_index(const Collection& collection, std::span<const OrderedPath> paths) {
  Arena arena;
  const Value indexes = policy_of(collection, "indexingPolicy", arena).member("compositeIndexes");
  if (!indexes.is_array()) return false;
  for (uint32_t i = 0; i < indexes.size(); ++i)
    if (covers(indexes.element(i), paths)) return true;
  return false;
}

}  // namespace quire::sql
