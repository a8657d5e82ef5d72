// Walks a table in key order.
#pragma once

#include <memory>

#include "engine/file/table.h"
#include "engine/file/transaction.h"
#include "sql/error.h"

struct MDB_cursor;

namespace quire::engine {

class PageView;

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

  // From the entry that it stands on, goes on over those whose keys are less than `end`, `most` at most,
  // without a look at each; how many. It then stands on the last of them. May stop early, also at once.
  Result<uint64_t> skip_before(Bytes end, uint64_t most);

  Bytes key() const noexcept { return key_; }
  Bytes record() const noexcept { return record_; }

 private:
  friend class WriteTransaction;  // appends through it
  struct Close {
    void operator()(MDB_cursor* cursor) const noexcept;
  };
  // What is pending beside the tree (pending_commits.h).
  struct Beside;

  FileCursor(MDB_cursor* cursor, uint32_t page_bytes);
  Result<bool> move(int operation);
  void fetch_ahead() noexcept;
  size_t number_in(const PageView& page) const noexcept;
  Result<void> stand_on(Bytes key);

  Result<bool> move_tree(int operation, Bytes key = {});
  Result<bool> first_of_both();
  Result<bool> last_of_both();
  Result<bool> next_of_both();
  Result<bool> previous_of_both();
  Result<bool> seek_both(Bytes key);
  Result<bool> settle(bool is_forward);
  bool stand_on_pending() noexcept;
  bool has_left_pending() const noexcept;
  Result<bool> is_beside();
  Result<bool> go_on_in_tree(bool is_forward);
  Result<void> stay_in_tree();
  Result<void> follow();

  std::unique_ptr<MDB_cursor, Close> cursor_;
  std::unique_ptr<Beside> beside_;  // null: nothing
  Bytes key_;
  Bytes record_;
  uint32_t page_bytes_;  // in a snapshot, whose pages lie in the map; otherwise 0
  size_t number_ = 0;    // of the entry within its page, as fetch_ahead() last saw it
};

}  // namespace quire::engine
