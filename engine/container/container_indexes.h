// Keeps a container's indexes equal to its items: within the transaction that writes an item, only the
// entries that it changes are written. What is in memory is made from the file, and made anew when the file's
// version of the set of indexes is another one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/catalog/container_definition.h"
#include "engine/container/lifetime.h"
#include "engine/container/record.h"
#include "engine/file/file_cursor.h"
#include "engine/file/transaction.h"
#include "engine/index/entry_extractor.h"
#include "engine/index/index_sample.h"
#include "engine/index/index_set.h"
#include "sql/error.h"
#include "sql/value/resolved_key.h"

namespace quire::engine {

// Paths that a policy covers and that get an index, at most.
inline constexpr size_t kMostPolicyIndexes = 2000;

// The indexes that a definition asks for, but for the policy's paths, without numbers.
Result<std::vector<Index>> indexes_of(const ContainerDefinition& definition);
// The policy, if it covers any path, and its JSON.
Result<std::optional<std::pair<IndexingPolicy, std::string>>> policy_of(
    const ContainerDefinition& definition);

// The indexes of CREATE INDEX that a definition has; and the same put in their place, checked as what WITH
// {indexes: ...} gives is.
Result<std::vector<NamedIndex>> named_indexes_of(const ContainerDefinition& definition);
Result<void> set_named_indexes(ContainerDefinition& definition, std::span<const NamedIndex> indexes);

// How to read the entries of an index. `scope_bytes`: of an EPK.
IndexShape shape_of(const Index& index, size_t scope_bytes);

// What happens to an item: `old_root`, from storage, is undefined if it is new, `new_root` if it is removed.
// `new_header`: of the record that `new_root` will be in.
struct ItemChange {
  const sql::Value& old_root;
  const sql::Value& new_root;
  RecordHeader new_header;
  Bytes item_key;
  IndexSelection selection = IndexSelection::all;
};

class ContainerIndexes {
 public:
  // Whether the item of a key has expired, so that it holds no unique key.
  using HasExpired = std::function<Result<bool>(const Transaction&, Bytes item_key)>;

  // `dictionary`: of the container's items.
  ContainerIndexes(Table table, sql::DictionaryNumber dictionary, size_t scope_bytes, HasExpired has_expired)
      : table_(table),
        dictionary_(dictionary),
        scope_bytes_(scope_bytes),
        has_expired_(std::move(has_expired)) {}

  Table table() const noexcept { return table_; }
  size_t scope_bytes() const noexcept { return scope_bytes_; }
  IndexSamples& samples() noexcept { return samples_; }

  // The set that a transaction sees. Any thread.
  Result<std::shared_ptr<const IndexSet>> set(const Transaction& transaction);

  // The index of expiry that a transaction sees, if there is one.
  struct Expiry {
    IndexNumber number;
    bool is_building;
  };
  Result<std::optional<Expiry>> expiry(const Transaction& transaction);

  // ---- The holder of the write lock.

  // The same, to be changed with the functions of index_set.h; each change makes a new version.
  Result<IndexSet*> writable_set(WriteTransaction& transaction);
  // Makes the changes of writable_set() known, and has them forgotten if the transaction is undone.
  Result<void> set_changed(WriteTransaction& transaction);

  // An item is about to be written. Finds out which entries change, and fails with conflict if a unique key
  // is taken; nothing is changed but that new paths get numbers. Both roots are read now.
  Result<void> prepare(WriteTransaction& transaction, const ItemChange& change);
  // Writes what prepare() found; how many entries came or went.
  Result<uint64_t> apply(WriteTransaction& transaction);

  // ---- Building

  // Gives each path of an item that the policy covers its number.
  Result<void> allot_paths(WriteTransaction& transaction, const sql::Value& root);
  // The same of paths that have none, an empty one as of EntryExtractor::Allot.
  Result<void> allot_paths(WriteTransaction& transaction, std::span<const std::vector<sql::IndexStep>> paths);
  // Adds the entries of an item for the indexes that are being built.
  Result<void> add_building_entries(WriteTransaction& transaction, const sql::Value& root, Bytes item_key,
                                    EntryList& entries);
  // Writes the sorted entries in [from, to) where they are not there yet; conflict if one of a unique index
  // is taken.
  Result<void> insert(WriteTransaction& transaction, const EntryList& sorted, size_t from, size_t to);

 private:
  struct Writer {
    IndexSet set;
    std::unique_ptr<EntryExtractor> extractor;
    EntryList old_entries, new_entries;
    IndexCounterBlocks counters;
  };
  Result<std::shared_ptr<const IndexSet>> load(const Transaction& transaction) const;
  Writer& held() const noexcept { return **writer_; }
  void forget_if_undone(WriteTransaction& transaction);
  // Brought up to what `transaction` sees; null if there is no index.
  Result<Writer*> writer(WriteTransaction& transaction);
  Result<IndexNumber> allot(WriteTransaction& transaction, std::span<const sql::IndexStep> path);
  EntryExtractor::Allot allotter(WriteTransaction& transaction);
  Result<void> check_unique(WriteTransaction& transaction, const EntryList& entries, Bytes item_key);
  Result<void> check_unique(WriteTransaction& transaction, FileCursor& cursor, const Index& index, Bytes key,
                            Bytes record, Bytes item_key);
  void add_expiry(const Writer& writer, const RecordHeader& header, Bytes item_key, IndexSelection selection,
                  EntryList& entries) const;

  Table table_;
  sql::DictionaryNumber dictionary_;
  size_t scope_bytes_;
  HasExpired has_expired_;
  IndexSamples samples_;

  std::mutex mutex_;  // guards the two below
  std::shared_ptr<const IndexSet> last_;
  uint64_t last_commit_ = 0;  // a commit that has it
  // Shared with the hooks that forget what it holds when a transaction is undone.
  std::shared_ptr<std::unique_ptr<Writer>> writer_ = std::make_shared<std::unique_ptr<Writer>>();
};

}  // namespace quire::engine
