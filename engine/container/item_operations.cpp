// Creating, replacing, reading and erasing items.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/container/container.h"
#include "engine/container/new_names.h"
#include "engine/container/request_charge.h"
#include "engine/file/table_tree.h"
#include "sql/value/json.h"
#include "sql/value/key_encoding.h"

namespace quire::engine {

// ---- What is stored

Error ContainerStore::damaged(Bytes key) const {
  return {ErrorCode::corrupt, fmt::format("item '{}' of container '{}' is damaged",
                                          id_of_key(key, components()), entry_.definition.name)};
}

Error ContainerStore::damaged_feed() const {
  return {ErrorCode::corrupt,
          fmt::format("the change feed of container '{}' is damaged", entry_.definition.name)};
}

Error ContainerStore::not_found(std::string_view id) const {
  return {ErrorCode::not_found, fmt::format("there is no item '{}' with this partition key in container '{}'",
                                            shortened(id, kLongestShownId), entry_.definition.name)};
}

Result<std::optional<Item>> ContainerStore::find(const Transaction& transaction, const ItemKey& key,
                                                 std::span<const sql::Value> partition_key,
                                                 std::string_view id) const {
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(tables_.items, key.bytes()));
  if (!record) return std::nullopt;
  return item_of(*record, key, partition_key, id);
}

Result<Item> ContainerStore::item_of(Bytes record, const ItemKey& key,
                                     std::span<const sql::Value> partition_key, std::string_view id) const {
  const sql::Value root = root_of(record);
  if (root.is_undefined()) [[unlikely]]
    return std::unexpected(damaged(key.bytes()));
  if (!keys_.is_in_partition(root, partition_key)) [[unlikely]]
    return fail(
        ErrorCode::epk_clash,
        fmt::format(
            "partition keys {} and {} of container '{}' have the same hash, so that item '{}' can exist "
            "in one of them only",
            partition_key_text(partition_key), partition_key_text(partition_key_of(root)),
            entry_.definition.name, id));
  if (is_long_form(key.bytes()) && id_of(root).is_string() && id_of(root).as_string() != id) [[unlikely]]
    return fail(ErrorCode::epk_clash,
                fmt::format("the ids '{}' and '{}' have the same hash", id, id_of(root).as_string()));
  return Item{root, record};
}

Result<void> ContainerStore::check_components(std::span<const sql::Value> partition_key) const {
  if (partition_key.size() != components())
    return fail(ErrorCode::invalid_partition_key,
                fmt::format("the partition key of container '{}' has {} components; {} were given",
                            entry_.definition.name, components(), partition_key.size()));
  return check_partition_key(partition_key, entry_.definition.partition_key_paths);
}

std::string ContainerStore::effective_key(std::span<const sql::Value> partition_key) const {
  std::string hashes;
  for (const sql::Value& component : partition_key) {
    char epk[kEpkBytes];
    options_.hash(component, epk);
    hashes.append(epk, kEpkBytes);
  }
  return hashes;
}

Result<void> ContainerStore::check_etag(const std::optional<Item>& item, std::string_view if_match,
                                        std::string_view id) const {
  if (if_match.empty() || if_match == "*") return {};
  if (item && has_etag(*item, if_match)) return {};
  return fail(ErrorCode::precondition_failed,
              fmt::format("item '{}' {}: its _etag is not {}", shortened(id, kLongestShownId),
                          item ? "has changed" : "is not there", if_match));
}

// ---- Writing

uint32_t ContainerStore::place_of(WriteTransaction& transaction, Lsn lsn) const {
  const auto number = static_cast<uint64_t>(lsn);
  uint64_t& first = transaction.mark(tables_.items);
  if (first == 0 || first > number) first = number;
  return static_cast<uint32_t>(std::min<uint64_t>(number - first, RecordHeader::kMostPlace));
}

namespace {

std::string json_of(std::string_view json) {
  return std::string(json);
}
std::string json_of(const sql::Value& item) {
  std::string json;
  sql::write_json(item, json);
  return json;
}
std::string json_of(const ChangedItem& item) {
  return json_of(item.root());
}

}  // namespace

Result<bool> ContainerStore::is_triggered(const Transaction& transaction,
                                          const TriggerRequest& request) const {
  if (triggers_ == nullptr) return false;
  return triggers_->concern(transaction, *this, request);
}

template <typename Source>
Result<ItemOutcome> ContainerStore::write_item(WriteTransaction& transaction, const Source& source, Mode mode,
                                               const WriteOptions& options, const Item* known) {
  QUIRE_ASSIGN(const bool is_triggered, this->is_triggered(transaction, options.triggers));
  if (is_triggered) return write_triggered(transaction, json_of(source), mode, options);
  QUIRE_TRY(refresh(transaction));
  QUIRE_ASSIGN(const Lifetime lifetime, this->lifetime(transaction));
  NewNames names(*dictionary_);
  Result<ItemOutcome> outcome{};
  const MissingId missing_id = mode == Mode::replace ? MissingId::refuse_in_replace : MissingId::make_one;
  if (auto encoded = encoder_.encode(source, missing_id); !encoded)
    outcome = std::unexpected(std::move(encoded.error()));
  else if (auto fits = check_partition(**encoded, options); !fits)
    outcome = std::unexpected(std::move(fits.error()));
  else if (mode == Mode::replace && options.replaced_id.value_or((*encoded)->id) != (*encoded)->id)
    outcome = replace_id(transaction, **encoded, lifetime, options, names.before());
  else
    outcome = store(transaction, **encoded, lifetime, mode, options, names.before(), known);
  if (outcome) names.keep();
  return outcome;
}

// For triggered_write.cpp.
template Result<ItemOutcome> ContainerStore::write_item(WriteTransaction&, const std::string_view&, Mode,
                                                        const WriteOptions&, const Item*);

Result<void> ContainerStore::check_partition(const EncodedItem& encoded, const WriteOptions& options) const {
  if (!options.partition_key || keys_.is_in_partition(encoded.root, *options.partition_key)) return {};
  return fail(ErrorCode::invalid_partition_key,
              fmt::format("item '{}' has the partition key {}; this write is to {} alone",
                          shortened(encoded.id, kLongestShownId), partition_key_text(encoded.partition_key),
                          partition_key_text(*options.partition_key)));
}

Result<ItemOutcome> ContainerStore::store(WriteTransaction& transaction, const EncodedItem& encoded,
                                          const Lifetime& lifetime, Mode mode, const WriteOptions& options,
                                          size_t names_before, const Item* known) {
  // Of what a look-up notes of places in the tree nothing helps with a new item: the way there is gone ahead,
  // so that the last page is there when it is looked at.
  WriteTransaction::AskedEntry asked;
  if (mode == Mode::create)
    asked = transaction.ask_for_entry(tables_.items, encoded.key.bytes());
  else
    transaction.ask_for(tables_.items, encoded.key.bytes());
  // The first write: what the item was made from may lie in the map, and be gone from here on.
  QUIRE_TRY(erase_some_expired(transaction, lifetime));
  QUIRE_ASSIGN(ContainerStatistics statistics, read_statistics(transaction, tables_.statistics));
  feed_.ask_for(transaction, Lsn{static_cast<uint64_t>(statistics.last_lsn) + 1});
  const uint64_t hash = document_hash(encoded.document);
  std::optional<Item> existing;
  if (known != nullptr && !lifetime.is_on()) {
    existing = *known;
  } else {
    QUIRE_ASSIGN(const std::optional<Bytes> record,
                 transaction.get_asked(tables_.items, encoded.key.bytes(), asked));
    if (record) {
      QUIRE_ASSIGN(existing, item_of(*record, encoded.key, encoded.partition_key, encoded.id));
    }
  }
  if (existing && lifetime.has_ended(existing->header(), transaction.now())) {
    // As if it had been erased when it expired: the change feed tells of its end.
    QUIRE_TRY(erase_stored(transaction, encoded.key.bytes(), *existing));
    QUIRE_ASSIGN(statistics, read_statistics(transaction, tables_.statistics));
    existing.reset();
  }
  if (mode == Mode::create && existing)
    return fail(ErrorCode::conflict,
                fmt::format("item '{}' with partition key {} exists in container '{}'",
                            shortened(encoded.id, kLongestShownId), partition_key_text(encoded.partition_key),
                            entry_.definition.name));
  if (mode == Mode::replace && !existing) return std::unexpected(not_found(encoded.id));
  QUIRE_TRY(check_etag(existing, options.if_match, encoded.id));
  if (existing && options.newest && existing->header().lsn > *options.newest)
    return fail(
        ErrorCode::precondition_failed,
        fmt::format("a trigger has changed item '{}' since the statement read it, which would undo that; "
                    "leave the item out by WHERE",
                    shortened(encoded.id, kLongestShownId)));

  RecordHeader header;
  header.timestamp = transaction.now();
  QUIRE_ASSIGN(header.expiry, expiry_of(encoded.root.member("ttl"), header.timestamp, lifetime));
  header.lsn = statistics.last_lsn = Lsn{static_cast<uint64_t>(statistics.last_lsn) + 1};
  header.place = place_of(transaction, header.lsn);
  header.rid = existing ? existing->header().rid : options.rid != 0 ? options.rid : ++statistics.last_rid;
  statistics.items += existing ? 0 : 1;
  statistics.document_bytes += encoded.document.size();
  if (existing) statistics.document_bytes -= document_of(existing->record).size();

  const FeedChange change{.kind = existing ? FeedRowKind::replaced : FeedRowKind::created,
                          .lsn = header.lsn,
                          .timestamp = header.timestamp,
                          .item_key = encoded.key.bytes(),
                          .previous = existing ? existing->header().lsn : Lsn{},
                          .place = header.place,
                          .previous_place = existing ? existing->header().place : 0};

  // The existing item's bytes end with the first write.
  const sql::Value old_root = existing ? existing->root : sql::Value();
  QUIRE_TRY(indexes_.prepare(transaction, {.old_root = old_root,
                                           .new_root = encoded.root,
                                           .new_header = header,
                                           .item_key = encoded.key.bytes(),
                                           .selection = IndexSelection::all}));
  QUIRE_TRY(save_names(transaction, names_before));
  std::string version;
  if (statistics.retention_minutes > 0) {
    version.resize(header.bytes() + encoded.document.size());
    write_record(header, encoded.document, hash, version);
  }
  QUIRE_TRY(feed_.add(transaction, change, version, statistics));
  QUIRE_TRY(write_statistics(transaction, tables_.statistics, statistics));
  QUIRE_ASSIGN(const uint64_t terms, indexes_.apply(transaction));
  const uint64_t json_bytes = json_bytes_of_document(encoded.document.size());
  transaction.charge(existing ? replace_charge(json_bytes, terms) : create_charge(json_bytes, terms));
  QUIRE_ASSIGN(const std::span<char> place, transaction.reserve(tables_.items, encoded.key.bytes(),
                                                                header.bytes() + encoded.document.size()));
  write_record(header, encoded.document, hash, place);
  const Bytes record(place.data(), place.size());
  return ItemOutcome{.item = {root_of(record), record},
                     .etag = make_etag(entry_.etag_salt, header.lsn),
                     .timestamp = header.timestamp,
                     .created = !existing};
}

// The item stays the one that it is, by its _rid and _self; the change feed, whose rows are by id, tells of
// one that is deleted and one that is created.
Result<ItemOutcome> ContainerStore::replace_id(WriteTransaction& transaction, const EncodedItem& encoded,
                                               const Lifetime& lifetime, const WriteOptions& options,
                                               size_t names_before) {
  const std::string_view old_id = *options.replaced_id;
  ItemOutcome outcome;
  QUIRE_TRY(transaction.nested([&](WriteTransaction& inner) -> Result<void> {
    QUIRE_ASSIGN(const std::optional<Item> old, read(inner, encoded.partition_key, old_id));
    if (!old) return std::unexpected(not_found(old_id));
    QUIRE_TRY(check_etag(old, options.if_match, old_id));
    WriteOptions as_new;
    as_new.rid = old->header().rid;
    QUIRE_TRY(erase_stored(inner, ItemKey(encoded.partition_key, old_id, options_.hash).bytes(), *old));
    QUIRE_ASSIGN(outcome, store(inner, encoded, lifetime, Mode::create, as_new, names_before));
    return {};
  }));
  QUIRE_ASSIGN(const std::optional<Item> stored, read(transaction, encoded.partition_key, encoded.id));
  if (!stored) return std::unexpected(not_found(encoded.id));
  outcome.item = *stored;
  outcome.created = false;
  return outcome;
}

Result<ItemOutcome> ContainerStore::create(WriteTransaction& transaction, std::string_view json,
                                           const WriteOptions& options) {
  return write_item(transaction, json, Mode::create, options);
}
Result<ItemOutcome> ContainerStore::upsert(WriteTransaction& transaction, std::string_view json,
                                           const WriteOptions& options) {
  return write_item(transaction, json, Mode::upsert, options);
}
Result<ItemOutcome> ContainerStore::replace(WriteTransaction& transaction, std::string_view json,
                                            const WriteOptions& options) {
  return write_item(transaction, json, Mode::replace, options);
}
Result<ItemOutcome> ContainerStore::create(WriteTransaction& transaction, const sql::Value& item,
                                           const WriteOptions& options) {
  return write_item(transaction, item, Mode::create, options);
}
Result<ItemOutcome> ContainerStore::upsert(WriteTransaction& transaction, const sql::Value& item,
                                           const WriteOptions& options) {
  return write_item(transaction, item, Mode::upsert, options);
}
Result<ItemOutcome> ContainerStore::replace(WriteTransaction& transaction, const sql::Value& item,
                                            const WriteOptions& options) {
  return write_item(transaction, item, Mode::replace, options);
}

Result<ItemOutcome> ContainerStore::patch(WriteTransaction& transaction,
                                          std::span<const sql::Value> partition_key, std::string_view id,
                                          const Patch& patch, const ItemCondition& condition,
                                          const WriteOptions& options) {
  ItemKey key;
  QUIRE_ASSIGN(const std::optional<Item> item, read(transaction, partition_key, id, {}, key));
  if (!item) return std::unexpected(not_found(id));
  QUIRE_TRY(check_etag(item, options.if_match, id));
  if (condition) {
    QUIRE_ASSIGN(const bool holds, condition(item->root));
    if (!holds)
      return fail(ErrorCode::precondition_failed,
                  fmt::format("the condition of the patch is not true of item '{}'", id));
  }
  patched_.assign(document_of(item->record));
  if (patch.apply_within(patched_, *dictionary_)) {
    transaction.charge(patch_charge(patch.size()));
    const ChangedItem changed{.key = key,
                              .partition_key = partition_key,
                              .id = id,
                              .document = patched_,
                              .dictionary = dictionary_->number()};
    return write_item(transaction, changed, Mode::replace, options, &*item);
  }
  QUIRE_ASSIGN(const sql::Value patched, patch.apply(item->root));
  transaction.charge(patch_charge(patch.size()));
  return replace(transaction, patched, options);
}

Result<void> ContainerStore::erase(WriteTransaction& transaction, std::span<const sql::Value> partition_key,
                                   std::string_view id, std::string_view if_match,
                                   const TriggerRequest& triggers) {
  QUIRE_ASSIGN(const bool is_triggered, this->is_triggered(transaction, triggers));
  if (is_triggered) return erase_triggered(transaction, partition_key, id, if_match, triggers);
  QUIRE_TRY(refresh(transaction));
  QUIRE_ASSIGN(const Lifetime lifetime, this->lifetime(transaction));
  QUIRE_TRY(erase_some_expired(transaction, lifetime));
  QUIRE_ASSIGN(const std::optional<Item> item, read(transaction, partition_key, id));
  if (!item) return std::unexpected(not_found(id));
  QUIRE_TRY(check_etag(item, if_match, id));
  return erase_stored(transaction, ItemKey(partition_key, id, options_.hash).bytes(), *item);
}

Result<void> ContainerStore::erase_stored(WriteTransaction& transaction, Bytes key, const Item& item) {
  QUIRE_ASSIGN(ContainerStatistics statistics, read_statistics(transaction, tables_.statistics));
  statistics.last_lsn = Lsn{static_cast<uint64_t>(statistics.last_lsn) + 1};
  statistics.items -= 1;
  const uint64_t document_bytes = document_of(item.record).size();
  statistics.document_bytes -= document_bytes;
  QUIRE_ASSIGN(const Lifetime lifetime, this->lifetime(transaction));
  const bool has_expired = lifetime.has_ended(item.header(), transaction.now());
  const FeedChange change{.kind = has_expired ? FeedRowKind::expired : FeedRowKind::deleted,
                          .lsn = statistics.last_lsn,
                          .timestamp = transaction.now(),
                          .item_key = key,
                          .previous = item.header().lsn,
                          .place = place_of(transaction, statistics.last_lsn),
                          .previous_place = item.header().place};
  // Its bytes end with the first write.
  const std::string version(statistics.retention_minutes > 0 ? item.record : Bytes());
  const sql::Value nothing;
  QUIRE_TRY(indexes_.prepare(transaction, {.old_root = item.root,
                                           .new_root = nothing,
                                           .new_header = {},
                                           .item_key = key,
                                           .selection = IndexSelection::all}));
  QUIRE_ASSIGN(const uint64_t terms, indexes_.apply(transaction));
  // What expires goes at nobody's request.
  if (!has_expired) transaction.charge(delete_charge(json_bytes_of_document(document_bytes), terms));
  QUIRE_TRY(feed_.add(transaction, change, version, statistics));
  QUIRE_TRY(write_statistics(transaction, tables_.statistics, statistics));
  QUIRE_TRY(transaction.erase(tables_.items, key));
  return {};
}

// ---- Reading

Result<std::optional<Item>> ContainerStore::read(const Transaction& transaction,
                                                 std::span<const sql::Value> partition_key,
                                                 std::string_view id, Bytes record) {
  ItemKey key;
  return read(transaction, partition_key, id, record, key);
}

Result<std::optional<Item>> ContainerStore::read(const Transaction& transaction,
                                                 std::span<const sql::Value> partition_key,
                                                 std::string_view id, Bytes record, ItemKey& key) {
  QUIRE_TRY(refresh(transaction));
  QUIRE_TRY(check_components(partition_key));
  if (id.empty() || id.size() > kLongestItemId) return std::nullopt;
  QUIRE_ASSIGN(const Lifetime lifetime, this->lifetime(transaction));
  key.assign(partition_key, id, options_.hash);
  std::optional<Item> item;
  if (record.data() == nullptr) {
    QUIRE_ASSIGN(item, find(transaction, key, partition_key, id));
  } else {
    QUIRE_ASSIGN(item, item_of(record, key, partition_key, id));
  }
  if (item && lifetime.has_ended(item->header(), transaction.now())) return std::nullopt;
  return item;
}

Result<void> ContainerStore::read_item(const Transaction& transaction, Bytes key, Bytes record,
                                       sql::Value& item, const Lead& lead) const {
  item = sql::Value();
  if (record.data() == nullptr) {
    QUIRE_ASSIGN(const std::optional<Bytes> found, transaction.get(tables_.items, key, lead));
    if (!found) return {};
    record = *found;
  }
  item = root_of(record);
  if (item.is_undefined()) [[unlikely]]
    return std::unexpected(damaged(key));
  return {};
}

Result<sql::Value> ContainerStore::item_at(const Transaction& transaction, Bytes key, Bytes record,
                                           const Lead& lead) const {
  sql::Value item;
  QUIRE_TRY(read_item(transaction, key, record, item, lead));
  return item;
}

Result<ContainerStatistics> ContainerStore::statistics(const Transaction& transaction) {
  return read_statistics(transaction, tables_.statistics);
}

Result<ItemCursor> ContainerStore::scan(const Transaction& transaction) {
  QUIRE_TRY(refresh(transaction));
  QUIRE_ASSIGN(const Lifetime lifetime, lifetime_in_scan(transaction));
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, tables_.items));
  return ItemCursor(*this, std::move(cursor), {}, lifetime, transaction.now());
}

std::vector<Bytes> ContainerStore::divide(const Transaction& transaction, size_t parts) const {
  const auto tree = TableTree::of(transaction, tables_.items);
  return tree ? tree->divide(parts) : std::vector<Bytes>();
}

std::optional<double> ContainerStore::partition_share(const Transaction& transaction,
                                                      std::span<const sql::Value> partition_key) const {
  const auto tree = TableTree::before(transaction, tables_.items);
  if (!tree || tree->is_empty()) return std::nullopt;
  const std::string from = effective_key(partition_key);
  return tree->share_before(sql::key_behind(from)) - tree->share_before(from);
}

Result<ItemCursor> ContainerStore::scan_between(const Transaction& transaction, Bytes from, Bytes to) {
  QUIRE_ASSIGN(ItemCursor cursor, scan(transaction));
  cursor.confine(std::string(from), std::string(to));
  return cursor;
}

Result<ItemCursor> ContainerStore::scan_partition(const Transaction& transaction,
                                                  std::span<const sql::Value> partition_key) {
  QUIRE_TRY(refresh(transaction));
  if (partition_key.size() > components()) QUIRE_TRY(check_components(partition_key));
  QUIRE_TRY(check_partition_key(partition_key, entry_.definition.partition_key_paths));
  QUIRE_ASSIGN(const Lifetime lifetime, lifetime_in_scan(transaction));
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, tables_.items));
  return ItemCursor(*this, std::move(cursor), partition_key, lifetime, transaction.now());
}

Result<ItemCursor> ContainerStore::scan_ids(const Transaction& transaction,
                                            std::span<const sql::Value> partition_key, const IdRange& range) {
  QUIRE_ASSIGN(ItemCursor cursor,
               partition_key.empty() ? scan(transaction) : scan_partition(transaction, partition_key));
  cursor.confine(range);
  return cursor;
}

}  // namespace quire::engine
