#include "engine/container/fixed_keys.h"

#include <algorithm>

#include "engine/container/effective_partition_key.h"

namespace quire::engine {

FixedKeys::FixedKeys(const ContainerDefinition& definition, sql::KeyDictionary& dictionary) {
  const auto resolve = [&](std::string_view name) {
    dictionary.add(name);
    return sql::resolve_key(name, dictionary.number());
  };
  id_ = resolve("id");
  for (size_t i = 0; i < sql::kSystemPropertyCount; ++i)
    system_properties_[i] = resolve(sql::kSystemPropertyNames[i]);
  // A file says in which order they came.
  std::ranges::sort(system_properties_, {}, &sql::ResolvedKey::number);
  for (const auto& path : definition.partition_key_paths) {
    auto& keys = partition_key_paths_.emplace_back();
    for (const std::string& name : path) keys.push_back(resolve(name));
  }
}

sql::Value FixedKeys::component_of(const sql::Value& root, size_t component) const noexcept {
  sql::Value value = root;
  for (const sql::ResolvedKey& key : partition_key_paths_[component]) value = value.member(key);
  return value;
}

PartitionKey FixedKeys::partition_key_of(const sql::Value& root) const noexcept {
  PartitionKey key;
  key.size = partition_key_paths_.size();
  for (size_t i = 0; i < key.size; ++i) key.values[i] = component_of(root, i);
  return key;
}

PartitionKey FixedKeys::partition_key_of(const sql::Value& root, FixedKeyPlaces& places) const noexcept {
  PartitionKey key;
  key.size = partition_key_paths_.size();
  for (size_t i = 0; i < key.size; ++i) {
    const std::span<const sql::ResolvedKey> path = partition_key_paths_[i];
    key.values[i] = sql::member_at_place(root, path.front(), places.components[i]);
    for (const sql::ResolvedKey& name : path.subspan(1)) key.values[i] = key.values[i].member(name);
  }
  return key;
}

bool FixedKeys::is_in_partition(const sql::Value& root,
                                std::span<const sql::Value> partition_key) const noexcept {
  for (size_t i = 0; i < partition_key.size(); ++i)
    if (!same_partition_key_value(component_of(root, i), partition_key[i])) return false;
  return true;
}

// As a rule their numbers follow each other, so that one look at all members settles nearly every item.
bool FixedKeys::has_system_property(const sql::Value& root) const noexcept {
  if (!root.has_member_between(system_properties_.front(), system_properties_.back())) return false;
  return std::ranges::any_of(system_properties_,
                             [&](const sql::ResolvedKey& key) { return root.member(key).is_defined(); });
}

bool FixedKeys::is_system_property(std::string_view name) noexcept {
  return std::ranges::find(sql::kSystemPropertyNames, name) != std::end(sql::kSystemPropertyNames);
}

}  // namespace quire::engine
