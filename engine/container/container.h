// The items of one container. Opened once per Database and shared by its threads (statements may outlive a
// drop of the container, so they share ownership). All state that matters is in the file; in memory there are
// the table handles, the definition and the key dictionary, whose names refresh() brings up to what a
// transaction can see.
//
// Every function takes the transaction to work in. After the container was dropped they fail with
// container_not_found, except in snapshots from before.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/container/change_feed.h"
#include "engine/container/container_indexes.h"
#include "engine/container/item_cursor.h"
#include "engine/container/item_encoder.h"
#include "engine/container/item_key.h"
#include "engine/container/lifetime.h"
#include "engine/container/patch.h"
#include "engine/container/record.h"
#include "engine/container/shared_names.h"
#include "engine/container/statistics.h"
#include "engine/container/system_property.h"
#include "engine/container/throughput.h"
#include "engine/container/write_triggers.h"
#include "engine/file/batch_get.h"
#include "engine/file/environment.h"
#include "sql/error.h"
#include "sql/value/document.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/value.h"

namespace quire::engine {

struct ContainerOptions {
  // Tests put a weak hash here to see partition keys clash.
  PartitionHash hash = effective_partition_key;
  // Check each record's checksum when it is read: some 40 ns more an item.
  bool verify_checksums = false;
};

// An item in place: good as bytes of its transaction are.
struct Item {
  sql::Value root;  // system properties are not in it
  Bytes record;

  RecordHeader header() const noexcept { return read_header(record); }
};

struct WriteOptions {
  // An etag with its quotes; empty or "*": any.
  std::string_view if_match;
  TriggerRequest triggers = {};
  // The item must have this partition key, else invalid_partition_key: of a batch.
  std::optional<std::span<const sql::Value>> partition_key = std::nullopt;
  // The item that is there must not be newer, else precondition_failed: of a statement that has read it,
  // whose triggers may have changed it since.
  std::optional<Lsn> newest = std::nullopt;
  // Of a replace: the id of the item that the new one takes the place of, which may have another id. Without:
  // the new one's.
  std::optional<std::string_view> replaced_id = std::nullopt;
  // The number of an item that is made new (its _rid); 0: the container's next.
  uint64_t rid = 0;
};

// Asked about the item that is there, in the transaction of the write. Empty: always true.
using ItemCondition = std::function<Result<bool>(const sql::Value& root)>;

struct ItemOutcome {
  Item item;  // good until the transaction's next write
  Etag etag;
  uint32_t timestamp = 0;
  bool created = false;
};

class ContainerStore : public std::enable_shared_from_this<ContainerStore> {
 public:
  // Enters the container in the catalog and makes it. Drop the store if the transaction is undone.
  static Result<std::shared_ptr<ContainerStore>> create(Environment& environment,
                                                        WriteTransaction& transaction,
                                                        const ContainerDefinition& definition,
                                                        const ContainerOptions& options = {});
  // Opens a container of the catalog. The first opens its tables for transactions that begin (or are renewed)
  // afterwards, the second for this write transaction and, once it commits, for later ones.
  static Result<std::shared_ptr<ContainerStore>> open(Environment& environment, const CatalogEntry& entry,
                                                      const ContainerOptions& options = {});
  static Result<std::shared_ptr<ContainerStore>> open(Environment& environment, WriteTransaction& transaction,
                                                      const CatalogEntry& entry,
                                                      const ContainerOptions& options = {});

  // ---- Writing. A failed call changes nothing.
  // conflict if (partition key, id) is there; epk_clash; errors of ItemEncoder.
  Result<ItemOutcome> create(WriteTransaction& transaction, std::string_view json,
                             const WriteOptions& options = {});
  // precondition_failed if if_match is another's etag, or the item is not there.
  Result<ItemOutcome> upsert(WriteTransaction& transaction, std::string_view json,
                             const WriteOptions& options = {});
  // not_found, precondition_failed.
  Result<ItemOutcome> replace(WriteTransaction& transaction, std::string_view json,
                              const WriteOptions& options = {});
  // The same for an item at hand as a Value.
  Result<ItemOutcome> create(WriteTransaction& transaction, const sql::Value& item,
                             const WriteOptions& options = {});
  Result<ItemOutcome> upsert(WriteTransaction& transaction, const sql::Value& item,
                             const WriteOptions& options = {});
  Result<ItemOutcome> replace(WriteTransaction& transaction, const sql::Value& item,
                              const WriteOptions& options = {});
  // not_found, precondition_failed, also where `condition` is not true of the item as it is; errors of Patch.
  Result<ItemOutcome> patch(WriteTransaction& transaction, std::span<const sql::Value> partition_key,
                            std::string_view id, const Patch& patch, const ItemCondition& condition = {},
                            const WriteOptions& options = {});
  // not_found, precondition_failed.
  Result<void> erase(WriteTransaction& transaction, std::span<const sql::Value> partition_key,
                     std::string_view id, std::string_view if_match = {},
                     const TriggerRequest& triggers = {});

  // ---- Reading.
  // `partition_key`: a component for each path, undefined for a missing one. Nothing if there is no such
  // item. invalid_partition_key for a wrong number of components; epk_clash; corrupt, naming the item.
  // `record`: as batch_get() found it under the item's key, if it did.
  Result<std::optional<Item>> read(const Transaction& transaction, std::span<const sql::Value> partition_key,
                                   std::string_view id, Bytes record = {});
  // All items, in key order; those of one partition, or of the partitions under a prefix of a hierarchical
  // key. As everywhere here, without those that have expired.
  Result<ItemCursor> scan(const Transaction& transaction);
  // Keys that part the items, in their order, into about so many ranges of about the same size (up to twice
  // as many): each range but the first begins at one. None where that cannot be told. Good as long as the
  // transaction's bytes.
  std::vector<Bytes> divide(const Transaction& transaction, size_t parts) const;
  // About which share of the items is those of a partition, or of those whose keys begin with these scalars;
  // of what is pending nothing is known. Nothing where the tree cannot be looked at.
  std::optional<double> partition_share(const Transaction& transaction,
                                        std::span<const sql::Value> partition_key) const;
  // Those from such a key on, and before another one; empty: from the first on, and to the last.
  Result<ItemCursor> scan_between(const Transaction& transaction, Bytes from, Bytes to);
  Result<ItemCursor> scan_partition(const Transaction& transaction,
                                    std::span<const sql::Value> partition_key);
  // `partition_key`: all of it; empty in a container without.
  Result<ItemCursor> scan_ids(const Transaction& transaction, std::span<const sql::Value> partition_key,
                              const IdRange& range);
  Result<ContainerStatistics> statistics(const Transaction& transaction);
  // Without the items that have expired and are still stored. Looks at each of these.
  Result<ContainerStatistics> live_statistics(const Transaction& transaction);
  // Whether an item has one of these etags: "*" is any. Empty: none.
  bool has_etag(const Item& item, std::string_view etag) const noexcept {
    return etag == "*" || etag_of(item).view() == etag;
  }
  Etag etag_of(const Item& item) const noexcept { return make_etag(entry_.etag_salt, item.header().lsn); }
  // Whether the item under a key is there, and has expired.
  Result<bool> has_expired(const Transaction& transaction, Bytes key) const;
  // How long items live, as the transaction sees it.
  Result<Lifetime> lifetime(const Transaction& transaction) const;
  // The same for who is about to look at many items: off if none of them has expired.
  Result<Lifetime> lifetime_in_scan(const Transaction& transaction);
  // Erases items that have expired, at most so many; how many.
  Result<uint64_t> erase_expired(WriteTransaction& transaction, uint64_t most);

  // The item under a key as an index entry has it, expired or not; undefined if there is none. `record`: as
  // batch_get() found it, if it did; `lead`: which led to the key. corrupt.
  Result<sql::Value> item_at(const Transaction& transaction, Bytes key, Bytes record = {},
                             const Lead& lead = {}) const;
  // The same in place, for who reads many.
  Result<void> read_item(const Transaction& transaction, Bytes key, Bytes record, sql::Value& item,
                         const Lead& lead = {}) const;
  // For many of these at once.
  BatchGet batch_get(const Transaction& transaction) const { return {transaction, tables_.items}; }

  // Makes the indexes, and how long items live, what a definition of the container asks for: drops indexes
  // that it does not, adds new ones, to be built by build_indexes() (index_build.h) if there are items. True
  // if there is something to build.
  Result<bool> set_indexes(WriteTransaction& transaction, const ContainerDefinition& definition);

  // Keeps versions for as long as a definition of the container asks for.
  Result<void> set_retention(WriteTransaction& transaction, const ContainerDefinition& definition);

  // Brings the dictionary up to what `transaction` sees. All functions above do so themselves; call it before
  // names are resolved against dictionary(). A comparison of two numbers if nothing was committed since the
  // last call.
  Result<void> refresh(const Transaction& transaction);

  // Makes every name known, durably, in a small write transaction of its own; names that the dictionary
  // cannot take stand inline in documents and need nothing. Afterwards documents with these names may be
  // encoded outside of write transactions. A name that is known already costs a look-up and no transaction.
  Result<void> reserve_names(Environment& environment, std::span<const std::string_view> names);

  // What runs around writes; null: nothing. Before the store is shared.
  void use_triggers(WriteTriggers* triggers) noexcept { triggers_ = triggers; }
  // Whether a write of this kind would run any.
  Result<bool> is_triggered(const Transaction& transaction, const TriggerRequest& request) const;

  // ---- What it is.
  const ContainerDefinition& definition() const noexcept { return entry_.definition; }
  ContainerNumber number() const noexcept { return entry_.number; }
  // Of the definition, which grows with each change of it.
  uint32_t revision() const noexcept { return entry_.revision; }
  size_t components() const noexcept { return entry_.definition.partition_key_paths.size(); }
  const sql::KeyDictionary& dictionary() const noexcept { return *dictionary_; }
  const ResourceNames& resource_names() const noexcept { return names_; }

  sql::Value system_property(const sql::Value& root, sql::SystemProperty property, sql::Arena& arena) const {
    return engine::system_property(names_, root, property, arena);
  }
  void system_properties(const sql::Value& root, std::span<sql::Value, sql::kSystemPropertyCount> values,
                         sql::Arena& arena) const {
    system_texts_.properties(root, values, arena);
  }
  // Compact JSON with system properties.
  void write_item_json(const sql::Value& root, std::string& out) const {
    system_texts_.write_item(root, out);
  }

  // What requests to it may use, by whichever store of it in this process; those who run them ask and tell.
  Throughput& throughput() const noexcept { return *throughput_; }

  Table items_table() const noexcept { return tables_.items; }
  Table feed_table() const noexcept { return feed_.table(); }
  ContainerIndexes& indexes() noexcept { return indexes_; }
  PartitionHash hash() const noexcept { return options_.hash; }
  // The hashes of a partition key, or of a prefix of one.
  std::string effective_key(std::span<const sql::Value> partition_key) const;
  // Whether this can be a whole partition key of the container; invalid_partition_key.
  Result<void> check_components(std::span<const sql::Value> partition_key) const;

  // The id and the partition key of an item, by names resolved once and for all.
  sql::Value id_of(const sql::Value& root) const noexcept { return keys_.id_of(root); }
  PartitionKey partition_key_of(const sql::Value& root) const noexcept {
    return keys_.partition_key_of(root);
  }
  // Whether the item's partition key is, or starts with, `partition_key`.
  bool is_in_partition(const sql::Value& root, std::span<const sql::Value> partition_key) const noexcept {
    return keys_.is_in_partition(root, partition_key);
  }

 private:
  friend class ItemCursor;
  friend class LatestCursor;
  friend class VersionCursor;
  friend class BulkWriter;
  friend class DetachedEncoder;
  friend class EntryCollector;
  friend class IndexBuilder;
  friend class PolicyPathSearch;
  friend class ContainerCheck;
  friend class IndexCheck;

  struct Tables {
    Table items, keys, statistics, index, feed;
  };
  enum class Mode : uint8_t { create, upsert, replace };
  // Where a caller makes a store; not for others.
  struct Opened {
    CatalogEntry entry;
    Tables tables;
    ContainerOptions options;
    uint32_t database_number;
    // With all other stores of the container.
    std::shared_ptr<SharedNames> names;
    std::shared_ptr<Throughput> throughput;
  };

 public:
  explicit ContainerStore(Opened opened);

 private:
  static Result<std::shared_ptr<ContainerStore>> make(const Environment& environment,
                                                      const CatalogEntry& entry, Tables tables,
                                                      const ContainerOptions& options);
  template <typename Source>
  Result<ItemOutcome> write_item(WriteTransaction& transaction, const Source& source, Mode mode,
                                 const WriteOptions& options, const Item* known = nullptr);
  Result<void> check_partition(const EncodedItem& encoded, const WriteOptions& options) const;
  // `known`: the item that is there, as the caller has read it for this write; null: it is looked up.
  Result<ItemOutcome> store(WriteTransaction& transaction, const EncodedItem& encoded,
                            const Lifetime& lifetime, Mode mode, const WriteOptions& options,
                            size_t names_before, const Item* known = nullptr);
  Result<ItemOutcome> replace_id(WriteTransaction& transaction, const EncodedItem& encoded,
                                 const Lifetime& lifetime, const WriteOptions& options, size_t names_before);
  Result<ItemOutcome> write_triggered(WriteTransaction& transaction, std::string item, Mode mode,
                                      const WriteOptions& options);
  Result<void> erase_triggered(WriteTransaction& transaction, std::span<const sql::Value> partition_key,
                               std::string_view id, std::string_view if_match, const TriggerRequest& request);
  Result<void> erase_stored(WriteTransaction& transaction, Bytes key, const Item& item);
  Result<void> erase_some_expired(WriteTransaction& transaction, const Lifetime& lifetime);
  Result<void> erase_expired_item(WriteTransaction& transaction, Bytes key);
  Result<void> set_lifetime(WriteTransaction& transaction, const ContainerDefinition& definition);
  Result<void> refresh_lifetime(const Transaction& transaction, uint64_t commit);
  // read(), which leaves in `key` where the item is, if it is there.
  Result<std::optional<Item>> read(const Transaction& transaction, std::span<const sql::Value> partition_key,
                                   std::string_view id, Bytes record, ItemKey& key);
  // The item under a key, if any, expired or not; it must have this partition key and id.
  Result<std::optional<Item>> find(const Transaction& transaction, const ItemKey& key,
                                   std::span<const sql::Value> partition_key, std::string_view id) const;
  Result<Item> item_of(Bytes record, const ItemKey& key, std::span<const sql::Value> partition_key,
                       std::string_view id) const;
  Result<void> check_etag(const std::optional<Item>& item, std::string_view if_match,
                          std::string_view id) const;

  // The root of a record's document, after a cheap look; undefined if it is damaged.
  sql::Value root_of(Bytes record) const noexcept {
    if (!has_known_layout(record)) [[unlikely]]
      return {};
    if (options_.verify_checksums && !has_right_checksum(record)) [[unlikely]]
      return {};
    const Bytes document = document_of(record);
    const sql::Value root = sql::read_document(std::as_bytes(std::span(document)), dictionary_->number());
    return root.is_object() ? root : sql::Value();
  }
  Error damaged(Bytes key) const;
  Error damaged_feed() const;
  // RecordHeader::place of a write with this LSN.
  uint32_t place_of(WriteTransaction& transaction, Lsn lsn) const;
  Error not_found(std::string_view id) const;

  // Saves the names from number `from` on, and takes them back if the transaction is undone.
  Result<void> save_names(WriteTransaction& transaction, size_t from);
  // Adds to `dictionary` the names that it lacks and `transaction` sees. The dictionary's own come first.
  Result<void> load_names(const Transaction& transaction, sql::KeyDictionary& dictionary) const;
  Result<void> refresh_names(const Transaction& transaction, uint64_t commit);

  CatalogEntry entry_;
  Tables tables_;
  ContainerOptions options_;
  ResourceNames names_;
  SystemPropertyTexts system_texts_;
  std::shared_ptr<SharedNames> shared_names_;
  sql::KeyDictionary* dictionary_;  // theirs
  const FixedKeys& keys_;           // likewise

  // The newest commit whose names are all in the dictionary, and whose lifetime is known.
  std::atomic<uint64_t> refreshed_ = 0;
  // The newest that is known, one of those below: few, and they stay where they are.
  std::atomic<const Lifetime*> lifetime_ = nullptr;
  std::deque<Lifetime> lifetimes_;
  ChangeFeed feed_;
  ContainerIndexes indexes_;
  WriteTriggers* triggers_ = nullptr;
  std::shared_ptr<Throughput> throughput_;
  // Of the holder of the write lock.
  ItemEncoder encoder_;
  std::string patched_;  // a document, while it becomes another
  ExpiryFront expired_;
};

}  // namespace quire::engine
