#include "engine/maintenance/lost_container.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "engine/file/format_upgrades.h"
#include "sql/value/document.h"

namespace quire::engine {

// ---- The catalog

namespace {

// Of "c7/items": 7.
std::optional<ContainerNumber> container_of(std::string_view table) {
  uint32_t number = 0;
  if (!table.starts_with('c')) return std::nullopt;
  const auto [end, failure] = std::from_chars(table.data() + 1, table.data() + table.size(), number);
  if (failure != std::errc() || end == table.data() + table.size() || *end != '/') return std::nullopt;
  return ContainerNumber{number};
}

class CatalogReader {
 public:
  explicit CatalogReader(const std::vector<std::string>& tables) {
    for (const std::string& table : tables)
      if (const auto number = container_of(table)) numbers_.insert(*number);
  }

  // The first row found for a container or a script counts: that of the table, before strays.
  Result<void> take(const PageSalvage::Entry& entry) {
    found_.is_whole = found_.is_whole && entry.is_sound;
    if (!entry.is_sound || rows_.contains(entry.key)) return {};
    QUIRE_ASSIGN(auto row, sound(Catalog::read_row(entry.key, entry.record)));
    QUIRE_ASSIGN(auto script, sound(ScriptCatalog::read_row(entry.key, entry.record)));
    if (row) {
      if (numbers_.erase(row->number) == 0) return {};
      found_.containers.push_back(std::move(*row));
    } else if (script) {
      found_.scripts.push_back(std::move(*script));
    } else {
      return {};
    }
    rows_.emplace(entry.key);
    return {};
  }

  // `lost`: pages of the catalog. The tables of a container that was dropped stay until somebody opens the
  // file.
  LostCatalog finish(uint64_t lost) {
    found_.is_whole = found_.is_whole && lost == 0;
    if (!found_.is_whole) found_.nameless.assign(numbers_.begin(), numbers_.end());
    return std::move(found_);
  }

 private:
  // None where it is damaged; but what there was no memory to read is not damaged.
  template <typename Row>
  Result<std::optional<Row>> sound(Result<std::optional<Row>> row) {
    if (row || row.error().code == ErrorCode::out_of_memory) return row;
    found_.is_whole = false;
    return std::nullopt;
  }

  std::set<ContainerNumber> numbers_;  // of those whose row is yet to be found
  std::set<std::string, std::less<>> rows_;
  LostCatalog found_;
};

}  // namespace

Result<LostCatalog> read_lost_catalog(PageSalvage& salvage) {
  CatalogReader reader(salvage.tables());
  const auto take = [&](const PageSalvage::Entry& entry) { return reader.take(entry); };
  QUIRE_ASSIGN(const uint64_t lost, salvage.read_table(kCatalogTable, take));
  if (lost > 0) QUIRE_TRY(salvage.read_strays(take));
  return reader.finish(lost);
}

// ---- A container

Result<std::unique_ptr<LostContainer>> LostContainer::read(PageSalvage& salvage, CatalogEntry entry) {
  std::unique_ptr<LostContainer> container(new LostContainer(std::move(entry)));
  container->names_ = sql::KeyDictionary::create();
  if (!container->names_)
    return fail(ErrorCode::limit_exceeded, "this process has 65,535 containers open: too many");
  // The first names of every dictionary of the container.
  container->keys_ = std::make_unique<FixedKeys>(container->definition(), *container->names_);
  QUIRE_TRY(container->read_names(salvage));
  QUIRE_TRY(container->read_counters(salvage));
  return container;
}

// A name that is lost gets another one: items are read by the numbers of names.
Result<void> LostContainer::read_names(PageSalvage& salvage) {
  std::map<size_t, std::string> found;
  QUIRE_ASSIGN(const uint64_t lost,
               salvage.read_table(table(kKeysTable), [&](const PageSalvage::Entry& entry) -> Result<void> {
                 const Bytes name = entry.record;
                 if (entry.key.size() != 2 || name.size() > sql::KeyDictionary::kLongestName ||
                     !simdjson::validate_utf8(name.data(), name.size()))
                   return {};
                 const size_t number =
                     size_t{static_cast<uint8_t>(entry.key[0])} << 8 | static_cast<uint8_t>(entry.key[1]);
                 if (number >= sql::KeyDictionary::kMostNames) return {};
                 if (entry.is_sound)
                   found[number] = name;
                 else
                   found.try_emplace(number, name);
                 return {};
               }));
  const size_t end = lost > 0        ? sql::KeyDictionary::kMostNames
                     : found.empty() ? 0
                                     : found.rbegin()->first + 1;
  for (size_t number = names_->size(); number < end; ++number) {
    const auto name = found.find(number);
    if (name != found.end() && names_->add(name->second) == number) continue;
    names_->truncate(number);
    names_->add(fmt::format("lost_name_{}", number));
    if (lost == 0 || (!found.empty() && number < found.rbegin()->first)) ++lost_names_;
  }
  if (lost > 0 && lost_names_ == 0) lost_names_ = 1;
  return {};
}

Result<void> LostContainer::read_counters(PageSalvage& salvage) {
  QUIRE_TRY(salvage.read_table(table(kStatisticsTable), [&](const PageSalvage::Entry& entry) -> Result<void> {
    if (entry.is_sound && entry.key == kCountersRow) counters_ = parse_statistics(entry.record);
    return {};
  }));
  return {};
}

// ---- Items

namespace {

// The checksum is of the record alone: of the key that it was found under a byte or two may be damaged.
bool is_nearly(Bytes key, Bytes found) {
  constexpr size_t kMostDamage = 2;
  if (key.size() != found.size()) return false;
  size_t differing = 0;
  for (size_t i = 0; i < key.size(); ++i) differing += key[i] != found[i];
  return differing <= kMostDamage;
}

}  // namespace

std::optional<SalvagedItem> LostContainer::item_of(const PageSalvage::Entry& entry) const {
  Bytes record = entry.record;
  if (!has_known_layout(record)) return std::nullopt;
  if (entry.key.empty()) {
    const size_t extent = sql::document_extent(std::as_bytes(std::span(document_of(record))));
    if (extent == 0) return std::nullopt;
    record = record.substr(0, header_bytes(record) + extent);
  }
  if (!has_right_checksum(record)) return std::nullopt;
  const auto document = std::as_bytes(std::span(document_of(record)));
  if (!sql::validate_document(document, *names_)) return std::nullopt;
  SalvagedItem item;
  item.root = sql::read_document(document, names_->number());
  item.header = read_header(record);
  if (!item.root.is_object()) return std::nullopt;
  const sql::Value id = keys_->id_of(item.root);
  const PartitionKey partition_key = keys_->partition_key_of(item.root);
  if (!check_item_id(id) || !check_partition_key(partition_key, definition().partition_key_paths))
    return std::nullopt;
  item.key = ItemKey(partition_key, id.as_string());
  if (!entry.key.empty() && !is_nearly(item.key.bytes(), entry.key)) return std::nullopt;
  return item;
}

}  // namespace quire::engine
