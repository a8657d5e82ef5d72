#include "engine/container/container_indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/container/item_key.h"

namespace quire::engine {
namespace {

constexpr std::string_view kMember = "indexes";  // of a definition

std::string paths_text(const Index& index) {
  std::string text;
  for (const sql::IndexPart& part : index.parts) {
    if (!text.empty()) text += ", ";
    text += index_path_text(part.path);
    if (part.is_descending) text += " DESC";
  }
  return text;
}

const std::string* property(const ContainerDefinition& definition, std::string_view name) {
  for (const auto& [property, json] : definition.other_properties)
    if (property == name && json != "null") return &json;
  return nullptr;
}

}  // namespace

Result<std::vector<Index>> indexes_of(const ContainerDefinition& definition) {
  std::vector<Index> indexes;
  if (const std::string* json = property(definition, "indexingPolicy")) {
    QUIRE_ASSIGN(const IndexingPolicy policy, IndexingPolicy::from_json(*json));
    for (const auto& parts : policy.composites) {
      if (policy.is_none) break;
      Index& index = indexes.emplace_back();
      index.parts = parts;
      index.name = fmt::format("composite ({})", paths_text(index));
    }
  }
  if (const std::string* json = property(definition, "uniqueKeyPolicy")) {
    QUIRE_ASSIGN(const auto keys, unique_keys_from_json(*json));
    for (const auto& parts : keys) {
      Index& index = indexes.emplace_back();
      index.parts = parts;
      index.unique = UniqueScope::partition;
      index.name = fmt::format("unique key ({})", paths_text(index));
    }
  }
  if (const std::string* json = property(definition, "indexes")) {
    QUIRE_ASSIGN(const std::vector<NamedIndex> named, named_indexes_from_json(*json));
    for (const NamedIndex& from : named) {
      Index& index = indexes.emplace_back();
      index.name = from.name;
      index.parts = from.parts;
      index.condition = from.condition;
      index.unique = from.is_unique ? UniqueScope::container : UniqueScope::none;
      if (index.is_multi_valued()) index.holds = sql::IndexHolds::defined;
    }
  }
  QUIRE_ASSIGN(const int64_t default_ttl, default_ttl_of(definition));
  if (default_ttl != 0) indexes.push_back(expiry_index());
  return indexes;
}

Result<std::optional<std::pair<IndexingPolicy, std::string>>> policy_of(
    const ContainerDefinition& definition) {
  const std::string* const json = property(definition, "indexingPolicy");
  if (json == nullptr) return std::nullopt;
  QUIRE_ASSIGN(IndexingPolicy policy, IndexingPolicy::from_json(*json));
  if (policy.is_none || policy.included.empty()) return std::nullopt;
  std::string text = *json;
  if (policy.has_tuple_of_paths) text += kTuplesAreRead;
  return std::pair(std::move(policy), std::move(text));
}

Result<std::vector<NamedIndex>> named_indexes_of(const ContainerDefinition& definition) {
  for (const auto& [name, json] : definition.other_properties)
    if (name == kMember) return named_indexes_from_json(json);
  return std::vector<NamedIndex>();
}

Result<void> set_named_indexes(ContainerDefinition& definition, std::span<const NamedIndex> indexes) {
  std::string json = named_indexes_to_json(indexes);
  if (auto checked = named_indexes_from_json(json); !checked) return std::unexpected(checked.error());
  const auto found =
      std::ranges::find(definition.other_properties, kMember, [](const auto& p) { return p.first; });
  if (indexes.empty()) {
    if (found != definition.other_properties.end()) definition.other_properties.erase(found);
  } else if (found != definition.other_properties.end()) {
    found->second = std::move(json);
  } else {
    definition.other_properties.emplace_back(kMember, std::move(json));
  }
  return {};
}

IndexShape shape_of(const Index& index, size_t scope_bytes) {
  IndexShape shape;
  if (index.unique == UniqueScope::partition) shape.scope_bytes = scope_bytes;
  for (const sql::IndexPart& part : index.parts) shape.is_descending.add(part.is_descending);
  return shape;
}

// ---- The set

Result<std::shared_ptr<const IndexSet>> ContainerIndexes::set(const Transaction& transaction) {
  const bool is_write = transaction.is_write();
  if (!is_write) {
    const std::lock_guard lock(mutex_);
    if (last_ != nullptr && last_commit_ == transaction.number()) return last_;
  }
  QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, table_));
  {
    const std::lock_guard lock(mutex_);
    if (last_ != nullptr && last_->version == version) {
      if (!is_write) last_commit_ = transaction.number();
      return last_;
    }
  }
  QUIRE_ASSIGN(auto set, load(transaction));
  if (is_write) return set;  // its version may yet be undone
  const std::lock_guard lock(mutex_);
  last_ = set;
  last_commit_ = transaction.number();
  return set;
}

Result<std::shared_ptr<const IndexSet>> ContainerIndexes::load(const Transaction& transaction) const {
  QUIRE_ASSIGN(IndexSet loaded, load_index_set(transaction, table_));
  return std::make_shared<const IndexSet>(std::move(loaded));
}

Result<std::optional<ContainerIndexes::Expiry>> ContainerIndexes::expiry(const Transaction& transaction) {
  const auto find = [](const IndexSet& set) -> std::optional<Expiry> {
    const auto index = std::ranges::find(set.indexes, true, &Index::is_of_expiry);
    if (index == set.indexes.end()) return std::nullopt;
    return Expiry{index->number, index->is_building};
  };
  if (transaction.is_write() && *writer_ != nullptr) {
    QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, table_));
    if (held().set.version == version) return find(held().set);
  }
  QUIRE_ASSIGN(const auto set, this->set(transaction));
  return find(*set);
}

Result<ContainerIndexes::Writer*> ContainerIndexes::writer(WriteTransaction& transaction) {
  // Within a request the set changes here alone: it is looked at once.
  constexpr uint64_t kNone = UINT64_MAX;
  uint64_t& seen = transaction.mark(table_);
  if (seen == kNone) return nullptr;
  if (*writer_ == nullptr || held().set.version != seen) {
    QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, table_));
    if (version == 0) {
      seen = kNone;
      return nullptr;
    }
    if (*writer_ == nullptr || held().set.version != version) {
      auto made = std::make_unique<Writer>();
      QUIRE_ASSIGN(made->set, load_index_set(transaction, table_));
      made->extractor = std::make_unique<EntryExtractor>(made->set, dictionary_, scope_bytes_);
      *writer_ = std::move(made);
      forget_if_undone(transaction);  // what another store has changed in it may yet be taken back
    }
    seen = version;
  }
  return held().set.is_empty() ? nullptr : writer_->get();
}

Result<IndexSet*> ContainerIndexes::writable_set(WriteTransaction& transaction) {
  auto made = std::make_unique<Writer>();
  QUIRE_ASSIGN(made->set, load_index_set(transaction, table_));
  // Who asks may find that there is nothing to change, and the writer is used as it is.
  made->extractor = std::make_unique<EntryExtractor>(made->set, dictionary_, scope_bytes_);
  *writer_ = std::move(made);
  forget_if_undone(transaction);  // also where it fails before set_changed()
  return &held().set;
}

Result<void> ContainerIndexes::set_changed(WriteTransaction& transaction) {
  renew_index_version(held().set);
  transaction.mark(table_) = held().set.version;
  held().extractor = std::make_unique<EntryExtractor>(held().set, dictionary_, scope_bytes_);
  return save_index_header(transaction, table_, held().set);
}

void ContainerIndexes::forget_if_undone(WriteTransaction& transaction) {
  transaction.on_rollback([writer = writer_] { writer->reset(); });
}

// ---- New paths

Result<IndexNumber> ContainerIndexes::allot(WriteTransaction& transaction,
                                            std::span<const sql::IndexStep> path) {
  IndexSet& set = held().set;
  const bool is_full =
      set.next_number == UINT16_MAX || std::ranges::count(set.indexes, true, &Index::is_of_policy) >=
                                           static_cast<ptrdiff_t>(kMostPolicyIndexes);
  if (is_full) return IndexNumber::none;
  forget_if_undone(transaction);
  // Another store of the container may write next in this request: it must see that the set has changed.
  renew_index_version(set);
  transaction.mark(table_) = set.version;
  if (path.empty()) {
    set.next_number = UINT16_MAX;
    QUIRE_TRY(save_index_header(transaction, table_, set));
    return IndexNumber::none;
  }
  Index& index = set.indexes.emplace_back();
  index.number = IndexNumber{set.next_number++};
  index.name = index_path_text(path);
  index.parts.push_back({{path.begin(), path.end()}, false});
  index.holds = sql::IndexHolds::scalars;
  index.is_of_policy = true;
  index.is_building = set.is_policy_building;
  QUIRE_TRY(save_index(transaction, table_, index));
  QUIRE_TRY(save_index_header(transaction, table_, set));
  return index.number;
}

EntryExtractor::Allot ContainerIndexes::allotter(WriteTransaction& transaction) {
  return [this, &transaction](std::span<const sql::IndexStep> path) { return allot(transaction, path); };
}

// ---- Unique keys

Result<void> ContainerIndexes::check_unique(WriteTransaction& transaction, FileCursor& cursor,
                                            const Index& index, Bytes key, Bytes record, Bytes item_key) {
  const IndexShape shape = shape_of(index, scope_bytes_);
  const auto entry = parse_index_entry(key, record, shape);
  if (!entry) return fail(ErrorCode::internal, "an index entry cannot be read back");
  if (index.unique == UniqueScope::container && are_all_undefined(*entry, shape)) return {};
  const Bytes prefix = key.substr(0, kIndexNumberBytes + entry->scope.size() + entry->values.size());
  QUIRE_ASSIGN(bool is_there, cursor.seek(prefix));
  for (; is_there && cursor.key().starts_with(prefix);) {
    const auto other = parse_index_entry(cursor.key(), cursor.record(), shape);
    if (!other) return fail(ErrorCode::corrupt, fmt::format("index '{}' is damaged", index.name));
    bool is_another = other->item_key != item_key;
    if (is_another) {
      QUIRE_ASSIGN(const bool has_expired, has_expired_(transaction, other->item_key));
      is_another = !has_expired;
    }
    if (is_another) {
      const size_t epk_bytes = std::min(scope_bytes_, other->item_key.size());
      const std::string what =
          index.unique == UniqueScope::container ? fmt::format("unique index '{}'", index.name) : index.name;
      return fail(ErrorCode::conflict,
                  fmt::format("{} is taken: items '{}' and '{}' have the same value of {}", what,
                              other->item_key.substr(epk_bytes),
                              item_key.substr(std::min(scope_bytes_, item_key.size())), paths_text(index)));
    }
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return {};
}

Result<void> ContainerIndexes::check_unique(WriteTransaction& transaction, const EntryList& entries,
                                            Bytes item_key) {
  std::optional<FileCursor> cursor;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Index* const index = held().set.find(entries.number(i));
    if (index == nullptr || index->unique == UniqueScope::none) continue;
    if (!cursor) {
      QUIRE_ASSIGN(FileCursor opened, FileCursor::open(transaction, table_));
      cursor = std::move(opened);
    }
    QUIRE_TRY(check_unique(transaction, *cursor, *index, entries.key(i), entries.record(i), item_key));
  }
  return {};
}

// ---- Items

void ContainerIndexes::add_expiry(const Writer& writer, const RecordHeader& header, Bytes item_key,
                                  IndexSelection selection, EntryList& entries) const {
  const auto index = std::ranges::find(writer.set.indexes, true, &Index::is_of_expiry);
  if (index == writer.set.indexes.end() || selection == IndexSelection::unique) return;
  if (selection == IndexSelection::building && !index->is_building) return;
  add_expiry_entry(index->number, header, item_key, entries);
}

Result<void> ContainerIndexes::prepare(WriteTransaction& transaction, const ItemChange& change) {
  const auto& [old_root, new_root, new_header, item_key, selection] = change;
  QUIRE_ASSIGN(Writer* const writer, this->writer(transaction));
  if (writer == nullptr) return {};
  writer->old_entries.clear();
  writer->new_entries.clear();
  EntryExtractor& extractor = *writer->extractor;
  const EntryExtractor::Allot allot = allotter(transaction);
  // The old item first: a number for a new path is written, which may end the old item's bytes.
  if (old_root.is_defined()) {
    extractor.add_explicit(old_root, item_key, selection, writer->old_entries);
    add_expiry(*writer, header_of(old_root), item_key, selection, writer->old_entries);
    QUIRE_TRY(extractor.add_covered(old_root, item_key, selection, allot, writer->old_entries));
  }
  if (new_root.is_defined()) {
    extractor.add_explicit(new_root, item_key, selection, writer->new_entries);
    if (extractor.has_unique()) QUIRE_TRY(check_unique(transaction, writer->new_entries, item_key));
    add_expiry(*writer, new_header, item_key, selection, writer->new_entries);
    QUIRE_TRY(extractor.add_covered(new_root, item_key, selection, allot, writer->new_entries));
  }
  writer->new_entries.sort();
  writer->old_entries.sort();
  // An item that is replaced keeps most of its entries: nothing is put for these.
  if (old_root.is_undefined())
    for (size_t i = 0; i < writer->new_entries.size(); ++i)
      transaction.ask_for(table_, writer->new_entries.key(i));
  return {};
}

Result<uint64_t> ContainerIndexes::apply(WriteTransaction& transaction) {
  if (*writer_ == nullptr) return uint64_t{0};
  const EntryList& before = held().old_entries;
  const EntryList& after = held().new_entries;
  IndexCounterBlocks& counters = held().counters;
  counters.clear();
  uint64_t changed = 0;
  size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    const int order = i == before.size() ? 1 : j == after.size() ? -1 : before.key(i).compare(after.key(j));
    if (order < 0) {
      QUIRE_ASSIGN(const bool was_there, transaction.erase(table_, before.key(i)));
      if (was_there) QUIRE_TRY(counters.remove(transaction, table_, before.number(i), before.record(i)));
    } else if (order > 0) {
      // Nothing but this item has the key, and before it had not: so nobody looks whether it is there.
      QUIRE_TRY(transaction.put(table_, after.key(j), after.record(j)));
      QUIRE_TRY(counters.add(transaction, table_, after.number(j), after.record(j)));
    }
    changed += order != 0 ? 1 : 0;
    i += order <= 0 ? 1 : 0;
    j += order >= 0 ? 1 : 0;
  }
  held().old_entries.clear();
  held().new_entries.clear();
  QUIRE_TRY(counters.save(transaction, table_));
  return changed;
}

// ---- Building

Result<void> ContainerIndexes::allot_paths(WriteTransaction& transaction, const sql::Value& root) {
  QUIRE_ASSIGN(Writer* const writer, this->writer(transaction));
  if (writer == nullptr) return {};
  EntryList none;
  return writer->extractor->add_covered(root, {}, IndexSelection::none, allotter(transaction), none);
}

Result<void> ContainerIndexes::allot_paths(WriteTransaction& transaction,
                                           std::span<const std::vector<sql::IndexStep>> paths) {
  QUIRE_ASSIGN(Writer* const writer, this->writer(transaction));
  if (writer == nullptr) return {};
  for (const std::vector<sql::IndexStep>& path : paths) {
    const auto allotted = allot(transaction, path);
    if (!allotted) return std::unexpected(allotted.error());
  }
  writer->extractor = std::make_unique<EntryExtractor>(writer->set, dictionary_, scope_bytes_);
  return {};
}

Result<void> ContainerIndexes::add_building_entries(WriteTransaction& transaction, const sql::Value& root,
                                                    Bytes item_key, EntryList& entries) {
  QUIRE_ASSIGN(Writer* const writer, this->writer(transaction));
  if (writer == nullptr) return {};
  writer->extractor->add_explicit(root, item_key, IndexSelection::building, entries);
  add_expiry(*writer, header_of(root), item_key, IndexSelection::building, entries);
  return writer->extractor->add_covered(root, item_key, IndexSelection::building, allotter(transaction),
                                        entries);
}

Result<void> ContainerIndexes::insert(WriteTransaction& transaction, const EntryList& sorted, size_t from,
                                      size_t to) {
  QUIRE_ASSIGN(Writer* const writer, this->writer(transaction));
  if (writer == nullptr) return {};
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table_));
  QUIRE_ASSIGN(const bool has_entries, cursor.last());
  const std::string last(has_entries ? cursor.key() : Bytes());
  IndexCounterBlocks& counters = writer->counters;
  counters.clear();
  const Index* index = nullptr;
  bool is_last = false;  // so are all after the first
  for (size_t i = from; i < to; ++i) {
    sorted.ask_ahead(i);
    const Bytes key = sorted.key(i), record = sorted.record(i);
    if (index == nullptr || index->number != sorted.number(i)) index = held().set.find(sorted.number(i));
    if (index != nullptr && index->unique != UniqueScope::none) {
      QUIRE_ASSIGN(FileCursor look, FileCursor::open(transaction, table_));
      const auto entry = parse_index_entry(key, record, shape_of(*index, scope_bytes_));
      if (entry) QUIRE_TRY(check_unique(transaction, look, *index, key, record, entry->item_key));
    }
    is_last = is_last || key > Bytes(last);
    if (is_last) {
      QUIRE_ASSIGN(const std::span<char> place, transaction.reserve_append(cursor, key, record.size()));
      if (place.data() == nullptr) return fail(ErrorCode::internal, "an index entry is out of order");
      std::ranges::copy(record, place.data());
    } else {
      QUIRE_ASSIGN(const bool is_new, transaction.put_new(table_, key, record));
      if (!is_new) continue;
    }
    QUIRE_TRY(counters.add(transaction, table_, sorted.number(i), record));
  }
  return counters.save(transaction, table_);
}

}  // namespace quire::engine
