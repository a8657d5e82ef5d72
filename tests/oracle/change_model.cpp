#include "tests/oracle/change_model.h"

#include <algorithm>

#include "tests/oracle/interpreter.h"
#include "tests/sql/run/memory_source.h"

namespace quire::sql::oracle {
namespace {

// What makes an item the only one: its partition key, of which numbers are doubles, and its id.
std::string primary_key(const Value& item, bool has_partition_key) {
  std::string key;
  write_json(item.member("id"), key);
  Value partition = item.member("k");
  if (partition.is_number()) partition = Value::number(partition.as_double());
  if (has_partition_key && partition.is_defined()) write_json(partition, key += ' ');
  return key;
}

// A container as lists of documents: what a change makes of it.
class Written {
 public:
  Written(const Items& items, bool has_partition_key) : items_(items), has_partition_key_(has_partition_key) {
    for (const std::string& item : items_) values_.push_back(*reader_.to_value(item, arena_));
  }

  // False: the whole statement is refused.
  bool apply(ChangeKind kind, const Value& item) {
    if (!is_item(item)) return false;
    const std::string key = primary_key(item, has_partition_key_);
    const auto found = std::ranges::find_if(
        values_, [&](const Value& value) { return primary_key(value, has_partition_key_) == key; });
    const bool is_there = found != values_.end();
    if (kind == ChangeKind::insert && is_there) return false;
    if (kind == ChangeKind::replace && !is_there) return false;
    if (kind == ChangeKind::remove) {
      items_.erase(items_.begin() + (found - values_.begin()));
      values_.erase(found);
      return true;
    }
    std::string text;
    write_json(item, text);
    const Value kept = *reader_.to_value(text, arena_);
    if (is_there) {
      items_[static_cast<size_t>(found - values_.begin())] = text;
      *found = kept;
    } else {
      items_.push_back(text);
      values_.push_back(kept);
    }
    return true;
  }

  const Items& items() const { return items_; }

 private:
  bool is_item(const Value& item) const {
    if (!item.is_object() || !has_only_finite_numbers(item)) return false;
    const Value id = item.member("id"), key = item.member("k");
    if (!id.is_string() || id.as_string().empty()) return false;
    return !has_partition_key_ || (!key.is_array() && !key.is_object());
  }

  Items items_;
  bool has_partition_key_;
  Arena arena_;
  JsonReader reader_;
  std::vector<Value> values_;
};

}  // namespace

void ChangeModel::put_in_order() {
  Arena arena;
  JsonReader reader;
  std::ranges::stable_sort(items_["d"], {}, [&](const std::string& item) {
    return std::string((*reader.to_value(item, arena)).member("id").as_string());
  });
}

bool hold_the_same(const Items& a, const Items& b) {
  Arena arena;
  JsonReader reader;
  std::vector<Value> left;
  for (const std::string& item : a) left.push_back(*reader.to_value(item, arena));
  for (const std::string& item : b) {
    const Value value = *reader.to_value(item, arena);
    const auto found =
        std::ranges::find_if(left, [&](const Value& other) { return deep_equal(other, value); });
    if (found == left.end()) return false;
    left.erase(found);
  }
  return left.empty();
}

std::optional<bool> ChangeModel::run(const std::string& sql, std::span<const Parameter> parameters) {
  MemorySource source;
  for (const auto& [name, documents] : items_) {
    MemoryCollection& collection = name == "c" ? source.make(name, {{"k"}}) : source.make(name);
    for (const std::string& document : documents) (void)collection.add(document);
  }
  auto parsed = parse(sql, false);
  if (!parsed) return std::nullopt;
  auto bound = bind(std::move(*parsed), source, {});
  if (!bound) return std::nullopt;
  Arena arena;
  JsonReader reader;
  std::vector<Value> values;
  for (const std::string& name : (*bound)->parameters)
    values.push_back(*reader.to_value(std::ranges::find(parameters, name, &Parameter::name)->json, arena));
  Interpreter interpreter(**bound, source, values);
  const auto rows = interpreter.run();
  if (!rows) return false;
  const std::string& target = (*bound)->change->collection_name;
  Written written(items_[target], target == "c");
  for (const Value& row : *rows)
    if (!written.apply((*bound)->change->kind, row)) return false;
  items_[target] = written.items();
  put_in_order();
  return true;
}

}  // namespace quire::sql::oracle
