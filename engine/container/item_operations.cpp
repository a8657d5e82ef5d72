// Creating, replacing, reading and erasing items.
#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "engine/container/container.h"
#include "sql/value/json.h"

namespace quire::engine {

// ---- What is stored

Error ContainerStore::damaged(Bytes key) const {
  return {ErrorCode::corrupt, fmt::format("item '{}' of container '{}' is damaged",
                                          id_of_key(key, components()), entry_.definition.name)};
}

Error ContainerStore::not_found(std::string_view id) const {
  return {ErrorCode::not_found, fmt::format("there is no item '{}' with this partition key in container '{}'",
                                            id, entry_.definition.name)};
}

Result<std::optional<Item>> ContainerStore::find(const Transaction& transaction, const ItemKey& key,
                                                 std::span<const sql::Value> partition_key,
                                                 std::string_view id) const {
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(tables_.items, key.bytes()));
  if (!record) return std::nullopt;
  const sql::Value root = root_of(*record);
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
  return Item{root, *record};
}

Result<void> ContainerStore::check_components(std::span<const sql::Value> partition_key) const {
  if (partition_key.size() != components())
    return fail(ErrorCode::invalid_partition_key,
                fmt::format("the partition key of container '{}' has {} components; {} were given",
                            entry_.definition.name, components(), partition_key.size()));
  return check_partition_key(partition_key, entry_.definition.partition_key_paths);
}

Result<void> ContainerStore::check_etag(const std::optional<Item>& item, std::string_view if_match,
                                        std::string_view id) const {
  if (if_match.empty() || if_match == "*") return {};
  if (item && make_etag(entry_.etag_salt, item->header().lsn).view() == if_match) return {};
  return fail(ErrorCode::precondition_failed, fmt::format("item '{}' {}: its _etag is not {}", id,
                                                          item ? "has changed" : "is not there", if_match));
}

// ---- Writing

namespace {

std::string json_of(std::string_view json) {
  return std::string(json);
}
std::string json_of(const sql::Value& item) {
  std::string json;
  sql::write_json(item, json);
  return json;
}

}  // namespace

template <typename Source>
Result<ItemOutcome> ContainerStore::write_item(WriteTransaction& transaction, const Source& source, Mode mode,
                                               const WriteOptions& options) {
  if (triggers_ != nullptr) {
    QUIRE_ASSIGN(const bool is_triggered, triggers_->concern(transaction, *this, options.triggers));
    if (is_triggered) return write_triggered(transaction, json_of(source), mode, options);
  }
  QUIRE_TRY(refresh(transaction));
  const size_t names_before = dictionary_->size();
  Result<ItemOutcome> outcome{};
  if (auto encoded = encoder_.encode(source, mode == Mode::replace ? MissingId::refuse : MissingId::make_one))
    outcome = store(transaction, *encoded, mode, options, names_before);
  else
    outcome = std::unexpected(std::move(encoded.error()));
  if (!outcome) dictionary_->truncate(names_before);
  return outcome;
}

// For triggered_write.cpp.
template Result<ItemOutcome> ContainerStore::write_item(WriteTransaction&, const std::string_view&, Mode,
                                                        const WriteOptions&);

Result<ItemOutcome> ContainerStore::store(WriteTransaction& transaction, const EncodedItem& encoded,
                                          Mode mode, const WriteOptions& options, size_t names_before) {
  QUIRE_ASSIGN(ContainerStatistics statistics, read_statistics(transaction, tables_.statistics));
  QUIRE_ASSIGN(const std::optional<Item> existing,
               find(transaction, encoded.key, encoded.partition_key, encoded.id));
  if (mode == Mode::create && existing)
    return fail(ErrorCode::conflict,
                fmt::format("item '{}' with partition key {} exists in container '{}'", encoded.id,
                            partition_key_text(encoded.partition_key), entry_.definition.name));
  if (mode == Mode::replace && !existing) return std::unexpected(not_found(encoded.id));
  QUIRE_TRY(check_etag(existing, options.if_match, encoded.id));

  RecordHeader header;
  header.timestamp = static_cast<uint32_t>(std::time(nullptr));
  header.lsn = statistics.last_lsn = Lsn{static_cast<uint64_t>(statistics.last_lsn) + 1};
  header.rid = existing ? existing->header().rid : ++statistics.last_rid;
  statistics.items += existing ? 0 : 1;
  statistics.document_bytes += encoded.document.size();
  if (existing) statistics.document_bytes -= document_of(existing->record).size();

  // The existing item's bytes end with the first write.
  QUIRE_TRY(indexes_.prepare(transaction, existing ? existing->root : sql::Value(), encoded.root,
                             encoded.key.bytes()));
  QUIRE_TRY(indexes_.apply(transaction));
  QUIRE_TRY(save_names(transaction, names_before));
  QUIRE_TRY(write_statistics(transaction, tables_.statistics, statistics));
  QUIRE_ASSIGN(const std::span<char> place,
               transaction.reserve(tables_.items, encoded.key.bytes(),
                                   RecordHeader::kBytes + encoded.document.size()));
  write_record(header, encoded.document, document_hash(encoded.document), place);
  const Bytes record(place.data(), place.size());
  return ItemOutcome{.item = {root_of(record), record},
                     .etag = make_etag(entry_.etag_salt, header.lsn),
                     .timestamp = header.timestamp,
                     .created = !existing};
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

Result<void> ContainerStore::erase(WriteTransaction& transaction, std::span<const sql::Value> partition_key,
                                   std::string_view id, std::string_view if_match,
                                   const TriggerRequest& triggers) {
  if (triggers_ != nullptr) {
    QUIRE_ASSIGN(const bool is_triggered, triggers_->concern(transaction, *this, triggers));
    if (is_triggered) return erase_triggered(transaction, partition_key, id, if_match, triggers);
  }
  QUIRE_TRY(refresh(transaction));
  QUIRE_TRY(check_components(partition_key));
  QUIRE_ASSIGN(ContainerStatistics statistics, read_statistics(transaction, tables_.statistics));
  if (id.empty() || id.size() > kLongestItemId)
    return std::unexpected(not_found(id.substr(0, kLongestItemId)));
  const ItemKey key(partition_key, id, options_.hash);
  QUIRE_ASSIGN(const std::optional<Item> item, find(transaction, key, partition_key, id));
  if (!item) return std::unexpected(not_found(id));
  QUIRE_TRY(check_etag(item, if_match, id));
  statistics.last_lsn = Lsn{static_cast<uint64_t>(statistics.last_lsn) + 1};
  statistics.items -= 1;
  statistics.document_bytes -= document_of(item->record).size();
  QUIRE_TRY(indexes_.prepare(transaction, item->root, sql::Value(), key.bytes()));
  QUIRE_TRY(indexes_.apply(transaction));
  QUIRE_TRY(write_statistics(transaction, tables_.statistics, statistics));
  QUIRE_TRY(transaction.erase(tables_.items, key.bytes()));
  return {};
}

// ---- Reading

Result<std::optional<Item>> ContainerStore::read(const Transaction& transaction,
                                                 std::span<const sql::Value> partition_key,
                                                 std::string_view id) {
  QUIRE_TRY(refresh(transaction));
  QUIRE_TRY(check_components(partition_key));
  if (id.empty() || id.size() > kLongestItemId) return std::nullopt;
  return find(transaction, ItemKey(partition_key, id, options_.hash), partition_key, id);
}

Result<sql::Value> ContainerStore::item_at(const Transaction& transaction, Bytes key) const {
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(tables_.items, key));
  if (!record) return sql::Value();
  const sql::Value root = root_of(*record);
  if (root.is_undefined()) [[unlikely]]
    return std::unexpected(damaged(key));
  return root;
}

Result<ContainerStatistics> ContainerStore::statistics(const Transaction& transaction) {
  return read_statistics(transaction, tables_.statistics);
}

Result<ItemCursor> ContainerStore::scan(const Transaction& transaction) {
  QUIRE_TRY(refresh(transaction));
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, tables_.items));
  return ItemCursor(*this, std::move(cursor), {});
}

Result<ItemCursor> ContainerStore::scan_partition(const Transaction& transaction,
                                                  std::span<const sql::Value> partition_key) {
  QUIRE_TRY(refresh(transaction));
  if (partition_key.size() > components()) QUIRE_TRY(check_components(partition_key));
  QUIRE_TRY(check_partition_key(partition_key, entry_.definition.partition_key_paths));
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, tables_.items));
  return ItemCursor(*this, std::move(cursor), partition_key);
}

}  // namespace quire::engine
