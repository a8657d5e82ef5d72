// Transactions: a ReadTransaction is a snapshot, a WriteTransaction may change tables. Functions that only
// read take a Transaction and run in both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/file/table.h"
#include "sql/error.h"

struct MDB_txn;

namespace quire::engine {

class ChangeList;
class FileCursor;
class FileState;
class PendingView;
class WriteTransaction;
struct Lead;

// Bytes that a transaction hands out point into the map: good until the transaction ends, and in a write
// transaction until its next write.
//
// A table that was dropped, or that this process opened after the transaction began, gives
// container_not_found.
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Result<std::optional<Bytes>> get(Table table, Bytes key) const;
  // The same, where a cursor's seek in another table led to the key.
  Result<std::optional<Bytes>> get(Table table, Bytes key, const Lead& lead) const;
  Result<uint64_t> count(Table table) const;
  // A hint: the first key from there on in the tree of the snapshot, whatever has been changed beside it
  // since. Nothing where there is none, or where that cannot be told without more ado. A cursor, which sees
  // all changes, puts those of all tables in order first.
  std::optional<Bytes> seek_tree(Table table, Bytes key) const;

  // The number of the commit that a read transaction sees; in a write transaction, the one that it would
  // become. Numbers grow with each commit to the file, by whichever process; they mean nothing in another.
  uint64_t number() const noexcept;
  bool is_write() const noexcept { return is_write_; }
  // As one that writes; null: it only reads.
  const WriteTransaction* as_write() const noexcept;
  // Unix seconds when it began (or was renewed): the time that all of it happens at.
  uint32_t now() const noexcept { return now_; }

  // For engine/file alone.
  MDB_txn* handle() const noexcept { return handle_; }
  // That of LMDB's, if it only reads: all of what it sees lies in the map.
  MDB_txn* snapshot() const noexcept { return is_write_ && handle_ != snapshot_ ? nullptr : handle_; }
  FileState& state() const noexcept { return *state_; }
  // What it sees beside LMDB's tree, the first `upto` of them; null: nothing.
  // A transaction that writes may lose it: then its tree has what was pending, and its changes.
  const PendingView* pending() const noexcept { return pending_.get(); }
  uint32_t upto() const noexcept { return upto_; }

 protected:
  Transaction(FileState* state, MDB_txn* handle, bool is_write, uint32_t now)
      : state_(state), handle_(handle), is_write_(is_write), now_(now) {}
  Transaction(Transaction&& other) noexcept
      : state_(other.state_),
        handle_(std::exchange(other.handle_, nullptr)),
        snapshot_(std::exchange(other.snapshot_, nullptr)),
        pending_(std::move(other.pending_)),
        upto_(other.upto_),
        is_write_(other.is_write_),
        now_(other.now_) {}
  ~Transaction() = default;

  FileState* state_;
  MDB_txn* handle_;
  MDB_txn* snapshot_ = nullptr;  // of one that writes: what of LMDB's it began with, if that only reads
  std::shared_ptr<const PendingView> pending_;
  uint32_t upto_ = 0;
  bool is_write_;
  uint32_t now_;
};

// A view of the file at one commit. Waits for nobody and holds up nobody, but keeps the pages of its commit
// from reuse: keep it short. Used by one thread at a time, any thread. Must end before its Environment does.
class ReadTransaction : public Transaction {
 public:
  ReadTransaction(ReadTransaction&& other) noexcept : Transaction(std::move(other)) {}
  ReadTransaction& operator=(ReadTransaction&& other) noexcept;
  ~ReadTransaction() { end(); }

  // Another view of the same commit and time, for another thread. Nothing if `transaction` writes, or if
  // there has been a commit since it began.
  static std::optional<ReadTransaction> beside(const Transaction& transaction);

  // Moves to the newest commit. Bytes and cursors taken from this transaction are void. On failure the
  // transaction has ended and every operation on it fails.
  Result<void> renew();

 private:
  friend class Environment;
  ReadTransaction(FileState* state, MDB_txn* handle, uint32_t now) : Transaction(state, handle, false, now) {}
  static Result<ReadTransaction> begin(FileState& state, uint32_t now);
  // Whether the snapshot, begun after `pending_` was looked up, is of the commit that this follows.
  bool is_in_step() noexcept;
  void end() noexcept;
};

// Given to the functions that Environment::write and ExplicitWrite run. A write that fails leaves the
// transaction as it was before that write, except for no_space, out_of_memory and io, after which it can only
// be rolled back.
class WriteTransaction : public Transaction {
 public:
  WriteTransaction(WriteTransaction&&) = delete;

  // put() of the key is to come: asks for the memory that it will look at.
  void ask_for(Table table, Bytes key) const noexcept;
  // get() of the key is to come, and then put(): likewise. get_asked() is that get(), and takes what this has
  // found out of the tree; nothing is lost where other changes come between, and the transaction moves there.
  struct AskedEntry {
    const char* leaf = nullptr;
  };
  AskedEntry ask_for_entry(Table table, Bytes key) const;
  Result<std::optional<Bytes>> get_asked(Table table, Bytes key, const AskedEntry& asked) const;
  // Inserts or replaces.
  Result<void> put(Table table, Bytes key, Bytes record);
  // Inserts; false, and nothing changed, if the key is there.
  Result<bool> put_new(Table table, Bytes key, Bytes record);
  // Inserts a key greater than all others without a search; false, and nothing changed, if it is not greater.
  Result<bool> append(Table table, Bytes key, Bytes record);
  // The same three, giving back the record's `size` bytes in place, to be filled before the next call on this
  // transaction; an empty span stands for false.
  Result<std::span<char>> reserve(Table table, Bytes key, size_t size);
  Result<std::span<char>> reserve_new(Table table, Bytes key, size_t size);
  Result<std::span<char>> reserve_append(Table table, Bytes key, size_t size);
  // The same through a cursor on the table, which stays at its end: for many appends in a row.
  Result<std::span<char>> reserve_append(FileCursor& end, Bytes key, size_t size);
  // False if the key was not there.
  Result<bool> erase(Table table, Bytes key);
  // A key that this transaction has found.
  Result<void> erase_found(Table table, Bytes key);
  // The entry that the cursor stands on; its next() then gives the one behind it.
  Result<void> erase(FileCursor& at);

  // Fails with conflict if there is such a table.
  Result<Table> create_table(std::string_view name);
  // Also finds the tables that this transaction has created; nothing if there is none.
  Result<std::optional<Table>> open_table(std::string_view name);
  // Empties the table at once. The table itself goes when no transaction of this process is at work.
  Result<void> drop_table(std::string_view name);

  // Runs `work` so that it happens as a whole or not at all, within this transaction, which must not be used
  // by other means meanwhile. `work` gets the transaction to use. misuse beside work that runs.
  Result<void> nested(const std::function<Result<void>(WriteTransaction&)>& work);
  // misuse where such work runs: nothing else can be written then, and the transaction cannot end.
  Result<void> check_no_nested() const;
  // The transaction of the work that runs now, and of what runs within that: what can be read meanwhile.
  WriteTransaction& innermost() noexcept { return nested_ == nullptr ? *this : nested_->innermost(); }

  // What the service would charge for the work done here, in request units: who does the work adds to it. A
  // nested transaction that is undone costs nothing.
  void charge(double units) noexcept { charge_ += units; }
  double charged() const noexcept { return charge_; }

  // The request that this is a part of may write and erase so many bytes: of keys, and of records that are
  // written. What is undone does not count. Past it, this and each later change fails with
  // transaction_too_large, and so does check_size(), which is for who ends the request: nothing of it may be
  // kept then.
  void limit_size(uint64_t bytes) noexcept { request_->size_limit_ = bytes; }
  Result<void> check_size() const;

  // A number that is kept for a table as long as the request lasts, of which this transaction, nested or not,
  // is a part; 0 at first. What is undone leaves it as it is.
  uint64_t& mark(Table table) const;

  // Called once if what has been written so far is undone: in reverse order, before any other transaction
  // starts. What lives in memory beside the file (key dictionaries) takes back its changes here. Must not
  // throw.
  void on_rollback(std::function<void()> undo) { on_rollback_.push_back(std::move(undo)); }
  // Called once after the commit, before any other transaction starts. Must not throw.
  void on_commit(std::function<void()> act) { on_commit_.push_back(std::move(act)); }

 private:
  friend class WriteSession;
  WriteTransaction(FileState* state, MDB_txn* handle, WriteTransaction* parent, uint32_t now)
      : Transaction(state, handle, true, now),
        parent_(parent),
        request_(parent != nullptr ? parent->request_ : this) {
    if (parent == nullptr) return;
    snapshot_ = parent->snapshot_;
    pending_ = parent->pending_;
    upto_ = parent->upto_;
  }
  ~WriteTransaction() = default;

  // Whether its changes go to the pending commits, not to LMDB's tree: then LMDB's transaction only reads, or
  // is a snapshot.
  bool is_small() const noexcept { return pending_ != nullptr; }
  // For what such a transaction cannot do. It has to be run again as one that can; or, where that cannot be,
  // it becomes one here and now, and goes on.
  Result<void> must_have_tree();
  // The same for one that changes so much more, if it is too much.
  Result<void> outgrow_small(size_t bytes);

  // A nested transaction, from its beginning to one of its two ends (nested_transaction.cpp). An error of the
  // second: it was undone.
  Result<void> begin_nested();
  Result<void> commit_nested();
  void undo_nested() noexcept;
  // What it sees beside LMDB's tree becomes a part of LMDB's transaction, its own changes a part of one of
  // LMDB's for each that it is nested in. On failure nothing of it can be kept.
  Result<void> move_to_tree();
  Result<void> move_to_tree(const PendingView& pending, size_t upto);
  // Of the outermost: sees to it that LMDB's transaction can write.
  Result<void> begin_writing();

  Result<std::span<char>> reserve_with(Table table, Bytes key, size_t size, unsigned flags);
  Result<std::span<char>> reserve_pending(Table table, Bytes key, size_t size, unsigned flags);
  Result<bool> erase(Table table, Bytes key, bool is_found);
  Result<bool> erase_pending(Table table, Bytes key, bool is_found);
  // What LMDB's answer to such a call means.
  Result<std::span<char>> reserved(int code, void* place, size_t size);
  // False once the request is past its limit.
  bool may_change(size_t bytes) noexcept {
    request_->size_ += bytes;
    return request_->size_ <= request_->size_limit_;
  }
  // What a part of the request has changed since `size` is undone.
  void return_to_size(uint64_t size) noexcept {
    if (request_->size_ <= request_->size_limit_) request_->size_ = size;
  }
  // Of the outermost transaction, for the log of durable commits.
  ChangeList& changes() const noexcept;
  // Claims the right to open table handles until the outermost transaction ends (table_registry.h).
  Result<void> claim_tables();
  // Undone work: hooks run in reverse, handles are forgotten. Done work: both pass to the parent, or take
  // effect.
  void rolled_back() noexcept;
  // Takes the memory that committed() needs.
  void prepare_to_commit();
  void committed() noexcept;

  // What makes the whole group run again rather than fail: the map was full, another thread opened a table,
  // the disk was full where pages are kept for the log, or what was taken for small is not.
  enum class Retry : uint8_t { none, map_full, tables_changed, log_given_up, not_small };
  WriteTransaction& outermost() noexcept { return parent_ == nullptr ? *this : parent_->outermost(); }
  void note(Retry retry) noexcept { outermost().retry_ = retry; }

  WriteTransaction* parent_;
  WriteTransaction* nested_ = nullptr;  // while its work runs
  // Of a group, that of its member; otherwise the outermost.
  WriteTransaction* request_;
  std::vector<std::pair<Table, uint64_t>> marks_;  // of a request
  double charge_ = 0;
  uint64_t size_ = 0;  // of a request, and so its limit
  uint64_t size_limit_ = UINT64_MAX;
  Retry retry_ = Retry::none;
  uint64_t tables_version_ = 0;  // of the registry when the outermost transaction began
  bool owns_tables_ = false;
  bool can_run_again_ = true;  // of the outermost
  // Of the outermost: what it saw beside LMDB's tree until it was moved there.
  std::shared_ptr<const PendingView> taken_in_;
  // Of a nested one: how many changes there were when it began.
  size_t changes_before_ = 0;
  std::vector<std::pair<std::string, Table>> opened_tables_;
  std::vector<std::string> dropped_tables_;
  std::vector<std::function<void()>> on_rollback_;
  std::vector<std::function<void()>> on_commit_;
};

inline const WriteTransaction* Transaction::as_write() const noexcept {
  return is_write_ ? static_cast<const WriteTransaction*>(this) : nullptr;
}

}  // namespace quire::engine
