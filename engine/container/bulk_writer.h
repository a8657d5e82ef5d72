// Writes many encoded items within one write transaction: the end of an import. In key order behind the last
// key of the table the items are appended, which needs no search and fills pages; anywhere else they are
// inserted.
//
//   DetachedEncoder encoder = ...;  // outside of the transaction; sort by key.bytes()
//   environment.write([&](WriteTransaction& t) -> Result<void> {
//     QUIRE_ASSIGN(BulkWriter writer, BulkWriter::begin(t, store, BulkMode::create));
//     for (...) QUIRE_TRY(writer.add(key, document));
//     return writer.finish();
//   });
//
// LMDB keeps a transaction's new pages on the heap until it commits: to bound memory, commit every 32 MiB or
// so.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/container/container.h"
#include "engine/file/file_cursor.h"
#include "engine/file/transaction.h"
#include "sql/error.h"

namespace quire::engine {

// salvage: as create, but an item may have a "ttl" that the container refuses now: it had it before the
// container had a time to live.
enum class BulkMode : uint8_t { create, upsert, salvage };
// defer: entries of indexes that are being built are left to the build (index_build.h).
enum class BulkIndexing : uint8_t { keep, defer };

// What add() needs to know of a document: whoever has it at hand before may find it out.
struct DocumentFacts {
  uint64_t hash;  // document_hash()
  bool may_have_ttl = true;
};

class BulkWriter {
 public:
  static Result<BulkWriter> begin(WriteTransaction& transaction, ContainerStore& store, BulkMode mode,
                                  BulkIndexing indexing = BulkIndexing::keep);

  // `key` as of ItemKey::bytes, `document` as of EncodedItem; the key is read again by later calls, until the
  // writer ends. In modes create and salvage: conflict if the key is there,
  // and nothing changed. In all modes epk_clash if what is there belongs to another partition key or long
  // id.
  // `timestamp`: its _ts.
  Result<void> add(Bytes key, Bytes document, const DocumentFacts& facts, uint32_t timestamp);
  // What has been added since begin.
  uint64_t items() const noexcept { return items_; }
  // Must be called last, else statistics and change feed miss items.
  Result<void> finish();

 private:
  BulkWriter(WriteTransaction& transaction, ContainerStore& store, BulkMode mode,
             const ContainerStatistics& statistics, FileCursor end);
  Result<void> replace(Bytes key, Bytes document, const DocumentFacts& facts, uint32_t timestamp);
  // As if it had been erased when it expired.
  Result<void> erase_expired(Bytes key, const Item& item);
  Result<void> index(Bytes key, Bytes document, const RecordHeader& header);
  Result<uint32_t> expiry_at(Bytes document, const DocumentFacts& facts, uint32_t timestamp) const;
  RecordHeader next_header(uint32_t timestamp, uint32_t expiry) const;
  Result<void> feed(const FeedChange& change, std::span<const char> record);

  WriteTransaction* transaction_;
  ContainerStore* store_;
  BulkMode mode_;
  bool has_indexes_ = false;
  IndexSelection selection_ = IndexSelection::all;
  ContainerStatistics statistics_;
  Lifetime lifetime_;
  sql::ResolvedKey ttl_{};
  uint64_t items_ = 0;
  FeedRun run_;     // of what is appended
  FileCursor end_;  // of the table
  // The last key of the table, so that appends are known without trying; a copy of what was there at first.
  Bytes last_key_;
  std::vector<char> first_last_key_;
};

// Whether an item with this key is in the container: for an import that must refuse conflicts before it
// writes.
Result<bool> contains_key(const Transaction& transaction, const ContainerStore& store, Bytes key);

}  // namespace quire::engine
