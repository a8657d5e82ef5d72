#include "engine/catalog/catalog.h"

#include <fmt/format.h>

#include <cstring>
#include <random>

#include "engine/catalog/script_catalog.h"
#include "engine/catalog/script_seals.h"
#include "engine/file/file_cursor.h"

namespace quire::engine {
namespace {

constexpr char kContainerKind = 'c';
constexpr uint8_t kRecordVersion = 1;
constexpr size_t kHeaderBytes = 16;
constexpr uint32_t kLastRevision = 0xFFFFFF;
constexpr std::string_view kNextNumberRow = "next container";

std::string row_name(std::string_view name) {
  return std::string(1, kContainerKind).append(name);
}

std::string make_record(const CatalogEntry& entry) {
  std::string record(kHeaderBytes, '\0');
  const uint32_t head = entry.revision << 8 | kRecordVersion;
  std::memcpy(&record[0], &head, sizeof head);
  std::memcpy(&record[4], &entry.number, sizeof entry.number);
  std::memcpy(&record[8], &entry.etag_salt, sizeof entry.etag_salt);
  return record + entry.definition.to_json();
}

Result<CatalogReference> reference_of(Bytes record, std::string_view name) {
  CatalogReference reference;
  if (record.size() <= kHeaderBytes || static_cast<uint8_t>(record[0]) != kRecordVersion)
    return fail(ErrorCode::corrupt, fmt::format("the catalog's record of container '{}' is damaged", name));
  std::memcpy(&reference.revision, record.data(), sizeof reference.revision);
  reference.revision >>= 8;
  std::memcpy(&reference.number, record.data() + 4, sizeof reference.number);
  return reference;
}

Result<CatalogEntry> parse_record(Bytes record, std::string_view name) {
  CatalogEntry entry;
  QUIRE_ASSIGN(const CatalogReference reference, reference_of(record, name));
  entry.number = reference.number;
  entry.revision = reference.revision;
  std::memcpy(&entry.etag_salt, record.data() + 8, sizeof entry.etag_salt);
  auto definition = ContainerDefinition::from_json(record.substr(kHeaderBytes));
  if (!definition && definition.error().code == ErrorCode::out_of_memory)
    return std::unexpected(std::move(definition.error()));
  if (!definition)
    return fail(ErrorCode::corrupt, fmt::format("the catalog's record of container '{}' is damaged: {}", name,
                                                definition.error().message));
  entry.definition = std::move(*definition);
  if (entry.definition.name != name)
    return fail(ErrorCode::corrupt, fmt::format("the catalog's record of container '{}' is of '{}'", name,
                                                entry.definition.name));
  return entry;
}

Result<ContainerNumber> take_number(WriteTransaction& transaction, Table meta) {
  QUIRE_ASSIGN(const std::optional<Bytes> row, transaction.get(meta, kNextNumberRow));
  uint32_t number = 1;
  if (row && row->size() == sizeof number) std::memcpy(&number, row->data(), sizeof number);
  if (number == UINT32_MAX)
    return fail(ErrorCode::limit_exceeded, "the file has had 4 billion containers: no number is left");
  const uint32_t next = number + 1;
  QUIRE_TRY(transaction.put(meta, kNextNumberRow, {reinterpret_cast<const char*>(&next), sizeof next}));
  return ContainerNumber{number};
}

uint64_t random_bits() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

}  // namespace

std::string table_name(ContainerNumber number, std::string_view table) {
  return fmt::format("c{}/{}", static_cast<uint32_t>(number), table);
}

Result<CatalogEntry> Catalog::create(WriteTransaction& transaction,
                                     const ContainerDefinition& definition) const {
  const std::string row = row_name(definition.name);
  QUIRE_ASSIGN(const std::optional<Bytes> existing, transaction.get(table_, row));
  if (existing)
    return fail(ErrorCode::container_exists, fmt::format("container '{}' exists", definition.name));
  QUIRE_TRY(check_room(transaction));
  CatalogEntry entry;
  entry.definition = definition;
  entry.etag_salt = random_bits();
  QUIRE_ASSIGN(entry.number, take_number(transaction, meta_));
  for (const std::string_view table : kContainerTables)
    QUIRE_TRY(transaction.create_table(table_name(entry.number, table)));
  QUIRE_TRY(transaction.put(table_, row, make_record(entry)));
  return entry;
}

// Each that is made must have its tables in a process that has all the others open.
Result<void> Catalog::check_room(const Transaction& transaction) const {
  uint32_t containers = 0;
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table_));
  QUIRE_ASSIGN(bool is_there, cursor.seek({&kContainerKind, 1}));
  while (is_there && cursor.key()[0] == kContainerKind) {
    ++containers;
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  if (containers < kMostContainers) return {};
  return fail(ErrorCode::limit_exceeded,
              fmt::format("the file has {} containers, and may not have more: keep items of several kinds in "
                          "one, apart by a property, or use another file",
                          containers));
}

Result<void> Catalog::replace(WriteTransaction& transaction, CatalogEntry& entry) const {
  if (entry.revision == kLastRevision)
    return fail(ErrorCode::limit_exceeded,
                fmt::format("the definition of container '{}' was changed {} times; make another container",
                            entry.definition.name, kLastRevision));
  ++entry.revision;
  return transaction.put(table_, row_name(entry.definition.name), make_record(entry));
}

Result<void> Catalog::drop(WriteTransaction& transaction, std::string_view name) const {
  QUIRE_ASSIGN(const std::optional<CatalogReference> found, find_reference(transaction, name));
  if (!found) return std::unexpected(not_found(transaction, name));
  for (const std::string_view table : kContainerTables)
    QUIRE_TRY(transaction.drop_table(table_name(found->number, table)));
  QUIRE_TRY(transaction.erase(table_, row_name(name)));
  QUIRE_TRY(ScriptCatalog(table_).erase_all(transaction, found->number));
  return ScriptSeals::erase_all(transaction, meta_, found->number);
}

Result<std::optional<CatalogEntry>> Catalog::find(const Transaction& transaction,
                                                  std::string_view name) const {
  if (name.empty() || name.size() > kLongestContainerName) return std::nullopt;
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(table_, row_name(name)));
  if (!record) return std::nullopt;
  return parse_record(*record, name);
}

Result<std::optional<CatalogEntry>> Catalog::read_row(Bytes key, Bytes record) {
  if (key.size() < 2 || key[0] != kContainerKind) return std::nullopt;
  return parse_record(record, key.substr(1));
}

Result<std::optional<CatalogReference>> Catalog::find_reference(const Transaction& transaction,
                                                                std::string_view name) const {
  if (name.empty() || name.size() > kLongestContainerName) return std::nullopt;
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(table_, row_name(name)));
  if (!record) return std::nullopt;
  return reference_of(*record, name);
}

Result<std::vector<CatalogEntry>> Catalog::list(const Transaction& transaction) const {
  std::vector<CatalogEntry> entries;
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table_));
  QUIRE_ASSIGN(bool is_there, cursor.seek({&kContainerKind, 1}));
  while (is_there && cursor.key()[0] == kContainerKind) {
    QUIRE_ASSIGN(CatalogEntry entry, parse_record(cursor.record(), cursor.key().substr(1)));
    entries.push_back(std::move(entry));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return entries;
}

Result<std::vector<std::string>> Catalog::names(const Transaction& transaction) const {
  std::vector<std::string> names;
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table_));
  QUIRE_ASSIGN(bool is_there, cursor.seek({&kContainerKind, 1}));
  while (is_there && cursor.key()[0] == kContainerKind) {
    names.emplace_back(cursor.key().substr(1));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return names;
}

Error Catalog::not_found(const Transaction& transaction, std::string_view name) const {
  NearestName nearest(name);
  const auto known = names(transaction);
  if (!known) return known.error();
  for (const std::string& candidate : *known) nearest.offer(candidate);
  return {ErrorCode::container_not_found, fmt::format("there is no container '{}'{}", name, nearest.hint())};
}

}  // namespace quire::engine
