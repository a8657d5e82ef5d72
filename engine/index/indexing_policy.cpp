#include "engine/index/indexing_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "engine/index/policy_path.h"
#include "sql/functions/letter_case.h"
#include "sql/plan/index_condition.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

using sql::IndexPart;
using sql::IndexStep;
using sql::Value;

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::invalid_definition, std::move(message));
}

// Refuses members that the service does not know, with the nearest that it does.
Result<void> check_members(const Value& object, std::string_view what,
                           std::span<const std::string_view> known) {
  for (uint32_t i = 0; i < object.size(); ++i) {
    const std::string_view name = object.member_at(i).name;
    if (std::ranges::find(known, name) != known.end()) continue;
    NearestName nearest(name);
    for (const std::string_view candidate : known) nearest.offer(candidate);
    return invalid(fmt::format("{} has no member \"{}\"{}", what, name, nearest.hint()));
  }
  return {};
}

// As the service does, in any case: SDKs and templates write "Consistent" and "DiskANN", too.
bool is_word(const Value& value, std::string_view word) {
  return value.is_string() && sql::equals_but_for_case(value.as_string(), word);
}

// The elements of a member that must be a list, if it is there.
Result<std::vector<Value>> list(const Value& object, std::string_view what, std::string_view name) {
  std::vector<Value> elements;
  const Value member = object.member(name);
  if (member.is_undefined() || member.is_null()) return elements;
  if (!member.is_array()) return invalid(fmt::format("{}.{} must be an array", what, name));
  for (uint32_t i = 0; i < member.size(); ++i) elements.push_back(member.element(i));
  return elements;
}

Result<std::vector<PathPattern>> read_patterns(const Value& policy, std::string_view name) {
  constexpr std::string_view kKnown[] = {"path", "indexes"};
  QUIRE_ASSIGN(const std::vector<Value> elements, list(policy, "indexingPolicy", name));
  if (elements.size() > kMostPolicyPatterns)
    return invalid(fmt::format("indexingPolicy.{} may have {} paths; it has {}", name, kMostPolicyPatterns,
                               elements.size()));
  std::vector<PathPattern> patterns;
  for (const Value& element : elements) {
    const Value path = element.member("path");
    if (!path.is_string())
      return invalid(
          fmt::format(R"(each of indexingPolicy.{} must look like {{"path": "/address/*"}})", name));
    QUIRE_TRY(check_members(element, fmt::format("a path of indexingPolicy.{}", name), kKnown));
    QUIRE_ASSIGN(std::vector<PathPattern> parsed, parse_pattern(path.as_string()));
    // A path with {a,b} stands for several.
    if (patterns.size() + parsed.size() > kMostPolicyPatterns)
      return invalid(fmt::format("indexingPolicy.{} may stand for {} paths; it stands for more", name,
                                 kMostPolicyPatterns));
    const bool is_tuple = parsed.size() > 1;
    for (PathPattern& pattern : parsed) {
      const bool is_known = std::ranges::find(patterns, pattern) != patterns.end();
      if (is_known && !is_tuple)
        return invalid(fmt::format("indexingPolicy.{} has the path '{}' twice", name, path.as_string()));
      if (!is_known) patterns.push_back(std::move(pattern));
    }
  }
  return patterns;
}

Result<bool> is_descending(const Value& order, std::string_view what) {
  if (order.is_undefined()) return false;
  if (is_word(order, "ascending")) return false;
  if (is_word(order, "descending")) return true;
  return invalid(fmt::format(R"(the "order" of {} must be "ascending" or "descending")", what));
}

Result<std::vector<IndexPart>> read_parts(const std::vector<Value>& paths, std::string_view what) {
  std::vector<IndexPart> parts;
  for (const Value& element : paths) {
    const Value path = element.member("path");
    if (!path.is_string())
      return invalid(
          fmt::format(R"(each path of {} must look like {{"path": "/age", "order": "ascending"}})", what));
    constexpr std::string_view kKnown[] = {"path", "order"};
    QUIRE_TRY(check_members(element, fmt::format("a path of {}", what), kKnown));
    IndexPart part;
    QUIRE_ASSIGN(part.path, parse_plain_path(path.as_string(), what));
    QUIRE_ASSIGN(part.is_descending, is_descending(element.member("order"), what));
    if (std::ranges::find(parts, part.path, &IndexPart::path) != parts.end())
      return invalid(fmt::format("{} has the path '{}' twice", what, path.as_string()));
    parts.push_back(std::move(part));
  }
  return parts;
}

bool has_elements(const IndexPart& part) {
  return std::ranges::any_of(part.path, &IndexStep::is_element);
}

Result<std::vector<std::vector<IndexPart>>> read_composites(const Value& policy) {
  QUIRE_ASSIGN(const std::vector<Value> elements, list(policy, "indexingPolicy", "compositeIndexes"));
  if (elements.size() > kMostCompositeIndexes)
    return invalid(fmt::format("indexingPolicy.compositeIndexes may have {} indexes; it has {}",
                               kMostCompositeIndexes, elements.size()));
  std::vector<std::vector<IndexPart>> composites;
  for (const Value& element : elements) {
    if (!element.is_array() || element.size() < 2 || element.size() > kMostIndexParts)
      return invalid(fmt::format("each of indexingPolicy.compositeIndexes must be an array of 2 to {} paths",
                                 kMostIndexParts));
    std::vector<Value> paths;
    for (uint32_t i = 0; i < element.size(); ++i) paths.push_back(element.element(i));
    QUIRE_ASSIGN(std::vector<IndexPart> parts, read_parts(paths, "a composite index"));
    if (std::ranges::find(composites, parts) != composites.end())
      return invalid("indexingPolicy.compositeIndexes has the same index twice");
    composites.push_back(std::move(parts));
  }
  // Those over elements are kept in the definition; nothing reads them, so they are not made.
  std::erase_if(composites, [](const auto& parts) { return std::ranges::any_of(parts, has_elements); });
  return composites;
}

// Indexes of kinds that Quire has no use for: its spatial, vector and full-text searches read all items.
// Their definitions are checked and kept.
struct SpecialIndexes {
  std::string_view name;
  bool has_pattern;                           // a path like /location/?, else like /vector
  std::span<const std::string_view> members;  // known ones
  std::string_view choice;                    // the member that is one, or a list, of `words`; empty: none
  bool is_list;
  std::span<const std::string_view> words;
};
constexpr std::string_view kSpatialMembers[] = {"path", "types", "boundingBox"};
constexpr std::string_view kSpatialTypes[] = {"Point", "LineString", "Polygon", "MultiPolygon"};
constexpr std::string_view kVectorMembers[] = {
    "path", "type", "quantizerType", "quantizationByteSize", "indexingSearchListSize", "vectorIndexShardKey"};
constexpr std::string_view kVectorTypes[] = {"flat", "quantizedFlat", "diskANN"};
constexpr std::string_view kFullTextMembers[] = {"path"};
constexpr SpecialIndexes kSpecialIndexes[] = {
    {"spatialIndexes", true, kSpatialMembers, "types", true, kSpatialTypes},
    {"vectorIndexes", false, kVectorMembers, "type", false, kVectorTypes},
    {"fullTextIndexes", false, kFullTextMembers, "", false, {}},
};

Result<void> check_choice(const Value& value, const SpecialIndexes& special) {
  const auto is_known = [&](const Value& given) {
    return std::ranges::any_of(special.words, [&](std::string_view word) { return is_word(given, word); });
  };
  bool is_right = special.is_list ? value.is_array() : is_known(value);
  for (uint32_t i = 0; special.is_list && i < value.size(); ++i)
    is_right = is_right && is_known(value.element(i));
  if (is_right) return {};
  return invalid(fmt::format("\"{}\" in indexingPolicy.{} must be {} {}", special.choice, special.name,
                             special.is_list ? "a list of" : "one of", fmt::join(special.words, ", ")));
}

Result<void> check_special(const Value& policy, const SpecialIndexes& special) {
  QUIRE_ASSIGN(const std::vector<Value> elements, list(policy, "indexingPolicy", special.name));
  for (const Value& element : elements) {
    const Value path = element.member("path");
    if (!path.is_string())
      return invalid(fmt::format("each of indexingPolicy.{} must have a \"path\"", special.name));
    QUIRE_TRY(
        check_members(element, fmt::format("an index of indexingPolicy.{}", special.name), special.members));
    if (special.has_pattern)
      QUIRE_TRY(parse_pattern(path.as_string()));
    else
      QUIRE_TRY(parse_plain_path(path.as_string(), special.name));
    const Value choice = special.choice.empty() ? Value() : element.member(special.choice);
    if (choice.is_defined()) QUIRE_TRY(check_choice(choice, special));
  }
  return {};
}

bool matches(const PathPattern& pattern, std::span<const IndexStep> path) noexcept {
  if (pattern.is_subtree ? path.size() < pattern.steps.size() : path.size() != pattern.steps.size())
    return false;
  return std::equal(pattern.steps.begin(), pattern.steps.end(), path.begin());
}

// How precise the best match is: its length, "/?" before "/*"; 0: none.
size_t precision(std::span<const PathPattern> patterns, std::span<const IndexStep> path) noexcept {
  size_t best = 0;
  for (const PathPattern& pattern : patterns)
    if (matches(pattern, path))
      best = std::max(best, 2 * pattern.steps.size() + (pattern.is_subtree ? size_t{1} : size_t{2}));
  return best;
}

// A reader and the memory of what it read.
struct Parsed {
  sql::JsonReader reader;
  sql::Arena arena;
  Value root;
};

Result<std::unique_ptr<Parsed>> parse(std::string_view json) {
  auto parsed = std::make_unique<Parsed>();
  QUIRE_ASSIGN(parsed->root, parsed->reader.to_value(json, parsed->arena));
  return parsed;
}

// Of those that are included or excluded.
template <typename Predicate>
bool any_path(const Value& policy, const Predicate& is_it) {
  for (const std::string_view name : {"includedPaths", "excludedPaths"}) {
    const Value paths = policy.member(name);
    for (uint32_t i = 0; paths.is_array() && i < paths.size(); ++i) {
      const Value path = paths.element(i).member("path");
      if (path.is_string() && is_it(path.as_string())) return true;
    }
  }
  return false;
}

}  // namespace

Result<void> check_new_policy(std::string_view json) {
  QUIRE_ASSIGN(const auto parsed, parse(json));
  Result<void> checked;
  any_path(parsed->root, [&](std::string_view path) {
    checked = check_tuples(path);
    return !checked;
  });
  return checked;
}

Result<IndexingPolicy> IndexingPolicy::from_json(std::string_view json) {
  constexpr std::string_view kKnown[] = {"indexingMode",  "automatic",        "includedPaths",
                                         "excludedPaths", "compositeIndexes", "spatialIndexes",
                                         "vectorIndexes", "fullTextIndexes"};
  QUIRE_ASSIGN(const auto parsed, parse(json));
  const Value& root = parsed->root;
  if (!root.is_object()) return invalid("indexingPolicy must be an object");
  QUIRE_TRY(check_members(root, "indexingPolicy", kKnown));
  IndexingPolicy policy;
  const Value mode = root.member("indexingMode");
  const bool has_no_mode = is_word(mode, "none");
  if (mode.is_defined() && !has_no_mode && !is_word(mode, "consistent") && !is_word(mode, "lazy"))
    return invalid(R"(indexingPolicy.indexingMode must be "consistent" or "none")");
  const Value automatic = root.member("automatic");
  if (automatic.is_defined() && !automatic.is_boolean())
    return invalid("indexingPolicy.automatic must be true or false");
  // Items are then indexed only where a request asks for it, which none of Quire's does.
  policy.is_none = has_no_mode || automatic.is_false();
  QUIRE_ASSIGN(policy.included, read_patterns(root, "includedPaths"));
  QUIRE_ASSIGN(policy.excluded, read_patterns(root, "excludedPaths"));
  QUIRE_ASSIGN(policy.composites, read_composites(root));
  policy.has_tuple_of_paths = any_path(root, engine::has_tuple_of_paths);
  for (const SpecialIndexes& special : kSpecialIndexes) QUIRE_TRY(check_special(root, special));
  const PathPattern everything{{}, true};
  const auto has_root = [&](const auto& patterns) {
    return std::ranges::find(patterns, everything) != patterns.end();
  };
  const bool says_nothing = policy.included.empty() && policy.excluded.empty();
  if (!has_no_mode && !says_nothing && !has_root(policy.included) && !has_root(policy.excluded))
    return invalid("the path '/*' must be in indexingPolicy.includedPaths or excludedPaths");
  for (const PathPattern& pattern : policy.included)
    if (std::ranges::find(policy.excluded, pattern) != policy.excluded.end())
      return invalid(fmt::format("the path '{}' is both in indexingPolicy.includedPaths and excludedPaths",
                                 pattern_text(pattern)));
  return policy;
}

bool IndexingPolicy::covers(std::span<const IndexStep> path) const noexcept {
  return !is_none && precision(included, path) > precision(excluded, path);
}

Result<std::vector<std::vector<IndexPart>>> unique_keys_from_json(std::string_view json) {
  constexpr std::string_view kKnown[] = {"uniqueKeys"};
  QUIRE_ASSIGN(const auto parsed, parse(json));
  if (!parsed->root.is_object()) return invalid("uniqueKeyPolicy must be an object");
  QUIRE_TRY(check_members(parsed->root, "uniqueKeyPolicy", kKnown));
  QUIRE_ASSIGN(const std::vector<Value> elements, list(parsed->root, "uniqueKeyPolicy", "uniqueKeys"));
  if (elements.size() > kMostUniqueKeys)
    return invalid(
        fmt::format("uniqueKeyPolicy may have {} keys; it has {}", kMostUniqueKeys, elements.size()));
  std::vector<std::vector<IndexPart>> keys;
  for (const Value& element : elements) {
    constexpr std::string_view kKeyMembers[] = {"paths"};
    QUIRE_TRY(check_members(element, "a unique key", kKeyMembers));
    QUIRE_ASSIGN(const std::vector<Value> paths, list(element, "a unique key", "paths"));
    if (paths.empty() || paths.size() > kMostUniqueKeyPaths)
      return invalid(fmt::format(R"(a unique key must look like {{"paths": ["/email"]}}, with 1 to {} paths)",
                                 kMostUniqueKeyPaths));
    std::vector<IndexPart> parts;
    for (const Value& path : paths) {
      if (!path.is_string()) return invalid("each path of a unique key must be a string");
      IndexPart part;
      QUIRE_ASSIGN(part.path, parse_plain_path(path.as_string(), "a unique key"));
      if (has_elements(part)) return invalid("a path of a unique key leads to one value: it has no []");
      if (std::ranges::find(parts, part) != parts.end())
        return invalid(fmt::format("a unique key has the path '{}' twice", path.as_string()));
      parts.push_back(std::move(part));
    }
    if (std::ranges::find(keys, parts) != keys.end())
      return invalid("uniqueKeyPolicy has the same key twice");
    keys.push_back(std::move(parts));
  }
  return keys;
}

// ---- CREATE INDEX

namespace {

Result<std::string> read_condition(const Value& where, std::string_view what) {
  if (where.is_undefined()) return std::string();
  if (!where.is_string() || where.as_string().empty())
    return invalid(fmt::format(R"("where" of {} must be a condition over c, as text: "c.age > 17")", what));
  auto parsed = sql::IndexCondition::parse(where.as_string());
  if (!parsed && parsed.error().code == ErrorCode::out_of_memory)
    return std::unexpected(std::move(parsed.error()));
  if (!parsed) return invalid(fmt::format("{}: {}", what, parsed.error().message));
  return std::string(where.as_string());
}

}  // namespace

Result<std::vector<NamedIndex>> named_indexes_from_json(std::string_view json) {
  constexpr std::string_view kKnown[] = {"name", "paths", "unique", "where"};
  QUIRE_ASSIGN(const auto parsed, parse(json));
  std::vector<NamedIndex> indexes;
  if (parsed->root.is_null()) return indexes;
  if (!parsed->root.is_array()) return invalid(R"("indexes" must be an array)");
  for (uint32_t i = 0; i < parsed->root.size(); ++i) {
    const Value element = parsed->root.element(i);
    QUIRE_TRY(check_members(element, "an index", kKnown));
    NamedIndex& index = indexes.emplace_back();
    const Value name = element.member("name");
    if (!name.is_string() || name.as_string().empty()) return invalid(R"(an index needs a "name", a string)");
    index.name = name.as_string();
    QUIRE_ASSIGN(const std::vector<Value> paths, list(element, "an index", "paths"));
    const std::string what = fmt::format("index '{}'", index.name);
    if (paths.empty() || paths.size() > kMostIndexParts)
      return invalid(fmt::format("{} must have 1 to {} paths", what, kMostIndexParts));
    QUIRE_ASSIGN(index.parts, read_parts(paths, what));
    if (index.parts.size() > 1 && std::ranges::any_of(index.parts, has_elements))
      return invalid(fmt::format("{} has several paths, so none of them may have []", what));
    const Value unique = element.member("unique");
    if (unique.is_defined() && !unique.is_boolean())
      return invalid(fmt::format(R"("unique" of {} must be true or false)", what));
    index.is_unique = unique.is_true();
    if (index.is_unique && has_elements(index.parts[0]))
      return invalid(fmt::format("{} is unique, so its path may not have []", what));
    QUIRE_ASSIGN(index.condition, read_condition(element.member("where"), what));
    if (std::ranges::count(indexes, index.name, &NamedIndex::name) > 1)
      return invalid(fmt::format("{} is there twice", what));
  }
  return indexes;
}

std::string named_indexes_to_json(std::span<const NamedIndex> indexes) {
  std::string json = "[";
  for (const NamedIndex& index : indexes) {
    if (json.size() > 1) json += ',';
    json += R"({"name":)";
    sql::write_json_string(index.name, json);
    if (index.is_unique) json += R"(,"unique":true)";
    json += R"(,"paths":[)";
    for (const IndexPart& part : index.parts) {
      if (&part != &index.parts.front()) json += ',';
      json += R"({"path":)";
      sql::write_json_string(index_path_text(part.path), json);
      json += part.is_descending ? R"(,"order":"descending"})" : "}";
    }
    json += ']';
    if (!index.condition.empty()) {
      json += R"(,"where":)";
      sql::write_json_string(index.condition, json);
    }
    json += '}';
  }
  return json + ']';
}

}  // namespace quire::engine
