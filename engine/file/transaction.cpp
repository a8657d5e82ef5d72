#include "engine/file/transaction.h"

#include <lmdb.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <ranges>

#include "engine/file/change_list.h"
#include "engine/file/file_cursor.h"
#include "engine/file/file_format.h"
#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/lmdb_value.h"
#include "engine/file/pending_view.h"
#include "engine/file/table_tree.h"
#include "engine/file/tree_cursor.h"
#include "engine/file/write_session.h"
#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

// A slot that a transaction does not know is an invalid argument to LMDB; ours are never invalid otherwise.
int with_meaning(int code) {
  return code == EINVAL ? MDB_BAD_DBI : code;
}

// Of a table that another process has removed LMDB tells how many rows it last had.
bool is_removed(MDB_txn* handle, FileState& state, Table table) {
  std::string name = state.tables().name_of(table.slot());
  MDB_val key{name.size(), name.data()}, value;
  return !name.empty() && mdb_get(handle, state.facts.main, &key, &value) == MDB_NOTFOUND;
}

Error too_large(uint64_t limit) {
  return {
      ErrorCode::transaction_too_large,
      "the transaction changes more than the " + std::to_string(limit) +
          " bytes of PRAGMA transaction_size: nothing of it can be kept; divide it into several, or raise "
          "the limit"};
}

}  // namespace

// ---- Reading

Result<std::optional<Bytes>> Transaction::get(Table table, Bytes key) const {
  return get(table, key, {});
}

Result<std::optional<Bytes>> Transaction::get(Table table, Bytes key, const Lead& lead) const {
  if (handle_ == nullptr) [[unlikely]]
    return std::unexpected(lmdb_error(MDB_BAD_TXN, "read the file"));
  if (!state_->tables().is_current(table)) [[unlikely]]
    return std::unexpected(lmdb_error(MDB_BAD_DBI, "read the file"));
  if (pending_ != nullptr)
    if (const auto change =
            is_write_ ? pending_->find_at_hand(table.slot(), key) : pending_->find(table.slot(), key, upto_))
      return change->is_erased ? std::optional<Bytes>() : change->record;
  if (const auto tree = TableTree::of(*this, table)) return tree->find(key, lead);
  MDB_val wanted = lmdb_value(key), record;
  const int code = mdb_get(handle_, table.slot(), &wanted, &record);
  if (code == MDB_SUCCESS) return Bytes(static_cast<const char*>(record.mv_data), record.mv_size);
  if (code == MDB_NOTFOUND) return std::nullopt;
  return std::unexpected(lmdb_error(with_meaning(code), "read the file"));
}

std::optional<Bytes> Transaction::seek_tree(Table table, Bytes key) const {
  const auto tree = TableTree::of(*this, table);
  if (!tree) return std::nullopt;
  TreeCursor cursor(*tree);
  return cursor.seek(key).value_or(false) ? std::optional(cursor.key()) : std::nullopt;
}

Result<uint64_t> Transaction::count(Table table) const {
  if (handle_ == nullptr) return std::unexpected(lmdb_error(MDB_BAD_TXN, "read the file"));
  if (!state_->tables().is_current(table)) return std::unexpected(lmdb_error(MDB_BAD_DBI, "read the file"));
  MDB_stat stat;
  const int code = mdb_stat(handle_, table.slot(), &stat);
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(with_meaning(code), "read the file"));
  uint64_t count = stat.ms_entries;
  if (count > 0 && !TableTree::of(*this, table) && is_removed(handle_, *state_, table)) count = 0;
  if (pending_ == nullptr) return count;
  PendingView::Walk walk(*pending_, table.slot(), upto_);
  for (bool more = walk.seek({}); more; more = walk.next()) {
    const PendingView::Change change = walk.change();
    MDB_val key = lmdb_value(change.key), record;
    const bool was_there = mdb_get(handle_, table.slot(), &key, &record) == MDB_SUCCESS;
    count += (change.is_erased ? 0 : 1) - (was_there ? 1 : 0);
  }
  return count;
}

// LMDB's number, and how many commits there are beside its tree: those become one of LMDB's in the end.
uint64_t Transaction::number() const noexcept {
  if (handle_ == nullptr) return 0;
  return commit_number(pending_ == nullptr ? mdb_txn_id(handle_) : pending_->base(), upto_);
}

ReadTransaction& ReadTransaction::operator=(ReadTransaction&& other) noexcept {
  if (this != &other) {
    end();
    state_ = other.state_;
    handle_ = std::exchange(other.handle_, nullptr);
    pending_ = std::move(other.pending_);
    upto_ = other.upto_;
    now_ = other.now_;
  }
  return *this;
}

std::optional<ReadTransaction> ReadTransaction::beside(const Transaction& transaction) {
  if (transaction.is_write()) return std::nullopt;
  auto other = begin(transaction.state(), transaction.now());
  if (!other) return std::nullopt;
  if (other->pending_ != nullptr) other->upto_ = transaction.upto();  // later ones are no hindrance
  if (other->number() != transaction.number()) return std::nullopt;
  return std::move(*other);
}

Result<ReadTransaction> ReadTransaction::begin(FileState& state, uint32_t now) {
  std::shared_ptr<const PendingView> pending = state.small_commits().newest();
  QUIRE_ASSIGN(MDB_txn * handle, state.readers().begin());
  ReadTransaction begun(&state, handle, now);
  begun.pending_ = std::move(pending);
  if (!begun.is_in_step()) QUIRE_TRY(begun.renew());
  return begun;
}

Result<void> ReadTransaction::renew() {
  if (handle_ == nullptr) return fail(ErrorCode::misuse, "the snapshot has ended");
  SmallCommits& small = state_->small_commits();
  do {
    if (!small.is_newest(pending_.get())) pending_ = small.newest();
    MDB_txn* handle = std::exchange(handle_, nullptr);
    QUIRE_TRY(state_->readers().renew(handle));
    handle_ = handle;
  } while (!is_in_step());
  now_ = state_->now();
  return {};
}

// What is pending follows one of LMDB's commits. A snapshot of a newer one has it in its tree, where a later
// commit may have changed it again.
bool ReadTransaction::is_in_step() noexcept {
  upto_ = pending_ == nullptr ? 0 : pending_->last();
  if (pending_ == nullptr || pending_->fits(mdb_txn_id(handle_))) [[likely]]
    return true;
  state_->small_commits().wait_for_newest();
  return false;
}

void ReadTransaction::end() noexcept {
  if (handle_ != nullptr) state_->readers().end(std::exchange(handle_, nullptr));
  pending_.reset();
}

// ---- Writing

ChangeList& WriteTransaction::changes() const noexcept {
  return state_->log().changes();
}

Result<std::span<char>> WriteTransaction::reserve_with(Table table, Bytes key, size_t size, unsigned flags) {
  if (handle_ == nullptr) return std::unexpected(lmdb_error(MDB_BAD_TXN, "write to the file"));
  if (!state_->tables().is_current(table))
    return std::unexpected(lmdb_error(MDB_BAD_DBI, "write to the file"));
  if (!may_change(key.size() + size)) [[unlikely]]
    return std::unexpected(too_large(request_->size_limit_));
  QUIRE_TRY(outgrow_small(key.size() + size));
  if (is_small()) return reserve_pending(table, key, size, flags);
  MDB_val wanted = lmdb_value(key), record{size, nullptr};
  const int code = mdb_put(handle_, table.slot(), &wanted, &record, flags | MDB_RESERVE);
  if (code == MDB_SUCCESS) changes().note(table.slot(), key, size);
  return reserved(code, record.mv_data, size);
}

Result<std::span<char>> WriteTransaction::reserved(int code, void* place, size_t size) {
  if (code == MDB_SUCCESS) return std::span(static_cast<char*>(place), size);
  if (code == MDB_KEYEXIST) return std::span<char>();
  if (code == MDB_MAP_FULL) note(Retry::map_full);
  return std::unexpected(lmdb_error(with_meaning(code), "write to the file"));
}

Result<std::span<char>> WriteTransaction::reserve(Table table, Bytes key, size_t size) {
  return reserve_with(table, key, size, 0);
}
Result<std::span<char>> WriteTransaction::reserve_new(Table table, Bytes key, size_t size) {
  return reserve_with(table, key, size, MDB_NOOVERWRITE);
}

namespace {

// LMDB fills a page from its end, so that what is appended next comes before this, and the memory of a new
// page lies in no cache: a processor writes in order, and would wait for each line of it.
void ask_for_place_before(const char* record, size_t bytes) noexcept {
  constexpr size_t kLine = 64, kMost = 16 * kLine;
  const auto begin = reinterpret_cast<uintptr_t>(record);
  for (size_t before = kLine; before <= std::min(bytes, kMost) + kLine; before += kLine)
    sql::prefetch_to_write(reinterpret_cast<const char*>(begin - before));
}

}  // namespace

Result<std::span<char>> WriteTransaction::reserve_append(Table table, Bytes key, size_t size) {
  return reserve_with(table, key, size, MDB_APPEND);
}
Result<std::span<char>> WriteTransaction::reserve_append(FileCursor& end, Bytes key, size_t size) {
  if (is_small()) QUIRE_TRY(must_have_tree());
  QUIRE_TRY(end.follow());
  if (!may_change(key.size() + size)) [[unlikely]]
    return std::unexpected(too_large(request_->size_limit_));
  MDB_val wanted = lmdb_value(key), record{size, nullptr};
  const int code = mdb_cursor_put(end.cursor_.get(), &wanted, &record, MDB_APPEND | MDB_RESERVE);
  if (code == MDB_SUCCESS) {
    changes().note(mdb_cursor_dbi(end.cursor_.get()), key, size);
    ask_for_place_before(static_cast<const char*>(record.mv_data), key.size() + size);
  }
  return reserved(code, record.mv_data, size);
}

namespace {

// Whether there is a place; fills it.
Result<bool> fill(const Result<std::span<char>>& place, Bytes record) {
  if (!place) return std::unexpected(place.error());
  if (place->data() == nullptr) return false;
  if (!record.empty()) std::memcpy(place->data(), record.data(), record.size());
  return true;
}

}  // namespace

void WriteTransaction::ask_for(Table table, Bytes key) const noexcept {
  if (is_small()) pending_->newest()->ask_for(table.slot(), key);
}

WriteTransaction::AskedEntry WriteTransaction::ask_for_entry(Table table, Bytes key) const {
  if (!is_small()) return {};
  pending_->newest()->ask_for(table.slot(), key);
  if (pending_->applying() != nullptr) pending_->applying()->ask_for(table.slot(), key);
  const auto tree = TableTree::of(*this, table);
  return {tree && !tree->is_empty() ? tree->ask_for_leaf(key) : nullptr};
}

Result<std::optional<Bytes>> WriteTransaction::get_asked(Table table, Bytes key,
                                                         const AskedEntry& asked) const {
  // Once it has moved to LMDB's tree, the snapshot that the leaf is of does not tell of all changes.
  const auto tree = asked.leaf != nullptr && is_small() ? TableTree::of(*this, table) : std::nullopt;
  if (!tree) return get(table, key);
  if (const auto change = pending_->find_at_hand(table.slot(), key))
    return change->is_erased ? std::optional<Bytes>() : change->record;
  return tree->find_in_leaf(asked.leaf, key);
}

Result<void> WriteTransaction::put(Table table, Bytes key, Bytes record) {
  QUIRE_TRY(fill(reserve(table, key, record.size()), record));
  return {};
}
Result<bool> WriteTransaction::put_new(Table table, Bytes key, Bytes record) {
  return fill(reserve_new(table, key, record.size()), record);
}
Result<bool> WriteTransaction::append(Table table, Bytes key, Bytes record) {
  return fill(reserve_append(table, key, record.size()), record);
}

Result<bool> WriteTransaction::erase(Table table, Bytes key) {
  return erase(table, key, false);
}
Result<void> WriteTransaction::erase_found(Table table, Bytes key) {
  QUIRE_TRY(erase(table, key, true));
  return {};
}

Result<bool> WriteTransaction::erase(Table table, Bytes key, bool is_found) {
  if (handle_ == nullptr) return std::unexpected(lmdb_error(MDB_BAD_TXN, "write to the file"));
  if (!state_->tables().is_current(table))
    return std::unexpected(lmdb_error(MDB_BAD_DBI, "write to the file"));
  if (!may_change(key.size())) [[unlikely]]
    return std::unexpected(too_large(request_->size_limit_));
  QUIRE_TRY(outgrow_small(key.size()));
  if (is_small()) return erase_pending(table, key, is_found);
  MDB_val wanted = lmdb_value(key);
  const int code = mdb_del(handle_, table.slot(), &wanted, nullptr);
  if (code == MDB_SUCCESS) {
    changes().note(table.slot(), key, 0);
    return true;
  }
  if (code == MDB_NOTFOUND) return false;
  if (code == MDB_MAP_FULL) note(Retry::map_full);
  return std::unexpected(lmdb_error(with_meaning(code), "write to the file"));
}

Result<void> WriteTransaction::erase(FileCursor& at) {
  if (!may_change(at.key().size())) [[unlikely]]
    return std::unexpected(too_large(request_->size_limit_));
  QUIRE_TRY(outgrow_small(at.key().size()));
  if (is_small()) {
    pending_->newest()->erase(mdb_cursor_dbi(at.cursor_.get()), at.key());
    return {};
  }
  QUIRE_TRY(at.stay_in_tree());
  changes().note(mdb_cursor_dbi(at.cursor_.get()), at.key(), 0);
  const int code = mdb_cursor_del(at.cursor_.get(), 0);
  if (code == MDB_SUCCESS) return {};
  if (code == MDB_MAP_FULL) note(Retry::map_full);
  return std::unexpected(lmdb_error(with_meaning(code), "write to the file"));
}

Result<void> WriteTransaction::outgrow_small(size_t bytes) {
  const bool is_too_large =
      is_small() && pending_->newest()->bytes() + bytes > state_->log().most_of_commit();
  return is_too_large ? must_have_tree() : Result<void>();
}

Result<void> WriteTransaction::must_have_tree() {
  if (!outermost().can_run_again_) return move_to_tree();
  note(Retry::not_small);
  return fail(ErrorCode::busy, "the transaction has to be run again");
}

Result<std::span<char>> WriteTransaction::reserve_pending(Table table, Bytes key, size_t size,
                                                          unsigned flags) {
  if (key.empty() || key.size() > kLongestTableKey)
    return std::unexpected(lmdb_error(MDB_BAD_VALSIZE, "write to the file"));
  if ((flags & MDB_NOOVERWRITE) != 0) {
    QUIRE_ASSIGN(const auto record, get(table, key));
    if (record) return std::span<char>();
  }
  PendingCommits& newest = *pending_->newest();
  if ((flags & MDB_APPEND) == 0) return newest.put(table.slot(), key, size);
  if (!newest.is_behind_appended(table.slot(), key)) {
    QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(*this, table));
    QUIRE_ASSIGN(const bool has_any, cursor.last());
    if (has_any && cursor.key() >= key) return std::span<char>();
  }
  return newest.append(table.slot(), key, size);
}

Result<bool> WriteTransaction::erase_pending(Table table, Bytes key, bool is_found) {
  if (!is_found) {
    QUIRE_ASSIGN(const auto record, get(table, key));
    if (!record) return false;
  }
  pending_->newest()->erase(table.slot(), key);
  return true;
}

Result<void> WriteTransaction::check_size() const {
  if (request_->size_ <= request_->size_limit_) return {};
  return std::unexpected(too_large(request_->size_limit_));
}

uint64_t& WriteTransaction::mark(Table table) const {
  auto& marks = request_->marks_;
  for (auto& [marked, number] : marks)
    if (marked.slot() == table.slot()) return number;
  return marks.emplace_back(table, 0).second;
}

Result<void> WriteTransaction::nested(const std::function<Result<void>(WriteTransaction&)>& work) {
  if (handle_ == nullptr) return std::unexpected(lmdb_error(MDB_BAD_TXN, "write to the file"));
  QUIRE_TRY(check_no_nested());
  return WriteSession::run_nested(*this, work);
}

Result<void> WriteTransaction::check_no_nested() const {
  if (nested_ == nullptr) return {};
  return fail(ErrorCode::misuse,
              "a procedure runs within the transaction: nothing else can write to it, nor end it, meanwhile");
}

// ---- Tables

Result<void> WriteTransaction::claim_tables() {
  WriteTransaction& first = outermost();
  if (first.owns_tables_) return {};
  TableRegistry& tables = state_->tables();
  QUIRE_TRY(tables.claim(state_->deadline()));
  if (tables.version() != first.tables_version_) {
    tables.release();
    note(Retry::tables_changed);
    return fail(ErrorCode::busy, "another thread opened a container meanwhile; run the transaction again");
  }
  first.owns_tables_ = true;
  return {};
}

Result<Table> WriteTransaction::create_table(std::string_view name) {
  QUIRE_ASSIGN(const std::optional<Table> existing, open_table(name));
  if (existing) return fail(ErrorCode::conflict, "there is a table '" + std::string(name) + "' already");
  if (is_small()) QUIRE_TRY(must_have_tree());
  QUIRE_TRY(claim_tables());
  changes().give_up();
  unsigned slot = 0;
  const std::string text(name);
  const int code = mdb_dbi_open(handle_, text.c_str(), MDB_CREATE, &slot);
  if (code == MDB_MAP_FULL) note(Retry::map_full);
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "make a table"));
  const Table table = state_->tables().handle(slot);
  opened_tables_.emplace_back(text, table);
  return table;
}

Result<std::optional<Table>> WriteTransaction::open_table(std::string_view name) {
  for (const WriteTransaction* at = this; at != nullptr; at = at->parent_)
    for (const auto& [opened, table] : at->opened_tables_)
      if (opened == name) return table;
  TableRegistry& tables = state_->tables();
  if (const auto found = tables.find(name, outermost().tables_version_)) return found;
  if (is_small()) QUIRE_TRY(must_have_tree());
  QUIRE_TRY(claim_tables());
  unsigned slot = 0;
  const std::string text(name);
  const int code = mdb_dbi_open(handle_, text.c_str(), 0, &slot);
  if (code == MDB_NOTFOUND) return std::nullopt;
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "open a table"));
  const Table table = tables.handle(slot);
  opened_tables_.emplace_back(text, table);
  return table;
}

// LMDB would close the handle at once if it removed the table, under the hands of snapshots at work and even
// if this transaction rolls back. So the table is emptied now, noted in "meta", and removed later
// (WriteSession).
Result<void> WriteTransaction::drop_table(std::string_view name) {
  QUIRE_ASSIGN(const std::optional<Table> table, open_table(name));
  if (!table) return fail(ErrorCode::container_not_found, "there is no table '" + std::string(name) + "'");
  if (is_small()) QUIRE_TRY(must_have_tree());
  changes().give_up();
  const int code = mdb_drop(handle_, table->slot(), 0);
  if (code == MDB_MAP_FULL) note(Retry::map_full);
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(with_meaning(code), "drop a table"));
  QUIRE_TRY(put(state_->facts.meta, dropped_table_row(name), {}));
  dropped_tables_.emplace_back(name);
  return {};
}

void WriteTransaction::rolled_back() noexcept {
  for (auto& undo : on_rollback_ | std::views::reverse) undo();
  for (const auto& [name, table] : opened_tables_) state_->tables().forget(name, table);
  on_rollback_.clear();
  opened_tables_.clear();
}

void WriteTransaction::prepare_to_commit() {
  if (parent_ == nullptr) return;
  const auto make_room = [](const auto& from, auto& to) { to.reserve(to.size() + from.size()); };
  make_room(opened_tables_, parent_->opened_tables_);
  make_room(dropped_tables_, parent_->dropped_tables_);
  make_room(on_rollback_, parent_->on_rollback_);
  make_room(on_commit_, parent_->on_commit_);
}

void WriteTransaction::committed() noexcept {
  if (parent_ != nullptr) {
    const auto hand_over = [](auto& from, auto& to) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    hand_over(opened_tables_, parent_->opened_tables_);
    hand_over(dropped_tables_, parent_->dropped_tables_);
    hand_over(on_rollback_, parent_->on_rollback_);
    hand_over(on_commit_, parent_->on_commit_);
    parent_->charge(charge_);
    return;
  }
  try {
    for (const auto& [name, table] : opened_tables_) state_->tables().enter(name, table);
    for (std::string& name : dropped_tables_) state_->tables().add_dropped(std::move(name));
  } catch (const std::bad_alloc&) {
    // A table that is not known as open is opened when it is asked for, a dropped one removed at the next
    // open.
  }
  for (auto& act : on_commit_) act();
}

}  // namespace quire::engine
