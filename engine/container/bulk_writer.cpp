#include "engine/container/bulk_writer.h"

#include <fmt/format.h>

#include "sql/value/document.h"

namespace quire::engine {

BulkWriter::BulkWriter(WriteTransaction& transaction, ContainerStore& store, BulkMode mode,
                       const ContainerStatistics& statistics, FileCursor end)
    : transaction_(&transaction),
      store_(&store),
      mode_(mode),
      statistics_(statistics),
      ttl_(sql::resolve_key("ttl", store.dictionary().number())),
      end_(std::move(end)) {}

Result<BulkWriter> BulkWriter::begin(WriteTransaction& transaction, ContainerStore& store, BulkMode mode,
                                     BulkIndexing indexing) {
  QUIRE_TRY(store.refresh(transaction));
  QUIRE_ASSIGN(const ContainerStatistics statistics, read_statistics(transaction, store.tables_.statistics));
  QUIRE_ASSIGN(FileCursor end, FileCursor::open(transaction, store.tables_.items));
  BulkWriter writer(transaction, store, mode, statistics, std::move(end));
  QUIRE_ASSIGN(const uint64_t index_version, read_index_version(transaction, store.tables_.index));
  writer.has_indexes_ = index_version != 0;
  QUIRE_ASSIGN(writer.lifetime_, store.lifetime(transaction));
  if (indexing == BulkIndexing::defer) writer.selection_ = IndexSelection::unique;
  QUIRE_ASSIGN(const bool has_items, writer.end_.last());
  if (has_items) writer.last_key_ = writer.end_.key();
  return writer;
}

Result<RecordHeader> BulkWriter::next_header(Bytes document) {
  RecordHeader header;
  header.timestamp = transaction_->now();
  const sql::Value root =
      sql::read_document(std::as_bytes(std::span(document)), store_->dictionary().number());
  QUIRE_ASSIGN(header.expiry, expiry_of(root.member(ttl_), header.timestamp, lifetime_));
  header.lsn = Lsn{static_cast<uint64_t>(statistics_.last_lsn) + 1};
  return header;
}

Result<void> BulkWriter::add(Bytes key, Bytes document, uint64_t hash) {
  const size_t size = RecordHeader::kBytes + document.size();
  const bool is_last = key > Bytes(last_key_);
  if (has_indexes_) {
    QUIRE_ASSIGN(const std::optional<Bytes> stored, is_last ? Result<std::optional<Bytes>>(std::nullopt)
                                                            : transaction_->get(store_->tables_.items, key));
    if (stored) return replace(key, document, hash);
  }
  QUIRE_ASSIGN(RecordHeader header, next_header(document));
  if (has_indexes_) QUIRE_TRY(index(key, document, header));
  QUIRE_ASSIGN(const std::span<char> place,
               is_last ? transaction_->reserve_append(end_, key, size)
                       : transaction_->reserve_new(store_->tables_.items, key, size));
  if (place.data() == nullptr) return replace(key, document, hash);
  if (is_last) last_key_.assign(key);
  header.rid = ++statistics_.last_rid;
  statistics_.last_lsn = header.lsn;
  write_record(header, document, hash, place);
  ++items_;
  ++statistics_.items;
  statistics_.document_bytes += document.size();
  return {};
}

// The key is there: with the same item, or one that shares its hash.
Result<void> BulkWriter::replace(Bytes key, Bytes document, uint64_t hash) {
  const sql::Value root =
      sql::read_document(std::as_bytes(std::span(document)), store_->dictionary().number());
  const PartitionKey partition_key = store_->partition_key_of(root);
  const sql::Value id = store_->id_of(root);
  if (!id.is_string()) return fail(ErrorCode::invalid_argument, "a document for bulk writing has no id");
  const ItemKey item_key(partition_key, id.as_string(), store_->hash());
  QUIRE_ASSIGN(const std::optional<Item> existing,
               store_->find(*transaction_, item_key, partition_key, id.as_string()));
  if (!existing || item_key.bytes() != key)
    return fail(ErrorCode::invalid_argument, "a key for bulk writing is not that of its document");
  const bool is_there = !lifetime_.has_ended(existing->header(), transaction_->now());
  if (mode_ == BulkMode::create && is_there)
    return fail(ErrorCode::conflict,
                fmt::format("item '{}' with partition key {} exists in container '{}'", id.as_string(),
                            partition_key_text(partition_key), store_->definition().name));
  QUIRE_ASSIGN(RecordHeader header, next_header(document));
  header.rid = is_there ? existing->header().rid : ++statistics_.last_rid;
  statistics_.last_lsn = header.lsn;
  statistics_.document_bytes += document.size();
  statistics_.document_bytes -= document_of(existing->record).size();
  if (has_indexes_) {
    QUIRE_TRY(store_->indexes_.prepare(*transaction_, {.old_root = existing->root,
                                                       .new_root = root,
                                                       .new_header = header,
                                                       .item_key = key,
                                                       .selection = selection_}));
    QUIRE_TRY(store_->indexes_.apply(*transaction_));
  }
  QUIRE_ASSIGN(const std::span<char> place,
               transaction_->reserve(store_->tables_.items, key, RecordHeader::kBytes + document.size()));
  write_record(header, document, hash, place);
  ++items_;
  return {};
}

Result<void> BulkWriter::index(Bytes key, Bytes document, const RecordHeader& header) {
  const sql::Value root =
      sql::read_document(std::as_bytes(std::span(document)), store_->dictionary().number());
  const sql::Value nothing;
  QUIRE_TRY(store_->indexes_.prepare(*transaction_, {.old_root = nothing,
                                                     .new_root = root,
                                                     .new_header = header,
                                                     .item_key = key,
                                                     .selection = selection_}));
  return store_->indexes_.apply(*transaction_);
}

Result<void> BulkWriter::finish() {
  return write_statistics(*transaction_, store_->tables_.statistics, statistics_);
}

Result<bool> contains_key(const Transaction& transaction, const ContainerStore& store, Bytes key) {
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(store.items_table(), key));
  if (!record || record->size() < RecordHeader::kBytes) return record.has_value();
  QUIRE_ASSIGN(const Lifetime lifetime, store.lifetime(transaction));
  return !lifetime.has_ended(read_header(*record), transaction.now());
}

}  // namespace quire::engine
