#include "engine/index/index_set.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "engine/file/file_cursor.h"
#include "engine/index/index_json.h"
#include "engine/index/index_statistics.h"

namespace quire::engine {
namespace {

constexpr size_t kHeaderBytes = 11;

std::string row(char kind) {
  std::string key;
  append_index_number(IndexNumber::none, key);
  key.push_back(kind);
  return key;
}

std::string row(char kind, uint16_t number) {
  std::string key = row(kind);
  append_index_number(IndexNumber{number}, key);
  return key;
}

std::unexpected<Error> damaged() {
  return fail(ErrorCode::corrupt, "the list of a container's indexes is damaged");
}
// Why a row of it cannot be read.
std::unexpected<Error> damaged(Error error) {
  if (error.code == ErrorCode::out_of_memory) return std::unexpected(std::move(error));
  return damaged();
}

}  // namespace

bool Index::is_multi_valued() const noexcept {
  return parts.size() == 1 && std::ranges::any_of(parts[0].path, &sql::IndexStep::is_element);
}

bool Index::is_same(const Index& other) const noexcept {
  return name == other.name && parts == other.parts && holds == other.holds && unique == other.unique &&
         condition == other.condition && is_of_expiry == other.is_of_expiry;
}

bool IndexSet::is_building() const noexcept {
  return is_policy_building || std::ranges::any_of(indexes, &Index::is_building);
}

const Index* IndexSet::find(IndexNumber number) const noexcept {
  const auto found = std::ranges::lower_bound(indexes, number, {}, &Index::number);
  return found != indexes.end() && found->number == number ? &*found : nullptr;
}

// ---- Reading

Result<uint64_t> read_index_version(const Transaction& transaction, Table table) {
  QUIRE_ASSIGN(const std::optional<Bytes> header, transaction.get(table, row('v')));
  if (!header) return 0;
  if (header->size() != kHeaderBytes) return damaged();
  uint64_t version = 0;
  std::memcpy(&version, header->data(), sizeof version);
  return version;
}

namespace {

Result<void> load_statistics(FileCursor& cursor, IndexSet& set) {
  const std::string rows = row('s');
  QUIRE_ASSIGN(bool is_there, cursor.seek(rows));
  while (is_there && cursor.key().starts_with(rows)) {
    const IndexNumber number = index_number_of(cursor.key().substr(rows.size()));
    const auto index = std::ranges::lower_bound(set.indexes, number, {}, &Index::number);
    auto statistics = index_statistics_from_bytes(cursor.record());
    if (statistics && index != set.indexes.end() && index->number == number)
      index->statistics = std::make_shared<const sql::IndexStatistics>(std::move(*statistics));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return {};
}

}  // namespace

Result<IndexSet> load_index_set(const Transaction& transaction, Table table) {
  IndexSet set;
  QUIRE_ASSIGN(const std::optional<Bytes> header, transaction.get(table, row('v')));
  if (!header) return set;
  if (header->size() != kHeaderBytes) return damaged();
  std::memcpy(&set.version, header->data(), sizeof set.version);
  std::memcpy(&set.next_number, header->data() + 8, sizeof set.next_number);
  set.is_policy_building = (*header)[10] != 0;
  QUIRE_ASSIGN(const std::optional<Bytes> policy, transaction.get(table, row('p')));
  if (policy) {
    set.policy_json = *policy;
    auto parsed = IndexingPolicy::from_json(*policy);
    if (!parsed) return damaged(std::move(parsed.error()));
    set.policy = std::move(*parsed);
    if (set.policy->has_tuple_of_paths && !set.policy_json.ends_with(kTuplesAreRead))
      set.is_policy_building = true;
  }
  const std::string definitions = row('d');
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table));
  QUIRE_ASSIGN(bool is_there, cursor.seek(definitions));
  while (is_there && cursor.key().starts_with(definitions)) {
    auto index = index_from_json(cursor.record());
    if (!index) return damaged(std::move(index.error()));
    if (cursor.key().size() != definitions.size() + kIndexNumberBytes) return damaged();
    index->number = index_number_of(cursor.key().substr(definitions.size()));
    set.indexes.push_back(std::move(*index));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  QUIRE_TRY(load_statistics(cursor, set));
  return set;
}

// ---- Writing

void renew_index_version(IndexSet& set) noexcept {
  uint32_t step = 0;
  if (getentropy(&step, sizeof step) != 0) step = 0;
  set.version += uint64_t{step} + 1;
}

Result<void> save_index_header(WriteTransaction& transaction, Table table, const IndexSet& set) {
  char header[kHeaderBytes];
  std::memcpy(header, &set.version, sizeof set.version);
  std::memcpy(header + 8, &set.next_number, sizeof set.next_number);
  header[10] = set.is_policy_building ? 1 : 0;
  return transaction.put(table, row('v'), {header, sizeof header});
}

Result<void> save_index_policy(WriteTransaction& transaction, Table table, const IndexSet& set) {
  if (set.policy) return transaction.put(table, row('p'), set.policy_json);
  QUIRE_TRY(transaction.erase(table, row('p')));
  return {};
}

Result<void> save_index(WriteTransaction& transaction, Table table, const Index& index) {
  return transaction.put(table, row('d', static_cast<uint16_t>(index.number)), index_to_json(index));
}

Result<void> save_index_statistics(WriteTransaction& transaction, Table table, IndexNumber number,
                                   const sql::IndexStatistics& statistics) {
  return transaction.put(table, row('s', static_cast<uint16_t>(number)),
                         index_statistics_to_bytes(statistics));
}

Result<void> erase_index(WriteTransaction& transaction, Table table, IndexNumber number) {
  QUIRE_TRY(transaction.erase(table, row('d', static_cast<uint16_t>(number))));
  QUIRE_TRY(transaction.erase(table, row('s', static_cast<uint16_t>(number))));
  IndexCounterBlocks counters;
  QUIRE_TRY(counters.set(transaction, table, number, {}));
  QUIRE_TRY(counters.save(transaction, table));
  std::string prefix;
  append_index_number(number, prefix);
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table));
  QUIRE_ASSIGN(bool is_there, cursor.seek(prefix));
  while (is_there && cursor.key().starts_with(prefix)) {
    QUIRE_TRY(transaction.erase(cursor));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return {};
}

// ---- Counters

Result<IndexCounterBlocks::Block*> IndexCounterBlocks::block(const Transaction& transaction, Table table,
                                                             IndexNumber number) {
  const auto wanted = static_cast<uint16_t>(static_cast<uint16_t>(number) / kBlockCounters);
  for (Block& block : blocks_)
    if (block.number == wanted) return &block;
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(table, row('n', wanted)));
  if (record && record->size() != sizeof(Block::counters)) return damaged();
  Block& block = blocks_.emplace_back(wanted);
  if (record)
    std::memcpy(block.counters.data(), record->data(), sizeof block.counters);
  else
    block.counters = {};
  return &block;
}

Result<IndexCounters> IndexCounterBlocks::read(const Transaction& transaction, Table table,
                                               IndexNumber number) {
  QUIRE_ASSIGN(const Block* const found, block(transaction, table, number));
  return found->counters[static_cast<uint16_t>(number) % kBlockCounters];
}

Result<void> IndexCounterBlocks::add(const Transaction& transaction, Table table, IndexNumber number,
                                     Bytes record) {
  QUIRE_ASSIGN(Block* const found, block(transaction, table, number));
  IndexCounters& counters = found->counters[static_cast<uint16_t>(number) % kBlockCounters];
  ++counters.entries;
  counters.cut_entries += cuts_of(record);
  found->is_changed = true;
  return {};
}

Result<void> IndexCounterBlocks::remove(const Transaction& transaction, Table table, IndexNumber number,
                                        Bytes record) {
  QUIRE_ASSIGN(Block* const found, block(transaction, table, number));
  IndexCounters& counters = found->counters[static_cast<uint16_t>(number) % kBlockCounters];
  --counters.entries;
  uint64_t cuts = cuts_of(record);
  // An entry from before item keys were counted.
  if (counters.cut_entries < kOneCutItemKey) cuts %= kOneCutItemKey;
  counters.cut_entries -= cuts;
  found->is_changed = true;
  return {};
}

Result<void> IndexCounterBlocks::set(const Transaction& transaction, Table table, IndexNumber number,
                                     IndexCounters counters) {
  QUIRE_ASSIGN(Block* const found, block(transaction, table, number));
  found->counters[static_cast<uint16_t>(number) % kBlockCounters] = counters;
  found->is_changed = true;
  return {};
}

Result<void> IndexCounterBlocks::save(WriteTransaction& transaction, Table table) {
  for (Block& block : blocks_) {
    if (!block.is_changed) continue;
    QUIRE_TRY(transaction.put(table, row('n', block.number),
                              {reinterpret_cast<const char*>(block.counters.data()), sizeof block.counters}));
    block.is_changed = false;
  }
  return {};
}

// ---- Building

// In the number of a process, which has fewer bits: what follows it is not the position yet.
constexpr uint32_t kHasIncarnation = uint32_t{1} << 31;

Result<std::optional<IndexBuild>> read_index_build(const Transaction& transaction, Table table) {
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(table, row('b')));
  if (!record) return std::nullopt;
  IndexBuild build;
  auto& [number, incarnation] = build.process;
  size_t at = sizeof number;
  if (record->size() < at) return damaged();
  std::memcpy(&number, record->data(), sizeof number);
  if ((number & kHasIncarnation) != 0) {
    number &= ~kHasIncarnation;
    if (record->size() < at + sizeof incarnation) return damaged();
    std::memcpy(&incarnation, record->data() + at, sizeof incarnation);
    at += sizeof incarnation;
  }
  build.position = record->substr(at);
  return build;
}

Result<void> save_index_build(WriteTransaction& transaction, Table table,
                              const std::optional<IndexBuild>& build) {
  if (!build) {
    QUIRE_TRY(transaction.erase(table, row('b')));
    return {};
  }
  const uint32_t number = build->process.number | kHasIncarnation;
  const uint64_t incarnation = build->process.incarnation;
  std::string record(reinterpret_cast<const char*>(&number), sizeof number);
  record.append(reinterpret_cast<const char*>(&incarnation), sizeof incarnation);
  record += build->position;
  return transaction.put(table, row('b'), record);
}

}  // namespace quire::engine
