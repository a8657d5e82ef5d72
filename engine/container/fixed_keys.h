// The property names that every write and read looks at: id, the system properties, the partition key's
// paths. They are the first names of a container's dictionary, from its creation on, so their numbers never
// change and are resolved once.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "engine/catalog/container_definition.h"
#include "sql/source.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/member_place.h"
#include "sql/value/value.h"

namespace quire::engine {

// The components of an item's partition key.
struct PartitionKey {
  std::array<sql::Value, kMostPartitionKeyPaths> values;
  size_t size = 0;

  operator std::span<const sql::Value>() const noexcept { return {values.data(), size}; }
};

// Where the last document of one encoder had them.
struct FixedKeyPlaces {
  sql::MemberPlace id;
  std::array<sql::MemberPlace, kMostPartitionKeyPaths> components;  // the first name of each path
};

class FixedKeys {
 public:
  // Adds the names to `dictionary`, which is that of a new container, or holds them already.
  FixedKeys(const ContainerDefinition& definition, sql::KeyDictionary& dictionary);

  sql::Value id_of(const sql::Value& root) const noexcept { return root.member(id_); }
  PartitionKey partition_key_of(const sql::Value& root) const noexcept;
  // The same, for documents that look alike.
  sql::Value id_of(const sql::Value& root, FixedKeyPlaces& places) const noexcept {
    return sql::member_at_place(root, id_, places.id);
  }
  PartitionKey partition_key_of(const sql::Value& root, FixedKeyPlaces& places) const noexcept;
  // Whether the partition key of `root` is, or starts with, `partition_key`.
  bool is_in_partition(const sql::Value& root, std::span<const sql::Value> partition_key) const noexcept;
  // Of a document that was encoded with the dictionary.
  bool has_system_property(const sql::Value& root) const noexcept;

  static bool is_system_property(std::string_view name) noexcept;

 private:
  sql::Value component_of(const sql::Value& root, size_t component) const noexcept;

  sql::ResolvedKey id_;
  std::array<sql::ResolvedKey, sql::kSystemPropertyCount> system_properties_;  // by their numbers
  std::vector<std::vector<sql::ResolvedKey>> partition_key_paths_;
};

}  // namespace quire::engine
