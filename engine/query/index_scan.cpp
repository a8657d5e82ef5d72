#include "engine/query/index_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "engine/file/batch_get.h"
#include "engine/query/entry_walk.h"
#include "engine/query/key_list.h"
#include "sql/id_index.h"
#include "sql/value/key_encoding.h"

namespace quire::engine {

namespace {

// Which partition's items are wanted; all, if it has no component. Copies the strings.
class PartitionFilter {
 public:
  PartitionFilter(ContainerStore& store, std::span<const sql::Value> partition_key)
      : store_(&store), key_(partition_key.begin(), partition_key.end()) {
    texts_.reserve(key_.size());
    for (sql::Value& component : key_) {
      char epk[kEpkBytes];
      store.hash()(component, epk);
      epk_.append(epk, sizeof epk);
      if (component.is_string()) component = sql::Value::string(texts_.emplace_back(component.as_string()));
    }
  }
  bool has_any() const noexcept { return !key_.empty(); }
  // What the keys of its items begin with.
  Bytes item_prefix() const noexcept { return epk_; }
  bool may_have(const IndexEntry& entry) const noexcept { return entry.item_key.starts_with(epk_); }
  bool has(const sql::Value& root) const noexcept { return store_->is_in_partition(root, key_); }

 private:
  ContainerStore* store_;
  std::vector<sql::Value> key_;
  std::vector<std::string> texts_;
  std::string epk_;
};

// The records of a number of items, looked up together.
class RecordBatch {
 public:
  static constexpr size_t kMost = BatchGet::kMost;

  RecordBatch(const Transaction& transaction, const ContainerStore& store) {
    // What is found must not be handed out after a write to it.
    if (!transaction.is_write()) batch_get_ = store.batch_get(transaction);
  }

  // For the keys: at most kMost, to be filled before look_up(), and to stay as long as its outcome is of use.
  std::span<Bytes> room() noexcept { return keys_; }
  // Of the first `count` keys; one without data() has to be looked up by itself.
  std::span<const Bytes> look_up(size_t count) noexcept {
    const auto records = std::span(records_).first(count);
    batch_get_.find(std::span(keys_).first(count), records);
    return records;
  }

 private:
  BatchGet batch_get_;
  std::array<Bytes, kMost> keys_, records_;
};

// So few are looked up as fast one by one.
constexpr size_t kFewItems = 3;

// Whether an entry's item is one of the partition, and there still.
Result<bool> leads_to_wanted(const IndexEntry& entry, const EntryWalk& walk,
                             const PartitionFilter& partition) {
  if (!partition.has_any() && !walk.has_expired_items()) return true;
  if (partition.has_any() && !partition.may_have(entry)) return false;
  QUIRE_ASSIGN(const sql::Value item, walk.visible_item_at(entry.item_key));
  return item.is_defined() && (!partition.has_any() || partition.has(item));
}

class EntryCursor final : public sql::IndexCursor {
 public:
  EntryCursor(const Transaction& transaction, ContainerStore& store, std::unique_ptr<EntryWalk> walk,
              PartitionFilter partition)
      : transaction_(transaction), store_(store), walk_(std::move(walk)), partition_(std::move(partition)) {}

  Result<size_t> next(std::span<sql::Value> items) override {
    size_t filled = 0;
    while (filled < items.size()) {
      QUIRE_ASSIGN(const size_t count, next_keys(items.size() - filled));
      if (count == 0) break;
      std::span<const Bytes> records;
      if (count > kFewItems) records = batch_->look_up(count);
      for (size_t i = 0; i < count; ++i) {
        const Bytes record = records.empty() ? Bytes() : records[i];
        const Lead lead = std::exchange(is_begun_, true) ? Lead() : walk_->lead();
        QUIRE_ASSIGN(items[filled], walk_->visible_item_at(key_at(i), record, lead));
        if (items[filled].is_undefined()) continue;
        if (!partition_.has_any() || partition_.has(items[filled])) ++filled;
      }
    }
    return filled;
  }

  Result<size_t> next_values(std::span<sql::Value> values, sql::Arena& arena) override {
    const size_t parts = walk_->shape().is_descending.size();
    size_t filled = 0;
    while ((filled + 1) * parts <= values.size()) {
      QUIRE_ASSIGN(const IndexEntry* const entry, next_entry());
      if (entry == nullptr) break;
      QUIRE_TRY(walk_->read_values(*entry, values.subspan(filled * parts, parts), arena));
      ++filled;
    }
    return filled;
  }

  Result<uint64_t> count(uint64_t most) override {
    if (!asks_items()) return count_entries(most);
    uint64_t count = 0;
    while (count < most) {
      QUIRE_ASSIGN(const IndexEntry* const entry, next_entry());
      if (entry == nullptr) break;
      ++count;
    }
    return count;
  }

  Result<uint64_t> count_entries(uint64_t most) override {
    uint64_t count = 0;
    while (count < most) {
      QUIRE_ASSIGN(const IndexEntry* const entry, walk_->next());
      if (entry == nullptr) break;
      ++count;
      QUIRE_ASSIGN(const uint64_t skipped, walk_->skip(most - count));
      count += skipped;
    }
    return count;
  }

  Result<void> skip_equal(size_t parts) override {
    walk_->skip_equal(parts);
    return {};
  }
  Result<uint64_t> skip(uint64_t most) override { return count(most); }
  // A writer may have made other indexes since.
  Result<bool> reopen(const sql::Access& access) override {
    if (transaction_.is_write() || access.kind != sql::Access::Kind::index) return false;
    partition_ = PartitionFilter(store_, access.partition_key);
    QUIRE_TRY(walk_->reopen(access.probes.front(), access.is_reverse, partition_.item_prefix()));
    batch_.reset();
    is_begun_ = false;
    return true;
  }

  // Whether an entry counts only if its item is one that is wanted.
  bool asks_items() const noexcept { return partition_.has_any() || walk_->has_expired_items(); }

 private:
  // Of the partition, and of an item that is there.
  Result<const IndexEntry*> next_entry() {
    for (;;) {
      QUIRE_ASSIGN(const IndexEntry* const entry, walk_->next());
      if (entry == nullptr) return entry;
      QUIRE_ASSIGN(const bool is_wanted, leads_to_wanted(*entry, *walk_, partition_));
      if (is_wanted) return entry;
    }
  }

  // Of the items that the next entries lead to.
  Result<size_t> next_keys(size_t most) {
    size_t count = 0;
    most = std::min(most, RecordBatch::kMost);
    while (count < most) {
      QUIRE_ASSIGN(const IndexEntry* const entry, walk_->next());
      if (entry == nullptr) break;
      if (partition_.has_any() && !partition_.may_have(*entry)) continue;
      if (count == kFewItems && batch_ == nullptr) {
        batch_ = std::make_unique<RecordBatch>(transaction_, store_);
        std::ranges::copy(few_, batch_->room().begin());
      }
      key_at(count++) = entry->item_key;
    }
    return count;
  }
  Bytes& key_at(size_t at) noexcept { return batch_ == nullptr ? few_[at] : batch_->room()[at]; }

  const Transaction& transaction_;
  ContainerStore& store_;
  std::unique_ptr<EntryWalk> walk_;
  PartitionFilter partition_;
  bool is_begun_ = false;  // an item has been read
  // Keys of items: these, until there are more.
  std::array<Bytes, kFewItems> few_;
  std::unique_ptr<RecordBatch> batch_;
};

class KeyListCursor final : public sql::IndexCursor {
 public:
  // `walk`: that has found the keys, if the values of its entries are asked for rather than items.
  KeyListCursor(const Transaction& transaction, ContainerStore& store, const Lifetime& lifetime,
                std::shared_ptr<const KeyList> keys, PartitionFilter partition,
                std::unique_ptr<EntryWalk> walk = nullptr)
      : transaction_(transaction),
        store_(store),
        lifetime_(lifetime),
        keys_(std::move(keys)),
        partition_(std::move(partition)),
        walk_(std::move(walk)) {}

  Result<size_t> next(std::span<sql::Value> items) override {
    size_t filled = 0;
    while (filled < items.size() && next_ < keys_->size()) {
      if (next_ == looked_up_) look_up_next(items.size() - filled);
      const Bytes record = records_.empty() ? Bytes() : records_[next_ - first_];
      sql::Value& item = items[filled];
      QUIRE_TRY(store_.read_item(transaction_, (*keys_)[next_], record, item));
      ++next_;
      if (item.is_undefined())
        return fail(ErrorCode::corrupt,
                    fmt::format("an index of container '{}' leads to an item that is not there",
                                store_.definition().name));
      if (lifetime_.is_on() && lifetime_.has_ended(header_of(item), transaction_.now())) continue;
      if (!partition_.has_any() || partition_.has(item)) ++filled;
    }
    return filled;
  }
  Result<size_t> next_values(std::span<sql::Value> values, sql::Arena& arena) override {
    const size_t parts = walk_->shape().is_descending.size();
    size_t filled = 0;
    for (; (filled + 1) * parts <= values.size() && next_ < keys_->size(); ++next_) {
      const IndexEntry entry = keys_->entry(next_);
      QUIRE_ASSIGN(const bool is_wanted, leads_to_wanted(entry, *walk_, partition_));
      if (!is_wanted) continue;
      QUIRE_TRY(walk_->read_values(entry, values.subspan(filled * parts, parts), arena));
      ++filled;
    }
    return filled;
  }
  Result<uint64_t> count(uint64_t most) override {
    if (!asks_items()) return skip(most);
    uint64_t count = 0;
    for (; count < most && next_ < keys_->size(); ++next_) {
      QUIRE_ASSIGN(const bool is_wanted, leads_to_wanted(keys_->entry(next_), *walk_, partition_));
      if (is_wanted) ++count;
    }
    return count;
  }
  std::optional<uint64_t> most_left() const override { return keys_->size() - next_; }
  Result<uint64_t> skip(uint64_t most) override {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(most, keys_->size() - next_));
    next_ += count;
    looked_up_ = next_;
    return count;
  }

  // Whether a key counts only if its item is one that is wanted.
  bool asks_items() const noexcept { return partition_.has_any() || lifetime_.is_on(); }
  const std::shared_ptr<const KeyList>& keys() const noexcept { return keys_; }

 private:
  void look_up_next(size_t most) {
    const size_t count = std::min({most, RecordBatch::kMost, keys_->size() - next_});
    first_ = next_;
    looked_up_ = next_ + count;
    records_ = {};
    if (count <= kFewItems) return;
    if (batch_ == nullptr) batch_ = std::make_unique<RecordBatch>(transaction_, store_);
    for (size_t i = 0; i < count; ++i) batch_->room()[i] = (*keys_)[next_ + i];
    records_ = batch_->look_up(count);
  }

  const Transaction& transaction_;
  ContainerStore& store_;
  Lifetime lifetime_;
  std::shared_ptr<const KeyList> keys_;
  size_t next_ = 0;
  // Which have had their turn, and the records of those that were looked up together.
  size_t first_ = 0, looked_up_ = 0;
  std::span<const Bytes> records_;
  std::unique_ptr<RecordBatch> batch_;
  PartitionFilter partition_;
  std::unique_ptr<EntryWalk> walk_;  // null: items are asked for
};

constexpr uint64_t kEntriesBetweenChecks = 4096;

// Keys lie in pages, which a snapshot keeps as they are; those of ids that are asked for do not.
KeyList no_keys(const Transaction& transaction, KeyRooms& rooms, const sql::Access& access) {
  const bool has_ids =
      std::ranges::find(access.probes, sql::kIdIndex, &sql::IndexProbe::index) != access.probes.end();
  return {!transaction.is_write() && !has_ids, rooms, access.memory};
}

// Passes over entries with the values of one that was noted. A hop over many costs as much as going past
// some.
class Repeats {
 public:
  bool has(const IndexEntry& entry, EntryWalk& walk) {
    if (values_.empty() || entry.values != values_) return false;
    if (++passed_ % kBetweenHops == 0) walk.skip_equal(walk.shape().is_descending.size());
    return true;
  }
  // Of values that are cut nothing tells that they are equal.
  void note(const IndexEntry& entry) {
    values_ = entry.has_cut_values ? Bytes() : entry.values;
    passed_ = 0;
  }

 private:
  static constexpr uint64_t kBetweenHops = 8;
  std::string values_;
  uint64_t passed_ = 0;
};

Result<KeyList> keys_of(EntryWalk& walk, const PartitionFilter& partition, KeyList keys,
                        const sql::Access& access) {
  Repeats repeats;
  const auto add = [&](const IndexEntry& entry) {
    if (!partition.has_any() || partition.may_have(entry)) keys.add(entry);
  };
  for (uint64_t unchecked = 1;; ++unchecked) {
    QUIRE_ASSIGN(const IndexEntry* const entry, walk.next());
    if (entry == nullptr) break;
    if (unchecked >= kEntriesBetweenChecks && access.may_go_on != nullptr) {
      QUIRE_TRY((*access.may_go_on)());
      unchecked = 0;
    }
    if (!access.first_of_equal) {
      add(*entry);
      QUIRE_ASSIGN(const size_t near, walk.visit_near(add));
      unchecked += near;
    } else if (!repeats.has(*entry, walk)) {
      QUIRE_ASSIGN(const bool is_wanted, leads_to_wanted(*entry, walk, partition));
      if (!is_wanted) continue;
      repeats.note(*entry);
      add(*entry);
    }
    QUIRE_TRY(keys.count_memory());
  }
  keys.sort();
  return keys;
}

// Of the items that have the ids of a probe of these: within the partition, if there is one; else the id is
// the partition key, too.
Result<KeyList> keys_of_ids(const Transaction& transaction, ContainerStore& store,
                            const sql::IndexProbe& probe, std::span<const sql::Value> partition,
                            KeyList keys) {
  const auto& paths = store.definition().partition_key_paths;
  sql::Arena arena;
  for (const sql::KeyRange& range : probe.ranges) {
    const auto id = sql::decode_key(range.from, false, arena);
    if (!id || !id->is_string()) continue;
    const std::string_view text = id->as_string();
    const std::vector<sql::Value> same(paths.size(), *id);
    const std::span<const sql::Value> partition_key = partition.empty() ? same : partition;
    if (text.empty() || text.size() > kLongestItemId || !check_partition_key(partition_key, paths)) continue;
    QUIRE_ASSIGN(const std::optional<Item> item, store.read(transaction, partition_key, text));
    if (!item) continue;
    const ItemKey key(partition_key, text, store.hash());
    IndexEntry entry;
    entry.item_key = key.bytes();
    entry.has_cut_values = true;
    keys.add(entry);
    QUIRE_TRY(keys.count_memory());
  }
  keys.sort();
  return keys;
}

Result<std::unique_ptr<KeyListCursor>> open_key_list(const Transaction& transaction, ContainerStore& store,
                                                     KeyRooms& rooms, const sql::Access& access,
                                                     bool gives_values) {
  QUIRE_ASSIGN(const auto set, store.indexes().set(transaction));
  PartitionFilter partition(store, access.partition_key);
  KeyList found = no_keys(transaction, rooms, access);
  std::unique_ptr<EntryWalk> values;
  const auto keys_of_probe = [&](const sql::IndexProbe& probe) -> Result<KeyList> {
    KeyList keys = no_keys(transaction, rooms, access);
    if (probe.index == sql::kIdIndex)
      return keys_of_ids(transaction, store, probe, access.partition_key, std::move(keys));
    QUIRE_ASSIGN(auto walk, EntryWalk::open(transaction, store, set, probe, false, partition.item_prefix()));
    QUIRE_ASSIGN(keys, keys_of(*walk, partition, std::move(keys), access));
    if (gives_values) values = std::move(walk);
    return keys;
  };
  for (const sql::IndexProbe& probe : access.probes) {
    QUIRE_ASSIGN(KeyList keys, keys_of_probe(probe));
    if (&probe == &access.probes.front()) {
      found = std::move(keys);
    } else if (access.kind == sql::Access::Kind::all_index) {
      found.intersect(keys);
    } else {
      found.add(keys);
      QUIRE_TRY(found.count_memory());
    }
  }
  if (access.kind == sql::Access::Kind::any_index && access.probes.size() > 1) found.sort();
  QUIRE_ASSIGN(const Lifetime lifetime, store.lifetime_in_scan(transaction));
  return std::make_unique<KeyListCursor>(transaction, store, lifetime,
                                         std::make_shared<const KeyList>(std::move(found)),
                                         std::move(partition), std::move(values));
}

}  // namespace

Result<std::unique_ptr<sql::Cursor>> open_index_access(const Transaction& transaction, ContainerStore& store,
                                                       KeyRooms& rooms, const sql::Access& access) {
  if (access.kind == sql::Access::Kind::index) return open_index_cursor(transaction, store, rooms, access);
  return open_key_list(transaction, store, rooms, access, false);
}

Result<std::unique_ptr<sql::Cursor>> open_index_access_beside(const sql::Cursor& other,
                                                              const Transaction& transaction,
                                                              ContainerStore& store, KeyRooms& rooms,
                                                              const sql::Access& access) {
  if (const auto* const entries = dynamic_cast<const EntryCursor*>(&other)) {
    if (entries->asks_items()) return nullptr;
    return open_index_access(transaction, store, rooms, access);
  }
  const auto* const list = dynamic_cast<const KeyListCursor*>(&other);
  if (list == nullptr || list->asks_items()) return nullptr;
  QUIRE_ASSIGN(const Lifetime lifetime, store.lifetime_in_scan(transaction));
  return std::make_unique<KeyListCursor>(transaction, store, lifetime, list->keys(),
                                         PartitionFilter(store, access.partition_key));
}

Result<std::unique_ptr<sql::IndexCursor>> open_index_cursor(const Transaction& transaction,
                                                            ContainerStore& store, KeyRooms& rooms,
                                                            const sql::Access& access) {
  if (access.kind != sql::Access::Kind::index) return open_key_list(transaction, store, rooms, access, true);
  QUIRE_ASSIGN(auto set, store.indexes().set(transaction));
  PartitionFilter partition(store, access.partition_key);
  QUIRE_ASSIGN(auto walk, EntryWalk::open(transaction, store, std::move(set), access.probes.front(),
                                          access.is_reverse, partition.item_prefix()));
  return std::make_unique<EntryCursor>(transaction, store, std::move(walk), std::move(partition));
}

}  // namespace quire::engine
