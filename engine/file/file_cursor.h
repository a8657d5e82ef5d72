// Walks a table in key order.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "engine/file/table.h"
#include "engine/file/transaction.h"
#include "engine/file/tree_cursor.h"
#include "sql/error.h"

struct MDB_cursor;

namespace quire::engine {

// Must end before its transaction ends or is renewed. In a write transaction, a write to the table may move
// it: seek again. `key` and `record` are good as Transaction says, and only after a call that returned true.
class FileCursor {
 public:
  FileCursor(FileCursor&& other) noexcept;
  FileCursor& operator=(FileCursor&& other) noexcept;
  ~FileCursor();

  static Result<FileCursor> open(const Transaction& transaction, Table table);

  // Each tells whether there is such an entry, and stands on it.
  Result<bool> first();
  Result<bool> last();
  Result<bool> next();  // on a fresh cursor: the first
  Result<bool> previous();
  Result<bool> seek(Bytes key);  // the first entry whose key is not less
  // As TreeCursor's: of a snapshot with nothing beside it; else nothing happens, and there is no lead.
  void expect_seek(Bytes key) noexcept {
    if (tree_) tree_->expect_seek(key);
  }
  Lead lead() const noexcept { return tree_ && beside_ == nullptr ? tree_->lead() : Lead(); }

  // From the entry that it stands on, goes on over those whose keys are less than `end`, `most` at most,
  // without a look at each; how many. It then stands on the last of them. May stop early, also at once.
  Result<uint64_t> skip_before(Bytes end, uint64_t most);
  // The same with a look at each: fills the first of `entries`, and tells how many.
  Result<size_t> read_before(Bytes end, std::span<TreeEntry> entries);

  Bytes key() const noexcept { return key_; }
  Bytes record() const noexcept { return record_; }

 private:
  friend class WriteTransaction;  // appends through it
  struct Close {
    void operator()(MDB_cursor* cursor) const noexcept;
  };
  // What is pending beside the tree (pending_commits.h).
  struct Beside;

  enum class Step : uint8_t { first, last, next, previous, seek };

  FileCursor() noexcept;
  Result<void> open_in_lmdb(const Transaction& transaction, Table table);
  // In the tree alone.
  Result<bool> move(Step step, Bytes target = {});
  Result<bool> step(Step step, Bytes target, Bytes& key, Bytes& record);
  Result<bool> step_in_lmdb(Step step, Bytes target, Bytes& key, Bytes& record);
  Result<void> stand_on(Bytes key);

  Result<bool> move_tree(Step step, Bytes target = {});
  Result<bool> first_of_both();
  Result<bool> last_of_both();
  Result<bool> next_of_both();
  Result<bool> previous_of_both();
  Result<bool> seek_both(Bytes key);
  Result<bool> settle(bool is_forward);
  // Up to where the tree alone can be walked from the entry that the cursor stands on, for `end` at most; or
  // not at all.
  std::optional<Bytes> end_in_tree(Bytes end) const noexcept;
  void note_tree_entry() noexcept;
  bool stand_on_pending() noexcept;
  bool has_left_pending() const noexcept;
  Result<bool> is_beside();
  Result<bool> go_on_in_tree(bool is_forward);
  Result<void> stay_in_tree();
  Result<void> follow();

  std::optional<TreeCursor> tree_;             // a snapshot's
  std::unique_ptr<MDB_cursor, Close> cursor_;  // else
  std::unique_ptr<Beside> beside_;             // null: nothing
  Bytes key_;
  Bytes record_;
};

}  // namespace quire::engine
