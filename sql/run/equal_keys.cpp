#include "sql/run/equal_keys.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sql/value/key_encoding.h"

namespace quire::sql {
namespace {

bool shares_its_double(const Value& component) {
  constexpr double kExactTo = 9007199254740992;  // 2^53
  return component.is_number() && std::abs(component.as_double()) >= kExactTo;
}

std::string encoded(std::span<const Value> partition_key) {
  std::string bytes;
  for (const Value& component : partition_key) encode_key(component, bytes);
  return bytes;
}

}  // namespace

bool EqualKeys::are_needed(const Access& access) {
  return std::ranges::any_of(access.partition_key, shares_its_double) ||
         std::ranges::any_of(access.keys, [](const AccessKey& key) {
           return std::ranges::any_of(key.partition_key, shares_its_double);
         });
}

EqualKeys::EqualKeys(std::unique_ptr<Cursor> items, const Collection& collection, const Access& access)
    : items_(std::move(items)), paths_(collection.partition_key_paths()) {
  if (access.keys.empty()) keys_.push_back(encoded(access.partition_key));
  for (const AccessKey& key : access.keys) keys_.push_back(encoded(key.partition_key));
  std::ranges::sort(keys_);
  paths_ =
      paths_.first(access.keys.empty() ? access.partition_key.size() : access.keys[0].partition_key.size());
}

Result<size_t> EqualKeys::next(std::span<Value> items) {
  for (;;) {
    QUIRE_ASSIGN(const size_t count, items_->next(items));
    if (count == 0) return 0;
    const auto others =
        std::ranges::remove_if(items.first(count), [&](const Value& item) { return !has(item); });
    if (others.size() < count) return count - others.size();
  }
}

bool EqualKeys::has(const Value& item) {
  key_.clear();
  for (const auto& path : paths_) {
    Value component = item;
    for (const std::string& name : path) component = component.member(name);
    encode_key(component, key_);
  }
  return std::ranges::binary_search(keys_, key_);
}

}  // namespace quire::sql
