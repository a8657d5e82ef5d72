// From JSON, or a Value, to what is stored: the document and its key. Every write and every import goes
// through here.
//
// System properties that the client sent are left out, a missing id is made where that is allowed, and all
// limits are checked: item size, nesting, id rules, partition key. Errors name the limit, the size and the
// item.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/container/fixed_keys.h"
#include "engine/container/item_key.h"
#include "sql/error.h"
#include "sql/value/document.h"
#include "sql/value/json.h"
#include "sql/value/value.h"

namespace quire::engine {

// Good until the encoder's next call.
struct EncodedItem {
  ItemKey key;
  Bytes document;
  sql::Value root;  // over `document`
  PartitionKey partition_key;
  std::string_view id;
};

// What has become of an item that is there, whose id, partition key and names of members are what they were:
// a document of the encoder's dictionary. All of it must outlive the write.
struct ChangedItem {
  const ItemKey& key;
  std::span<const sql::Value> partition_key;
  std::string_view id;
  Bytes document;
  sql::DictionaryNumber dictionary;

  sql::Value root() const noexcept {
    return sql::read_document(std::as_bytes(std::span(document)), dictionary);
  }
};

// What becomes of an item without an id; in a replace the id names the item that there is.
enum class MissingId : uint8_t { make_one, refuse, refuse_in_replace };

// One thread at a time; keeps its buffers. What it is made from must outlive it.
class ItemEncoder {
 public:
  // Names that `dictionary` does not know are added to it. For the dictionary of an open container this is
  // the business of write transactions; who encodes outside of them uses DetachedEncoder.
  ItemEncoder(const ContainerDefinition& definition, const FixedKeys& keys, PartitionHash hash,
              sql::KeyDictionary& dictionary)
      : definition_(&definition), keys_(&keys), hash_(hash), dictionary_(&dictionary) {}

  // Errors: invalid_json, invalid_id, invalid_partition_key, limit_exceeded, too_large, and invalid_argument
  // (the text is no object).
  Result<const EncodedItem*> encode(std::string_view json, MissingId missing_id);
  Result<const EncodedItem*> encode(const sql::Value& item, MissingId missing_id);
  // Of all that is checked only its size may have changed.
  Result<const EncodedItem*> encode(const ChangedItem& item, MissingId missing_id);

 private:
  Result<const EncodedItem*> finish(Bytes document, MissingId missing_id);
  void set_document(Bytes document) noexcept;
  Result<void> check_size(size_t bytes, std::string_view id) const;
  // Writes the document again, without system properties and with a new id if it has none.
  Result<void> rewrite();

  const ContainerDefinition* definition_;
  const FixedKeys* keys_;
  PartitionHash hash_;
  sql::KeyDictionary* dictionary_;
  sql::JsonReader reader_;
  FixedKeyPlaces places_;
  EncodedItem item_;  // not copied: imports make millions
  std::string document_;
  std::string rewritten_;
  std::vector<sql::Member> members_;
};

}  // namespace quire::engine
