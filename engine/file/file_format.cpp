#include "engine/file/file_format.h"

#include <fmt/format.h>
#include <lmdb.h>

#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <random>

#include "engine/file/format_upgrades.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/lmdb_value.h"

namespace quire::engine {
namespace {

constexpr std::string_view kFormatRow = "format";
constexpr std::string_view kCreatedRow = "created";
constexpr std::string_view kDroppedRow = "dropped/";
constexpr char kMark[8] = {'q', 'u', 'i', 'r', 'e', 0, 0, 0};

struct AbortTransaction {
  void operator()(MDB_txn* transaction) const noexcept { mdb_txn_abort(transaction); }
};
using TransactionHandle = std::unique_ptr<MDB_txn, AbortTransaction>;

template <typename Number>
int put_number(MDB_txn* transaction, MDB_dbi table, std::string_view name, Number number) {
  MDB_val key = lmdb_value(name), record{sizeof number, &number};
  return mdb_put(transaction, table, &key, &record, 0);
}

int put_version(MDB_txn* transaction, MDB_dbi meta, uint32_t version) {
  char row[sizeof kMark + sizeof version];
  std::memcpy(row, kMark, sizeof kMark);
  std::memcpy(row + sizeof kMark, &version, sizeof version);
  MDB_val key = lmdb_value(kFormatRow), record{sizeof row, row};
  return mdb_put(transaction, meta, &key, &record, 0);
}

// The format version; nothing if "meta" does not say that it is ours.
std::optional<uint32_t> read_version(MDB_txn* transaction, MDB_dbi meta) {
  MDB_val key = lmdb_value(kFormatRow), record;
  if (mdb_get(transaction, meta, &key, &record) != MDB_SUCCESS ||
      record.mv_size != sizeof kMark + sizeof(uint32_t) ||
      std::memcmp(record.mv_data, kMark, sizeof kMark) != 0)
    return std::nullopt;
  uint32_t version;
  std::memcpy(&version, static_cast<const char*>(record.mv_data) + sizeof kMark, sizeof version);
  return version;
}

enum class Standing : uint8_t { empty, current, older };

class FormatOpener {
 public:
  FormatOpener(MDB_env* environment, std::string_view path) : environment_(environment), path_(path) {}

  // Begins the transaction that the other steps use.
  Result<void> begin(bool read_only) {
    MDB_txn* transaction = nullptr;
    int code = mdb_txn_begin(environment_, nullptr, read_only ? MDB_RDONLY : 0, &transaction);
    while (code == MDB_MAP_RESIZED) {
      mdb_env_set_mapsize(environment_, 0);
      code = mdb_txn_begin(environment_, nullptr, read_only ? MDB_RDONLY : 0, &transaction);
    }
    transaction_.reset(transaction);
    return check(code);
  }

  // For reading.
  Result<void> begin_checked(const std::function<Result<bool>(uint64_t commit)>& check_commit) {
    constexpr int kMostTries = 100;
    for (int tries = 0; tries < kMostTries; ++tries) {
      transaction_.reset();
      QUIRE_TRY(begin(true));
      QUIRE_ASSIGN(const bool is_checked, check_commit(mdb_txn_id(transaction_.get())));
      if (is_checked) return {};
    }
    return fail(ErrorCode::busy,
                fmt::format("'{}' is written to all the time; try again", shown_path(path_)));
  }

  Result<Standing> look() {
    MDB_dbi main;
    MDB_stat stat{};
    QUIRE_TRY(check(mdb_dbi_open(transaction_.get(), nullptr, 0, &main)));
    QUIRE_TRY(check(mdb_stat(transaction_.get(), main, &stat)));
    if (stat.ms_entries == 0) return Standing::empty;
    const int code = mdb_dbi_open(transaction_.get(), std::string(kMetaTable).c_str(), 0, &meta_);
    if (code != MDB_NOTFOUND && code != MDB_INCOMPATIBLE) QUIRE_TRY(check(code));
    const auto version = code == MDB_SUCCESS ? read_version(transaction_.get(), meta_) : std::nullopt;
    if (!version)
      return fail(ErrorCode::not_a_database,
                  fmt::format("'{}' is an LMDB file, but not one of Quire's", shown_path(path_)));
    if (*version > kFormatVersion)
      return fail(ErrorCode::newer_format,
                  fmt::format("'{}' has format {}, made by a newer Quire; this one reads formats up to {}",
                              shown_path(path_), *version, kFormatVersion));
    version_ = *version;
    return *version == kFormatVersion ? Standing::current : Standing::older;
  }

  Result<void> create() {
    MDB_dbi catalog;
    QUIRE_TRY(check(mdb_dbi_open(transaction_.get(), std::string(kMetaTable).c_str(), MDB_CREATE, &meta_)));
    QUIRE_TRY(
        check(mdb_dbi_open(transaction_.get(), std::string(kCatalogTable).c_str(), MDB_CREATE, &catalog)));
    QUIRE_TRY(check(put_version(transaction_.get(), meta_, kFormatVersion)));
    QUIRE_TRY(check(
        put_number(transaction_.get(), meta_, kDatabaseRow, static_cast<uint32_t>(std::random_device{}()))));
    return check(
        put_number(transaction_.get(), meta_, kCreatedRow, static_cast<uint64_t>(std::time(nullptr))));
  }

  Result<void> upgrade() {
    QUIRE_TRY(check(upgrade_format(transaction_.get(), meta_, version_)));
    return check(put_version(transaction_.get(), meta_, kFormatVersion));
  }

  // Tables that were dropped but not yet removed, when the process that dropped them ended.
  Result<void> remove_dropped() {
    for (;;) {
      QUIRE_ASSIGN(const std::optional<std::string> row, first_dropped_row());
      if (!row) return {};
      MDB_dbi table;
      if (mdb_dbi_open(transaction_.get(), row->c_str() + kDroppedRow.size(), 0, &table) == MDB_SUCCESS)
        QUIRE_TRY(check(mdb_drop(transaction_.get(), table, 1)));
      MDB_val key = lmdb_value(*row);
      QUIRE_TRY(check(mdb_del(transaction_.get(), meta_, &key, nullptr)));
    }
  }

  Result<std::optional<std::string>> first_dropped_row() {
    MDB_cursor* cursor = nullptr;
    MDB_val key = lmdb_value(kDroppedRow), record;
    QUIRE_TRY(check(mdb_cursor_open(transaction_.get(), meta_, &cursor)));
    const int code = mdb_cursor_get(cursor, &key, &record, MDB_SET_RANGE);
    mdb_cursor_close(cursor);
    if (code == MDB_NOTFOUND) return std::nullopt;
    QUIRE_TRY(check(code));
    std::string row(static_cast<const char*>(key.mv_data), key.mv_size);
    if (!row.starts_with(kDroppedRow)) return std::nullopt;
    return row;
  }

  // Ends the transaction; its handles are the environment's from now on.
  Result<FileState::Facts> finish() {
    FileState::Facts facts;
    MDB_dbi catalog;
    const int code = mdb_dbi_open(transaction_.get(), std::string(kCatalogTable).c_str(), 0, &catalog);
    if (code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE)
      return fail(ErrorCode::corrupt, fmt::format("'{}' has no catalog", shown_path(path_)));
    QUIRE_TRY(check(code));
    MDB_val key = lmdb_value(kDatabaseRow), record;
    QUIRE_TRY(check(mdb_get(transaction_.get(), meta_, &key, &record)));
    if (record.mv_size == sizeof facts.database_number)
      std::memcpy(&facts.database_number, record.mv_data, sizeof facts.database_number);
    facts.meta = Table(meta_, 0);
    facts.catalog = Table(catalog, 0);
    QUIRE_TRY(check(mdb_dbi_open(transaction_.get(), nullptr, 0, &facts.main)));
    MDB_stat stat{};
    QUIRE_TRY(check(mdb_stat(transaction_.get(), facts.main, &stat)));
    facts.page_bytes = stat.ms_psize;
    QUIRE_TRY(check(mdb_txn_commit(transaction_.release())));
    return facts;
  }

  void abandon() { transaction_.reset(); }

 private:
  Result<void> check(int code) const {
    if (code == MDB_SUCCESS) return {};
    return std::unexpected(lmdb_error(code, fmt::format("open '{}'", path_)));
  }

  MDB_env* environment_;
  std::string_view path_;
  TransactionHandle transaction_;
  MDB_dbi meta_ = 0;
  uint32_t version_ = 0;
};

class HeldLock {
 public:
  explicit HeldLock(WriteLock& lock) : lock_(lock) {}
  ~HeldLock() { lock_.release(); }

 private:
  WriteLock& lock_;
};

}  // namespace

std::string dropped_table_row(std::string_view table) {
  return std::string(kDroppedRow) += table;
}

int rewrite_format_row(MDB_txn* transaction, MDB_dbi meta) noexcept {
  const auto version = read_version(transaction, meta);
  return version ? put_version(transaction, meta, *version) : MDB_CORRUPTED;
}

Result<FileState::Facts> open_format(FileState& state, std::string_view path,
                                     const std::function<Result<bool>(uint64_t commit)>& check_commit) {
  const bool read_only = state.is_read_only();
  FormatOpener opener(state.environment(), path);
  QUIRE_TRY(opener.begin_checked(check_commit));
  QUIRE_ASSIGN(Standing standing, opener.look());
  bool is_ready = standing == Standing::current;
  if (is_ready && !read_only) {
    QUIRE_ASSIGN(const std::optional<std::string> dropped, opener.first_dropped_row());
    is_ready = !dropped;
  }
  if (is_ready) return opener.finish();
  opener.abandon();
  if (read_only)
    return fail(ErrorCode::read_only,
                fmt::format("'{}' is {}; open it once for writing", shown_path(path),
                            standing == Standing::empty ? "empty" : "of an older format"));

  QUIRE_TRY(state.write_lock().acquire({state.deadline()}));
  const HeldLock held(state.write_lock());
  // What is written here may take pages of an anchor.
  if (!state.is_in_memory()) QUIRE_TRY(state.anchor().prepare(Durability::full, 0));
  QUIRE_TRY(opener.begin(false));
  QUIRE_ASSIGN(standing, opener.look());  // another process may have been faster
  if (standing == Standing::empty) QUIRE_TRY(opener.create());
  if (standing == Standing::older) QUIRE_TRY(opener.upgrade());
  QUIRE_TRY(opener.remove_dropped());
  return opener.finish();
}

}  // namespace quire::engine
