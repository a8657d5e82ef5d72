// A walk over the entries of one index, from ranges of encoded values to entries.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/container/container.h"
#include "engine/file/file_cursor.h"
#include "engine/index/index_entry.h"
#include "engine/index/index_set.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

// Walks the entries of one index within ranges, which it copies. In reverse from the last values to the
// first; entries with equal values come in the order of their items in both.
class EntryWalk {
 public:
  // `probe.index` is one of `set`. Only items whose keys begin with `item_prefix` are wanted; others may come
  // all the same.
  static Result<std::unique_ptr<EntryWalk>> open(const Transaction& transaction, ContainerStore& store,
                                                 std::shared_ptr<const IndexSet> set,
                                                 const sql::IndexProbe& probe, bool is_reverse,
                                                 Bytes item_prefix = {});
  // Begins anew in what the transaction reads now, which is of the same commit: with an index of the same
  // set.
  Result<void> reopen(const sql::IndexProbe& probe, bool is_reverse, Bytes item_prefix = {});
  EntryWalk(const EntryWalk&) = delete;
  EntryWalk& operator=(const EntryWalk&) = delete;

  // The next entry whose values lie within a range; null at the end. Good until the next call.
  Result<const IndexEntry*> next();
  // Goes on over up to `most` entries without a look at each; how many. May stop early, also at once.
  Result<uint64_t> skip(uint64_t most);
  // Goes on over entries that lie close behind with a visit(const IndexEntry&) to each; how many. May stop
  // early, also at once.
  template <typename Visit>
  Result<size_t> visit_near(const Visit& visit);
  // Goes past all entries that agree with the last one in their first `parts` values.
  void skip_equal(size_t parts);

  const IndexShape& shape() const noexcept { return shape_; }
  // The item that an entry leads to; corrupt if there is none, undefined if it has expired. `record`, `lead`:
  // as in ContainerStore::item_at.
  Result<sql::Value> visible_item_at(Bytes key, Bytes record = {}, const Lead& lead = {}) const;
  Result<sql::Value> item_at(Bytes key, Bytes record = {}, const Lead& lead = {}) const;  // expired or not
  // From where the walk began to the item that is read first.
  Lead lead() const noexcept { return cursor_.lead(); }
  // Whether some of the container's items have expired, so that entries do not tell without their items.
  bool has_expired_items() const noexcept { return lifetime_.is_on(); }
  // The values that an entry stands for, one for each part of the index: from the entry, or, where it does
  // not tell them all, its item. Strings stay valid as items do or live in `arena`.
  Result<void> read_values(const IndexEntry& entry, std::span<sql::Value> values, sql::Arena& arena) const;

 private:
  // Keys from `from` on, before `to`. Where a bound is longer than what every key tells (`is_cut`), the
  // encodings in full decide.
  struct Range {
    std::string from, to;
    std::string full_from, full_to;
    bool is_cut = false;
  };
  EntryWalk(const Transaction& transaction, ContainerStore& store, std::shared_ptr<const IndexSet> set,
            FileCursor cursor);

  Result<void> begin(const sql::IndexProbe& probe, bool is_reverse, Bytes item_prefix);
  void set_range(const sql::KeyRange& asked, Bytes item_prefix, Range& range) const;
  // Whether a range is that of one value for each part of the index.
  bool is_of_one_value(const sql::KeyRange& asked) const;
  const Range& range() const noexcept {
    return is_reverse_ ? ranges_[ranges_.size() - 1 - done_] : ranges_[done_];
  }
  Result<bool> advance();
  Result<bool> advance_back();
  // Takes the entry that the cursor stands on, or stood on, apart; false if it is damaged.
  bool read_entry() { return read_entry({cursor_.key(), cursor_.record()}); }
  bool read_entry(const TreeEntry& found);
  Error damaged() const;
  Result<bool> is_within(const IndexEntry& entry) const;
  void values_of(const IndexEntry& entry, const sql::Value& item, std::span<sql::Value> values) const;
  // Number, scope and the first `parts` values of the entry at hand.
  std::string prefix(size_t parts) const;

  const Transaction* transaction_;
  ContainerStore* store_;
  std::shared_ptr<const IndexSet> set_;
  const Index* index_ = nullptr;
  Lifetime lifetime_;
  IndexShape shape_;
  FileCursor cursor_;
  bool is_reverse_ = false;
  std::vector<Range> ranges_;
  size_t done_ = 0;  // ranges
  bool is_in_range_ = false;
  std::string jump_;   // forward: where to go on, if not at the next entry
  std::string group_;  // reverse: what the keys of the entries with the values at hand begin with
  IndexEntry entry_;
};

template <typename Visit>
Result<size_t> EntryWalk::visit_near(const Visit& visit) {
  if (!is_in_range_ || is_reverse_ || range().is_cut || !jump_.empty()) return 0;
  std::array<TreeEntry, 64> found;
  QUIRE_ASSIGN(const size_t count, cursor_.read_before(range().to, found));
  for (const TreeEntry& entry : std::span(found).first(count)) {
    if (!read_entry(entry)) return std::unexpected(damaged());
    visit(entry_);
  }
  return count;
}

}  // namespace quire::engine
