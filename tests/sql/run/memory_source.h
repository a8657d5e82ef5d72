// A Source over vectors, for tests of the language without a file.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sql/source.h"
#include "sql/value/comparison.h"
#include "sql/value/document.h"
#include "sql/value/json.h"

namespace quire::sql {

class MemoryCollection final : public Collection {
 public:
  MemoryCollection(std::string name, std::vector<std::vector<std::string>> paths,
                   std::map<std::string, std::string, std::less<>> properties)
      : name_(std::move(name)),
        paths_(std::move(paths)),
        properties_(std::move(properties)),
        keys_(KeyDictionary::create()) {}

  // The error of the JSON reader, if any.
  Result<void> add(std::string_view json) {
    auto document = std::make_unique<std::string>();
    QUIRE_TRY(reader_.to_document(json, *keys_, *document));
    documents_.push_back(std::move(document));
    return {};
  }

  std::string_view name() const override { return name_; }
  const std::vector<std::vector<std::string>>& partition_key_paths() const override { return paths_; }
  std::string_view definition_property(std::string_view name) const override {
    const auto found = properties_.find(name);
    return found == properties_.end() ? std::string_view() : found->second;
  }
  DictionaryNumber dictionary() const override { return keys_->number(); }
  uint64_t item_count() const override { return documents_.size(); }

  Result<std::unique_ptr<Cursor>> open(const Access& access) override {
    std::vector<Value> items;
    for (const auto& document : documents_) {
      const Value item = read_document(std::as_bytes(std::span(*document)), keys_->number());
      if (matches(item, access)) items.push_back(item);
    }
    return std::make_unique<VectorCursor>(std::move(items));
  }

  Value system_property(const Value& item, SystemProperty property, Arena& arena) const override {
    switch (property) {
      case SystemProperty::rid:
        return Value::string(arena.copy_string("rid" + std::to_string(document_id(item))));
      case SystemProperty::self:
        return Value::string("dbs/memory/");
      case SystemProperty::etag:
        return Value::string("\"etag\"");
      case SystemProperty::attachments:
        return Value::string("attachments/");
      case SystemProperty::ts:
        return Value::integer(1'700'000'000);
    }
    return {};
  }

  int64_t document_id(const Value& item) const override {
    for (size_t i = 0; i < documents_.size(); ++i)
      if (reinterpret_cast<const std::byte*>(documents_[i]->data()) == item.encoded_bytes().data())
        return static_cast<int64_t>(i);
    return -1;
  }

 private:
  class VectorCursor final : public Cursor {
   public:
    explicit VectorCursor(std::vector<Value> items) : items_(std::move(items)) {}
    Result<size_t> next(std::span<Value> out) override {
      const size_t count = std::min(out.size(), items_.size() - next_);
      std::copy_n(items_.begin() + static_cast<ptrdiff_t>(next_), count, out.begin());
      next_ += count;
      return count;
    }

   private:
    std::vector<Value> items_;
    size_t next_ = 0;
  };

  bool matches(const Value& item, const Access& access) const {
    for (size_t i = 0; i < access.partition_key.size(); ++i) {
      Value value = item;
      for (const std::string& name : paths_[i]) value = value.member(name);
      if (!deep_equal(value, access.partition_key[i])) return false;
    }
    return access.kind != Access::Kind::point || deep_equal(item.member("id"), Value::string(access.id));
  }

  std::string name_;
  std::vector<std::vector<std::string>> paths_;
  std::map<std::string, std::string, std::less<>> properties_;
  std::unique_ptr<KeyDictionary> keys_;
  JsonReader reader_;
  std::vector<std::unique_ptr<std::string>> documents_;
};

class MemorySource final : public Source {
 public:
  // The properties of its definition are JSON by name.
  MemoryCollection& make(std::string name, std::vector<std::vector<std::string>> partition_key_paths = {},
                         std::map<std::string, std::string, std::less<>> properties = {}) {
    auto& made = collections_[name];
    made = std::make_unique<MemoryCollection>(name, std::move(partition_key_paths), std::move(properties));
    return *made;
  }

  Collection* collection(std::string_view name) override {
    const auto found = collections_.find(std::string(name));
    return found == collections_.end() ? nullptr : found->second.get();
  }

  std::vector<std::string> collection_names() const override {
    std::vector<std::string> names;
    for (const auto& [name, collection] : collections_) names.push_back(name);
    return names;
  }

 private:
  std::map<std::string, std::unique_ptr<MemoryCollection>> collections_;
};

}  // namespace quire::sql
