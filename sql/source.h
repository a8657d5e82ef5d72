// All that a plan may ask of storage. The engine implements it over LMDB (engine/query), tests over vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/error.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

// A property that the database sets, kept outside the document's bytes.
enum class SystemProperty : uint8_t { rid, self, etag, attachments, ts };
inline constexpr std::string_view kSystemPropertyNames[] = {"_rid", "_self", "_etag", "_attachments", "_ts"};
inline constexpr size_t kSystemPropertyCount = 5;

// How a plan reaches the items of a collection.
struct Access {
  enum class Kind : uint8_t { scan, partition, point } kind = Kind::scan;
  // partition: the full partition key or a prefix of a hierarchical one; point: the full key.
  // Undefined components stand for a missing path.
  std::span<const Value> partition_key;
  std::string_view id;  // point
};

// Hands out the items of an access, in key order. Items are encoded objects and stay valid as long as the
// Source, except that a write through the same transaction ends all of them.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // Fills items from the front; how many, 0 at the end.
  virtual Result<size_t> next(std::span<Value> items) = 0;
};

// A container as a query sees it.
class Collection {
 public:
  virtual ~Collection() = default;
  virtual std::string_view name() const = 0;
  // The paths of the partition key, each a list of property names; empty: none.
  virtual const std::vector<std::vector<std::string>>& partition_key_paths() const = 0;
  // Another property of the container's definition ("vectorEmbeddingPolicy") as JSON; empty: it has none.
  virtual std::string_view definition_property(std::string_view name) const = 0;
  // Of the encoded items, for resolve_key. Asked anew at each execution.
  virtual DictionaryNumber dictionary() const = 0;
  virtual Result<std::unique_ptr<Cursor>> open(const Access& access) = 0;
  // A system property of an item that a cursor of this collection handed out; strings live in `arena`.
  virtual Value system_property(const Value& item, SystemProperty property, Arena& arena) const = 0;
  // DOCUMENTID(): a number that no other item of the collection has, kept by a replace.
  virtual int64_t document_id(const Value& item) const = 0;
};

// What a statement runs over: one snapshot of the database.
class Source {
 public:
  virtual ~Source() = default;
  // nullptr if there is none. Owned by the source.
  virtual Collection* collection(std::string_view name) = 0;
  virtual std::vector<std::string> collection_names() const = 0;
};

}  // namespace quire::sql
