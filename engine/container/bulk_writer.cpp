#include "engine/container/bulk_writer.h"

#include <fmt/format.h>

#include <optional>

#include "sql/value/document.h"

namespace quire::engine {

BulkWriter::BulkWriter(WriteTransaction& transaction, ContainerStore& store, BulkMode mode,
                       const ContainerStatistics& statistics, FileCursor end)
    : transaction_(&transaction),
      store_(&store),
      mode_(mode),
      statistics_(statistics),
      ttl_(sql::resolve_key("ttl", store.dictionary().number())),
      run_(store.feed_),
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
  if (has_items) {
    const Bytes last = writer.end_.key();
    writer.first_last_key_.assign(last.begin(), last.end());
    writer.last_key_ = Bytes(writer.first_last_key_);
  }
  return writer;
}

Result<uint32_t> BulkWriter::expiry_at(Bytes document, const DocumentFacts& facts, uint32_t timestamp) const {
  if (!facts.may_have_ttl) return kExpiryOfContainer;
  const sql::Value root =
      sql::read_document(std::as_bytes(std::span(document)), store_->dictionary().number());
  const auto expiry = expiry_of(root.member(ttl_), timestamp, lifetime_);
  return expiry || mode_ != BulkMode::salvage ? expiry : kExpiryOfContainer;
}

// Made where it is used: a copy would read at once what has just been written in pieces, and wait for it.
RecordHeader BulkWriter::next_header(uint32_t timestamp, uint32_t expiry) const {
  const Lsn lsn{static_cast<uint64_t>(statistics_.last_lsn) + 1};
  return {.place = store_->place_of(*transaction_, lsn),
          .timestamp = timestamp,
          .expiry = expiry,
          .lsn = lsn,
          .rid = statistics_.last_rid + 1};
}

Result<void> BulkWriter::add(Bytes key, Bytes document, const DocumentFacts& facts, uint32_t timestamp) {
  const bool is_last = key > last_key_;
  if (has_indexes_) {
    QUIRE_ASSIGN(const std::optional<Bytes> stored, is_last ? Result<std::optional<Bytes>>(std::nullopt)
                                                            : transaction_->get(store_->tables_.items, key));
    if (stored) return replace(key, document, facts, timestamp);
  }
  QUIRE_ASSIGN(const uint32_t expiry, expiry_at(document, facts, timestamp));
  const RecordHeader header = next_header(timestamp, expiry);
  if (has_indexes_) QUIRE_TRY(index(key, document, header));
  const size_t size = header.bytes() + document.size();
  QUIRE_ASSIGN(const std::span<char> place,
               is_last ? transaction_->reserve_append(end_, key, size)
                       : transaction_->reserve_new(store_->tables_.items, key, size));
  if (place.data() == nullptr) return replace(key, document, facts, timestamp);
  statistics_.last_rid = header.rid;
  statistics_.last_lsn = header.lsn;
  write_record(header, document, facts.hash, place);
  ++items_;
  ++statistics_.items;
  statistics_.document_bytes += document.size();
  const bool keeps_versions = statistics_.retention_minutes > 0;
  if (!is_last || keeps_versions) {
    const FeedChange change{FeedRowKind::created, header.lsn, header.timestamp, key, {}, header.place, 0};
    if (!is_last) return feed(change, place);
    QUIRE_TRY(store_->feed_.add_version(*transaction_, change, std::string(place.data(), place.size())));
  }
  last_key_ = key;
  return run_.add(*transaction_, header.lsn, header.timestamp, key);
}

// What is not appended breaks a run of items that are, and has a row of its own.
Result<void> BulkWriter::feed(const FeedChange& change, std::span<const char> record) {
  const std::string version(statistics_.retention_minutes > 0 ? Bytes(record.data(), record.size())
                                                              : Bytes());
  QUIRE_TRY(run_.end(*transaction_, last_key_));
  return store_->feed_.add(*transaction_, change, version, statistics_);
}

// The key is there: with the same item, or one that shares its hash.
Result<void> BulkWriter::replace(Bytes key, Bytes document, const DocumentFacts& facts, uint32_t timestamp) {
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
  if (lifetime_.has_ended(existing->header(), transaction_->now())) {
    QUIRE_TRY(erase_expired(key, *existing));
    return add(key, document, facts, timestamp);
  }
  if (mode_ != BulkMode::upsert)
    return fail(ErrorCode::conflict,
                fmt::format("item '{}' with partition key {} exists in container '{}'",
                            shortened(id.as_string(), kLongestShownId), partition_key_text(partition_key),
                            store_->definition().name));
  QUIRE_ASSIGN(const uint32_t expiry, expiry_at(document, facts, timestamp));
  RecordHeader header = next_header(timestamp, expiry);
  header.rid = existing->header().rid;
  const FeedChange change{FeedRowKind::replaced,  header.lsn,   header.timestamp,        key,
                          existing->header().lsn, header.place, existing->header().place};
  const size_t bytes_before = document_of(existing->record).size();
  if (has_indexes_) {
    QUIRE_TRY(store_->indexes_.prepare(*transaction_, {.old_root = existing->root,
                                                       .new_root = root,
                                                       .new_header = header,
                                                       .item_key = key,
                                                       .selection = selection_}));
    QUIRE_TRY(store_->indexes_.apply(*transaction_));
  }
  // Not before: an item whose unique key is taken may be left out, and the rest goes on.
  statistics_.last_lsn = header.lsn;
  statistics_.document_bytes += document.size();
  statistics_.document_bytes -= bytes_before;
  QUIRE_ASSIGN(const std::span<char> place,
               transaction_->reserve(store_->tables_.items, key, header.bytes() + document.size()));
  write_record(header, document, facts.hash, place);
  ++items_;
  return feed(change, place);
}

Result<void> BulkWriter::erase_expired(Bytes key, const Item& item) {
  QUIRE_TRY(run_.end(*transaction_, last_key_));
  QUIRE_TRY(write_statistics(*transaction_, store_->tables_.statistics, statistics_));
  QUIRE_TRY(store_->erase_stored(*transaction_, key, item));
  QUIRE_ASSIGN(statistics_, read_statistics(*transaction_, store_->tables_.statistics));
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
  QUIRE_TRY(store_->indexes_.apply(*transaction_));
  return {};
}

Result<void> BulkWriter::finish() {
  QUIRE_TRY(run_.end(*transaction_, last_key_));
  QUIRE_TRY(store_->feed_.trim(*transaction_, statistics_, transaction_->now(),
                               kMostTrimmedByOneWrite * (items_ + 1)));
  return write_statistics(*transaction_, store_->tables_.statistics, statistics_);
}

Result<bool> contains_key(const Transaction& transaction, const ContainerStore& store, Bytes key) {
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(store.items_table(), key));
  if (!record || !has_known_layout(*record)) return record.has_value();
  QUIRE_ASSIGN(const Lifetime lifetime, store.lifetime(transaction));
  return !lifetime.has_ended(read_header(*record), transaction.now());
}

}  // namespace quire::engine
