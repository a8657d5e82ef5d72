#include "engine/index/index_json.h"

#include <algorithm>
#include <iterator>

#include "sql/value/arena.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

using sql::Value;

constexpr std::string_view kHolds[] = {"every_item", "defined", "scalars"};
constexpr std::string_view kScopes[] = {"none", "partition", "container"};

void add_part(const sql::IndexPart& part, std::string& json) {
  json += R"({"path":[)";
  for (const sql::IndexStep& step : part.path) {
    if (&step != &part.path.front()) json += ',';
    if (step.is_element)
      json += "null";
    else
      sql::write_json_string(step.name, json);
  }
  json += part.is_descending ? R"(],"descending":true})" : "]}";
}

static_assert(kMostIndexParts <= PartOrders::kMost && kMostUniqueKeyPaths <= PartOrders::kMost);

std::unexpected<Error> damaged() {
  return fail(ErrorCode::corrupt, "the record of an index is damaged");
}

// The number of a word in a list.
Result<uint8_t> word(const Value& value, std::span<const std::string_view> words) {
  if (!value.is_string()) return damaged();
  const auto found = std::ranges::find(words, value.as_string());
  if (found == words.end()) return damaged();
  return static_cast<uint8_t>(found - words.begin());
}

Result<sql::IndexPart> read_part(const Value& value) {
  sql::IndexPart part;
  const Value path = value.member("path");
  for (uint32_t i = 0; i < path.size(); ++i) {
    const Value step = path.element(i);
    if (step.is_string())
      part.path.push_back({std::string(step.as_string()), false});
    else
      part.path.push_back({{}, true});
  }
  if (part.path.empty()) return damaged();
  part.is_descending = value.member("descending").is_true();
  return part;
}

}  // namespace

std::string index_to_json(const Index& index) {
  std::string json = R"({"name":)";
  sql::write_json_string(index.name, json);
  json += R"(,"parts":[)";
  for (const sql::IndexPart& part : index.parts) {
    if (&part != &index.parts.front()) json += ',';
    add_part(part, json);
  }
  json += R"(],"holds":)";
  sql::write_json_string(kHolds[static_cast<uint8_t>(index.holds)], json);
  if (index.unique != UniqueScope::none) {
    json += R"(,"unique":)";
    sql::write_json_string(kScopes[static_cast<uint8_t>(index.unique)], json);
  }
  if (!index.condition.empty()) {
    json += R"(,"condition":)";
    sql::write_json_string(index.condition, json);
  }
  if (index.is_of_expiry) json += R"(,"expiry":true)";
  if (index.is_of_policy) json += R"(,"policy":true)";
  if (index.is_building) json += R"(,"building":true)";
  return json + '}';
}

Result<Index> index_from_json(std::string_view json) {
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const Value root, reader.to_value(json, arena));
  Index index;
  const Value name = root.member("name");
  if (!name.is_string()) return damaged();
  index.name = name.as_string();
  const Value parts = root.member("parts");
  for (uint32_t i = 0; i < parts.size(); ++i) {
    QUIRE_ASSIGN(sql::IndexPart part, read_part(parts.element(i)));
    index.parts.push_back(std::move(part));
  }
  if (index.parts.empty() || index.parts.size() > PartOrders::kMost) return damaged();
  QUIRE_ASSIGN(const uint8_t holds, word(root.member("holds"), kHolds));
  index.holds = static_cast<sql::IndexHolds>(holds);
  if (const Value unique = root.member("unique"); unique.is_defined()) {
    QUIRE_ASSIGN(const uint8_t scope, word(unique, kScopes));
    index.unique = static_cast<UniqueScope>(scope);
  }
  if (const Value condition = root.member("condition"); condition.is_string())
    index.condition = condition.as_string();
  index.is_of_expiry = root.member("expiry").is_true();
  index.is_of_policy = root.member("policy").is_true();
  index.is_building = root.member("building").is_true();
  return index;
}

}  // namespace quire::engine
