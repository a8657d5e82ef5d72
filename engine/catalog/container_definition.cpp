#include "engine/catalog/container_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/catalog/change_feed_policy.h"
#include "engine/index/indexing_policy.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

using sql::Member;
using sql::Value;

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::invalid_definition, std::move(message));
}

Result<void> check_name(std::string_view name) {
  if (name.empty()) return invalid("a container's name must not be empty");
  if (name.size() > kLongestContainerName)
    return invalid(fmt::format("a container's name may have {} bytes; this one has {}", kLongestContainerName,
                               name.size()));
  for (const char forbidden : std::string_view("/\\?#\0", 5))
    if (name.contains(forbidden))
      return invalid(
          fmt::format("a container's name must not contain '{}' : '{}'",
                      forbidden == '\0' ? std::string_view("\\0") : std::string_view(&forbidden, 1), name));
  return {};
}

// The end of a quoted name that starts at `at`, or npos.
size_t end_of_quoted(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

std::string unquoted(std::string_view quoted) {
  std::string name;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\') ++i;
    name += quoted[i];
  }
  return name;
}

// "/a/b" or /"a b"/c as property names.
Result<std::vector<std::string>> parse_path(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return invalid(fmt::format("partition key path '{}' {}; a path looks like /address/zip", text, why));
  };
  std::vector<std::string> names;
  if (text.empty() || text[0] != '/') return wrong("does not begin with /");
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '/') return wrong("has text behind a quoted name");
    ++at;
    if (at < text.size() && text[at] == '"') {
      const size_t end = end_of_quoted(text, at);
      if (end == std::string_view::npos) return wrong("has a quote that does not end");
      names.push_back(unquoted(text.substr(at, end - at)));
      at = end;
    } else {
      const size_t end = std::min(text.find('/', at), text.size());
      names.emplace_back(text.substr(at, end - at));
      at = end;
    }
    if (names.back().empty()) return wrong("has an empty name");
    if (names.back() == "*" || names.back() == "[]" || names.back() == "?")
      return wrong("must name one property");
  }
  return names;
}

Result<void> add_path(ContainerDefinition& definition, std::string_view text) {
  QUIRE_ASSIGN(std::vector<std::string> path, parse_path(text));
  auto& paths = definition.partition_key_paths;
  if (paths.size() == kMostPartitionKeyPaths)
    return invalid(fmt::format("a partition key may have {} paths", kMostPartitionKeyPaths));
  if (std::ranges::find(paths, path) != paths.end())
    return invalid(fmt::format("partition key path '{}' is given twice", text));
  paths.push_back(std::move(path));
  return {};
}

Result<void> read_partition_key(ContainerDefinition& definition, const Value& key) {
  if (key.is_null()) return {};
  const Value paths = key.member("paths");
  if (!paths.is_array() || paths.size() == 0)
    return invalid(R"("partitionKey" must look like {"paths": ["/deviceId"]})");
  for (uint32_t i = 0; i < paths.size(); ++i) {
    if (!paths.element(i).is_string()) return invalid(R"(each of "partitionKey"."paths" must be a string)");
    QUIRE_TRY(add_path(definition, paths.element(i).as_string()));
  }
  const Value kind = key.member("kind");
  if (kind.is_defined() &&
      !(kind.is_string() && (kind.as_string() == "Hash" || kind.as_string() == "MultiHash")))
    return invalid(R"("partitionKey"."kind" must be "Hash" or "MultiHash")");
  const Value version = key.member("version");
  if (version.is_defined() && !(version.is_number() && version.as_double() == 2))
    return invalid(R"("partitionKey"."version" must be 2)");
  return {};
}

// What is made of a property later is asked for here, so that no definition that would be refused is kept.
Result<void> check_property(std::string_view name, std::string_view json) {
  if (json == "null") return {};
  if (name == "indexingPolicy") {
    if (auto policy = IndexingPolicy::from_json(json); !policy) return std::unexpected(policy.error());
  } else if (name == "uniqueKeyPolicy") {
    if (auto keys = unique_keys_from_json(json); !keys) return std::unexpected(keys.error());
  } else if (name == "indexes") {
    if (auto indexes = named_indexes_from_json(json); !indexes) return std::unexpected(indexes.error());
  } else if (name == "changeFeedPolicy") {
    if (auto minutes = retention_minutes_from_json(json); !minutes) return std::unexpected(minutes.error());
  } else if (name == "defaultTtl") {
    if (auto ttl = default_ttl_from_json(json); !ttl) return std::unexpected(ttl.error());
  } else if (name == "throughput") {
    if (auto units = throughput_from_json(json); !units) return std::unexpected(units.error());
  }
  return {};
}

Result<void> read_item_limit(ContainerDefinition& definition, const Value& limit) {
  // As null takes back the other properties.
  definition.item_limit_bytes = kDefaultItemLimit;
  if (limit.is_null()) return {};
  if (!limit.is_number() || limit.as_double() < 1 ||
      limit.as_double() > static_cast<double>(kHighestItemLimit))
    return invalid(fmt::format(R"("itemLimit" must be a number of bytes from 1 to {})", kHighestItemLimit));
  definition.item_limit_bytes = static_cast<uint64_t>(limit.as_double());
  return {};
}

std::string json_of(const Value& value) {
  std::string text;
  sql::write_json(value, text);
  return text;
}

}  // namespace

Result<ContainerDefinition> ContainerDefinition::from_json(std::string_view json) {
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const Value root, reader.to_value(json, arena));
  if (!root.is_object()) return invalid("a container's definition must be a JSON object");
  ContainerDefinition definition;
  const Value name = root.member("id");
  if (!name.is_string()) return invalid(R"(a container's definition needs an "id", its name, a string)");
  definition.name = name.as_string();
  QUIRE_TRY(check_name(definition.name));
  for (uint32_t i = 0; i < root.size(); ++i) {
    const Member member = root.member_at(i);
    if (member.name == "id") continue;
    if (member.name == "partitionKey") {
      QUIRE_TRY(read_partition_key(definition, member.value));
    } else if (member.name == "itemLimit") {
      QUIRE_TRY(read_item_limit(definition, member.value));
    } else if (!member.name.starts_with('_') && member.name != "itemCount" && member.name != "bytes") {
      // The rest is what a listing adds, and what Azure's own listing adds (_rid, _ts, ...): not part of it.
      definition.other_properties.emplace_back(member.name, json_of(member.value));
      QUIRE_TRY(check_property(member.name, definition.other_properties.back().second));
    }
  }
  return definition;
}

Result<ContainerDefinition> ContainerDefinition::make(std::string_view name,
                                                      const std::vector<std::string>& paths) {
  ContainerDefinition definition;
  definition.name = name;
  QUIRE_TRY(check_name(name));
  for (const std::string& path : paths) QUIRE_TRY(add_path(definition, path));
  return definition;
}

std::string ContainerDefinition::to_json() const {
  std::string json = R"({"id":)";
  sql::write_json_string(name, json);
  if (!partition_key_paths.empty()) {
    json += R"(,"partitionKey":{"paths":[)";
    for (const auto& path : partition_key_paths) {
      if (&path != &partition_key_paths.front()) json += ',';
      sql::write_json_string(partition_key_path_text(path), json);
    }
    json +=
        fmt::format(R"(],"kind":"{}","version":2}})", partition_key_paths.size() == 1 ? "Hash" : "MultiHash");
  }
  if (item_limit_bytes != kDefaultItemLimit) json += fmt::format(R"(,"itemLimit":{})", item_limit_bytes);
  for (const auto& [property, value] : other_properties) {
    json += ',';
    sql::write_json_string(property, json);
    json += ':';
    json += value;
  }
  json += '}';
  return json;
}

Result<int64_t> default_ttl_from_json(std::string_view json) {
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const Value ttl, reader.to_value(json, arena));
  if (ttl.is_null()) return 0;
  const int64_t seconds = ttl.kind() == sql::Kind::integer ? ttl.as_integer() : 0;
  if (seconds != -1 && (seconds < 1 || seconds > kLongestTtl))
    return invalid(
        fmt::format(R"("defaultTtl" must be -1, a number of seconds from 1 to {}, or null)", kLongestTtl));
  return seconds;
}

Result<uint32_t> throughput_from_json(std::string_view json) {
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const Value units, reader.to_value(json, arena));
  if (units.is_null()) return 0;
  const int64_t number = units.kind() == sql::Kind::integer ? units.as_integer() : 0;
  if (number < 1 || number > kHighestThroughput)
    return invalid(fmt::format(R"("throughput" must be a number of request units a second from 1 to {}, or )"
                               "null",
                               kHighestThroughput));
  return static_cast<uint32_t>(number);
}

Result<uint32_t> throughput_of(const ContainerDefinition& definition) {
  for (const auto& [name, json] : definition.other_properties)
    if (name == "throughput") return throughput_from_json(json);
  return 0;
}

Result<int64_t> default_ttl_of(const ContainerDefinition& definition) {
  for (const auto& [name, json] : definition.other_properties)
    if (name == "defaultTtl") return default_ttl_from_json(json);
  return 0;
}

std::string partition_key_path_text(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& name : path) {
    text += '/';
    if (name.find_first_of("/\"") == std::string::npos) {
      text += name;
      continue;
    }
    text += '"';
    for (const char c : name) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text;
}

}  // namespace quire::engine
