// Encodes items outside of write transactions, for imports: any number of these work in parallel, on any
// threads.
//
// A container's dictionary changes only under the write lock. So this encoder has a copy of it, with the same
// numbers. Where an item brings new names, they are first made durable in a small write transaction of their
// own (ContainerStore::reserve_names), taken over with the numbers that they got, and the item is encoded
// again.
#pragma once

#include <memory>
#include <string_view>

#include "engine/container/container.h"
#include "engine/container/item_encoder.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

// One thread at a time. Its calls may write: not for who holds a write transaction.
class DetachedEncoder {
 public:
  static Result<DetachedEncoder> create(Environment& environment, ContainerStore& store);

  // As ItemEncoder; the documents are those of the container, for BulkWriter::add.
  Result<const EncodedItem*> encode(std::string_view json, MissingId missing_id) {
    return encode_any(json, missing_id);
  }
  Result<const EncodedItem*> encode(const sql::Value& item, MissingId missing_id) {
    return encode_any(item, missing_id);
  }

 private:
  DetachedEncoder(Environment& environment, ContainerStore& store, std::unique_ptr<sql::KeyDictionary> names);
  template <typename Source>
  Result<const EncodedItem*> encode_any(const Source& source, MissingId missing_id);
  // Brings the copy up to the names that are durable.
  Result<void> copy_names();

  Environment* environment_;
  ContainerStore* store_;
  std::unique_ptr<sql::KeyDictionary> names_;
  size_t durable_names_ = 0;
  // On the heap, since the encoder points to it.
  std::unique_ptr<FixedKeys> keys_;
  ItemEncoder encoder_;
};

}  // namespace quire::engine
