#include "engine/maintenance/index_check.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "sql/value/document.h"

namespace quire::engine {
namespace {

std::string repair_of(const Index& index, std::string_view container) {
  if (index.is_of_policy)
    return fmt::format(
        "ALTER CONTAINER {0} WITH {{indexingPolicy: {{indexingMode: 'none'}}}}, then again with the policy "
        "that it has",
        container);
  if (index.is_of_expiry)
    return fmt::format("ALTER CONTAINER {} WITH {{defaultTtl: null}}, then again with the value that it has",
                       container);
  if (index.unique == UniqueScope::partition || index.name.starts_with("composite"))
    return "make the container anew: .export it, drop it, and .import it";
  return fmt::format("DROP INDEX {0} ON {1}, then make it again", index.name, container);
}

}  // namespace

void IndexCheck::EntrySum::add(Bytes key, Bytes record) noexcept {
  const uint64_t seed = record.empty() ? 0 : XXH3_64bits(record.data(), record.size());
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  low += hash.low64;
  high += hash.high64;
  ++entries;
  cut_entries += cuts_of(record);
}

IndexCheck::EntrySum& IndexCheck::sum(std::vector<EntrySum>& sums, IndexNumber number) {
  const auto at = static_cast<size_t>(number);
  if (sums.size() <= at) sums.resize(at + 1);
  return sums[at];
}

void IndexCheck::add(const Index& index, std::string where, std::string what) {
  const std::string& container = store_.definition().name;
  if (!where.empty()) where = ", " + where;
  report_.add({container, fmt::format("index '{}'{}", index.name, where), std::move(what),
               repair_of(index, container)});
}

std::string IndexCheck::item_text(Bytes item_key) const {
  return fmt::format("item '{}'", printable(id_of_key(item_key, store_.components())));
}

// ---- What there should be

Result<void> IndexCheck::begin() {
  QUIRE_ASSIGN(set_, load_index_set(snapshot_, store_.indexes().table()));
  check_definition();
  if (set_.is_empty()) return {};
  extractor_ =
      std::make_unique<EntryExtractor>(set_, store_.dictionary().number(), store_.indexes().scope_bytes());
  return {};
}

void IndexCheck::check_definition() {
  const std::string& name = store_.definition().name;
  const auto wanted = indexes_of(store_.definition());
  if (!wanted) return;  // the definition was checked when it was read
  for (const Index& index : *wanted) {
    const bool is_there =
        std::ranges::any_of(set_.indexes, [&](const Index& other) { return other.is_same(index); });
    if (!is_there)
      report_.add({name, fmt::format("index '{}'", index.name),
                   "the container's definition has it, the list of its indexes does not",
                   repair_of(index, name)});
  }
}

Result<IndexNumber> IndexCheck::note_missing_path(std::span<const sql::IndexStep> path) {
  const bool has_room =
      set_.next_number != UINT16_MAX && std::ranges::count(set_.indexes, true, &Index::is_of_policy) <
                                            static_cast<ptrdiff_t>(kMostPolicyIndexes);
  if (path.empty() || !has_room || set_.is_policy_building) return IndexNumber::none;
  Index missing;
  missing.is_of_policy = true;
  missing.name = index_path_text(path);
  add(missing, "", "items have values there and the indexing policy covers it, but it is not indexed");
  return IndexNumber::none;
}

Result<void> IndexCheck::extract(const sql::Value& root, Bytes item_key) {
  entries_.clear();
  extractor_->add_explicit(root, item_key, IndexSelection::all, entries_);
  for (const Index& index : set_.indexes)
    if (index.is_of_expiry) add_expiry_entry(index.number, header_of(root), item_key, entries_);
  QUIRE_TRY(extractor_->add_covered(
      root, item_key, IndexSelection::all,
      [this](std::span<const sql::IndexStep> path) { return note_missing_path(path); }, entries_));
  entries_.sort();
  return {};
}

Result<void> IndexCheck::add_item(const sql::Value& root, Bytes item_key) {
  if (extractor_ == nullptr) return {};
  QUIRE_TRY(extract(root, item_key));
  for (size_t i = 0; i < entries_.size(); ++i)
    sum(asked_, entries_.number(i)).add(entries_.key(i), entries_.record(i));
  return {};
}

// ---- What there is

Result<void> IndexCheck::finish() {
  QUIRE_TRY(sum_entries());
  QUIRE_TRY(check_counters());
  return compare();
}

Result<void> IndexCheck::sum_entries() {
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot_, store_.indexes().table()));
  std::string first;
  append_index_number(IndexNumber{1}, first);
  QUIRE_ASSIGN(bool is_there, cursor.seek(first));
  const Index* index = nullptr;
  while (is_there) {
    const IndexNumber number = index_number_of(cursor.key());
    if (index == nullptr || index->number != number) index = set_.find(number);
    sum(found_, number).add(cursor.key(), cursor.record());
    ++report_.entries;
    if (index != nullptr && index->unique != UniqueScope::none)
      QUIRE_TRY(check_unique(*index, cursor.key(), cursor.record()));
    QUIRE_TRY(work_.advance(1));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return {};
}

// Entries that agree stand beside each other. Items that have expired may agree with others.
Result<void> IndexCheck::check_unique(const Index& index, Bytes key, Bytes record) {
  const IndexShape shape = shape_of(index, store_.indexes().scope_bytes());
  const auto entry = parse_index_entry(key, record, shape);
  if (!entry || (index.unique == UniqueScope::container && are_all_undefined(*entry, shape))) return {};
  QUIRE_ASSIGN(const bool has_expired, store_.has_expired(snapshot_, entry->item_key));
  if (has_expired) return {};
  const Bytes prefix = key.substr(0, kIndexNumberBytes + entry->scope.size() + entry->values.size());
  if (prefix == last_prefix_)
    report_.add({store_.definition().name, item_text(entry->item_key),
                 fmt::format("another item has its values of {}", index.name),
                 "change or delete one of the two"});
  last_prefix_ = prefix;
  return {};
}

Result<void> IndexCheck::check_counters() {
  IndexCounterBlocks blocks;
  for (const Index& index : set_.indexes) {
    QUIRE_ASSIGN(const IndexCounters counters,
                 blocks.read(snapshot_, store_.indexes().table(), index.number));
    const EntrySum& found = sum(found_, index.number);
    // Cut keys of items were not counted at first.
    const uint64_t cut = counters.cut_entries % kOneCutItemKey,
                   found_cut = found.cut_entries % kOneCutItemKey;
    const uint64_t cut_keys = counters.cut_entries / kOneCutItemKey,
                   found_cut_keys = found.cut_entries / kOneCutItemKey;
    if (counters.entries != found.entries || cut != found_cut || cut_keys > found_cut_keys)
      add(index, "",
          fmt::format("its counters say {} entries, {} of them cut; there are {} and {}", counters.entries,
                      cut + cut_keys, found.entries, found_cut + found_cut_keys));
  }
  return {};
}

// ---- Both, compared

Result<void> IndexCheck::compare() {
  bool do_all_agree = true;
  const size_t numbers = std::max(asked_.size(), found_.size());
  differs_.assign(numbers, false);
  for (size_t number = 1; number < numbers; ++number) {
    const Index* const index = set_.find(static_cast<IndexNumber>(number));
    const EntrySum& found = sum(found_, static_cast<IndexNumber>(number));
    if (index == nullptr && found.entries > 0)
      report_.add({store_.definition().name, fmt::format("index number {}", number),
                   fmt::format("it has {} entries, but there is no such index", found.entries),
                   "nothing has to be done: nobody reads them"});
    // An index that is being built is not read yet.
    if (index == nullptr || index->is_building) continue;
    differs_[number] = sum(asked_, static_cast<IndexNumber>(number)) != found;
    do_all_agree = do_all_agree && !differs_[number];
  }
  if (do_all_agree) return {};
  QUIRE_TRY(look_for_entries());
  for (const Index& index : set_.indexes)
    if (differs_[static_cast<size_t>(index.number)]) QUIRE_TRY(look_for_items(index));
  return {};
}

// Undefined for an item that is reported by itself.
sql::Value IndexCheck::sound_root(Bytes record) const {
  const sql::Value root = store_.root_of(record);
  if (root.is_undefined()) return root;
  const Bytes document = document_of(record);
  return sql::validate_document(std::as_bytes(std::span(document)), store_.dictionary()) ? root
                                                                                         : sql::Value();
}

Result<void> IndexCheck::look_for_entries() {
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot_, store_.items_table()));
  for (;;) {
    QUIRE_ASSIGN(const bool is_there, cursor.next());
    if (!is_there) return {};
    const sql::Value root = sound_root(cursor.record());
    if (root.is_undefined()) continue;
    QUIRE_TRY(extract(root, cursor.key()));
    for (size_t i = 0; i < entries_.size(); ++i) {
      const IndexNumber number = entries_.number(i);
      if (!differs_[static_cast<size_t>(number)]) continue;
      QUIRE_ASSIGN(const auto record, snapshot_.get(store_.indexes().table(), entries_.key(i)));
      if (!record) add(*set_.find(number), item_text(cursor.key()), "the item's entry is missing");
    }
    QUIRE_TRY(work_.advance(0));
  }
}

Result<void> IndexCheck::look_for_items(const Index& index) {
  const IndexShape shape = shape_of(index, store_.indexes().scope_bytes());
  std::string prefix;
  append_index_number(index.number, prefix);
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot_, store_.indexes().table()));
  QUIRE_ASSIGN(bool is_there, cursor.seek(prefix));
  for (; is_there && cursor.key().starts_with(prefix);) {
    const auto entry = parse_index_entry(cursor.key(), cursor.record(), shape);
    if (!entry) {
      add(index, printable(cursor.key()), "the entry is damaged");
    } else {
      QUIRE_ASSIGN(std::string fault, fault_of(cursor.key(), cursor.record(), *entry));
      if (!fault.empty()) add(index, item_text(entry->item_key), std::move(fault));
    }
    QUIRE_TRY(work_.advance(0));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return {};
}

Result<std::string> IndexCheck::fault_of(Bytes key, Bytes record, const IndexEntry& entry) {
  if (entry.item_key.empty() || entry.item_key.size() > kLongestTableKey) return "the entry is damaged";
  QUIRE_ASSIGN(const auto item, snapshot_.get(store_.items_table(), entry.item_key));
  if (!item) return "an entry leads to the item, which is not there";
  const sql::Value root = sound_root(*item);
  if (root.is_undefined()) return std::string();
  QUIRE_TRY(extract(root, entry.item_key));
  for (size_t i = 0; i < entries_.size(); ++i)
    if (entries_.key(i) == key)
      return entries_.record(i) == record ? std::string() : "the record of the item's entry is damaged";
  return "there is an entry for a value that the item does not have";
}

}  // namespace quire::engine
