#include "engine/file/anchor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/log_replay.h"
#include "engine/file/sole_use.h"

namespace quire::engine {
namespace {

constexpr std::string_view kMagic = "QANCHOR1";
constexpr size_t kSequenceAt = 8, kSetAt = 16, kBootAt = 24, kMetaAt = 40,
                 kSumAt = kMetaAt + layout::kMetaBytes, kRecordBytes = kSumAt + 8;
constexpr uint64_t kNotSet = 0, kSet = 1, kSetWithLog = 2;
using RecordBytes = std::array<char, kRecordBytes>;
using MetaPageBytes = std::array<char, layout::kPageHeader + layout::kMetaBytes>;

off_t place_of(uint64_t sequence, uint32_t page_bytes) {
  return static_cast<off_t>(sequence % layout::kMetaPages * page_bytes + page_bytes / 2);
}

template <typename Number>
void store(Number number, char* at) {
  std::memcpy(at, &number, sizeof number);
}

std::optional<AnchorRecord> parse_record(const RecordBytes& bytes) {
  const char* const at = bytes.data();
  if (std::string_view(at, kMagic.size()) != kMagic ||
      layout::load<uint64_t>(at + kSumAt) != XXH3_64bits(at, kSumAt))
    return std::nullopt;
  AnchorRecord record;
  record.sequence = layout::load<uint64_t>(at + kSequenceAt);
  const auto standing = layout::load<uint64_t>(at + kSetAt);
  record.is_set = standing == kSet || standing == kSetWithLog;
  record.has_log = standing == kSetWithLog;
  std::memcpy(record.boot.data(), at + kBootAt, record.boot.size());
  std::memcpy(record.meta.data(), at + kMetaAt, record.meta.size());
  // What a stranger has put there, checksum and all, must not take the place of a meta page.
  const bool is_meta = layout::load<uint32_t>(record.meta.data()) == layout::kMagic &&
                       layout::load<uint32_t>(record.meta.data() + 4) == layout::kLmdbVersion;
  if (record.is_set && !is_meta) return std::nullopt;
  return record;
}

Result<void> sync(int descriptor) {
  if (fdatasync(descriptor) != 0) return cannot("write to the disk");
  return {};
}

Result<void> write_all(int descriptor, const char* bytes, size_t count, off_t at) {
  errno = 0;
  if (pwrite(descriptor, bytes, count, at) != static_cast<ssize_t>(count)) return cannot("write to the file");
  return {};
}

// The size of the pages of a file that LMDB has made; 0 if it is none, or has pages without room for a
// record.
Result<uint32_t> page_bytes_of(int descriptor) {
  MetaPageBytes bytes{};
  const ssize_t got = pread(descriptor, bytes.data(), bytes.size(), 0);
  if (got < 0) return cannot("read the file");
  if (static_cast<size_t>(got) < bytes.size()) return 0;
  const auto meta = layout::parse_meta(bytes.data());
  return meta && meta->page_bytes / 2 >= kRecordBytes ? meta->page_bytes : 0;
}

// LMDB's meta page of that commit, as it is in the file.
Result<std::array<char, layout::kMetaBytes>> meta_bytes_of(int descriptor, uint32_t page_bytes,
                                                           uint64_t commit) {
  std::array<char, layout::kMetaBytes> meta;
  const auto at = static_cast<off_t>(layout::meta_page_of(commit) * page_bytes + layout::kPageHeader);
  if (pread(descriptor, meta.data(), meta.size(), at) != static_cast<ssize_t>(meta.size()))
    return cannot("read the file");
  if (layout::load<uint64_t>(meta.data() + 128) == commit) return meta;
  return fail(ErrorCode::internal, "the newest commit has no meta page");
}

}  // namespace

// ---- The record

Result<AnchorRecord> read_anchor(int descriptor, uint32_t page_bytes) {
  AnchorRecord newest;
  for (uint64_t slot = 0; slot < layout::kMetaPages; ++slot) {
    RecordBytes bytes{};
    if (pread(descriptor, bytes.data(), bytes.size(), place_of(slot, page_bytes)) < 0)
      return cannot("read the file");
    const auto record = parse_record(bytes);
    if (record && record->sequence > newest.sequence) newest = *record;
  }
  return newest;
}

Result<void> write_anchor(int descriptor, uint32_t page_bytes, AnchorRecord& record) {
  ++record.sequence;
  const uint64_t standing = !record.is_set ? kNotSet : record.has_log ? kSetWithLog : kSet;
  RecordBytes bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store(record.sequence, bytes.data() + kSequenceAt);
  store(standing, bytes.data() + kSetAt);
  std::memcpy(bytes.data() + kBootAt, record.boot.data(), record.boot.size());
  std::memcpy(bytes.data() + kMetaAt, record.meta.data(), record.meta.size());
  store(uint64_t{XXH3_64bits(bytes.data(), kSumAt)}, bytes.data() + kSumAt);
  QUIRE_TRY(write_all(descriptor, bytes.data(), bytes.size(), place_of(record.sequence, page_bytes)));
  return sync(descriptor);
}

std::array<char, 16> this_boot() {
  std::array<char, 16> boot{};
  char text[36];  // a UUID
  const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 || read(file.number(), text, sizeof text) != sizeof text) return boot;
  size_t digits = 0;
  for (const char* at = text; at < text + sizeof text && digits < 2 * boot.size(); ++at) {
    uint8_t digit = 0;
    if (*at == '-') continue;
    if (std::from_chars(at, at + 1, digit, 16).ec != std::errc()) return {};
    boot[digits / 2] = static_cast<char>(static_cast<uint8_t>(boot[digits / 2]) << 4 | digit);
    ++digits;
  }
  return boot;
}

// ---- Before a file is opened

namespace {

bool is_of_this_boot(const AnchorRecord& record) {
  const auto boot = this_boot();
  return boot == record.boot && boot != std::array<char, 16>{};
}

Result<void> take_back(int descriptor, uint32_t page_bytes, const AnchorRecord& record) {
  for (uint64_t page = 0; page < layout::kMetaPages; ++page)
    QUIRE_TRY(write_all(descriptor, record.meta.data(), record.meta.size(),
                        static_cast<off_t>(page * page_bytes + layout::kPageHeader)));
  return {};
}

}  // namespace

Result<void> settle_anchor_alone(int descriptor, const std::string& path, bool is_trusted) {
  QUIRE_ASSIGN(const uint32_t page_bytes, page_bytes_of(descriptor));
  if (page_bytes == 0) return {};
  QUIRE_ASSIGN(AnchorRecord record, read_anchor(descriptor, page_bytes));
  if (!record.is_set) return {};
  if (record.has_log || !is_of_this_boot(record)) QUIRE_TRY(take_back(descriptor, page_bytes, record));
  QUIRE_TRY(sync(descriptor));
  QUIRE_TRY(record.has_log ? replay_log(descriptor, path, record, is_trusted)
                           : replay_pending(descriptor, path, is_trusted));
  record.is_set = false;
  return write_anchor(descriptor, page_bytes, record);
}

Result<bool> settle_anchor(int descriptor, const std::string& path, const SettleOptions& options) {
  QUIRE_ASSIGN(const uint32_t page_bytes, page_bytes_of(descriptor));
  if (page_bytes == 0) return true;
  QUIRE_ASSIGN(const AnchorRecord record, read_anchor(descriptor, page_bytes));
  if (!record.is_set) return true;
  // Who has it open keeps the anchor, and the log.
  QUIRE_ASSIGN(const OpenBy by, opened_by(path));
  if (by != OpenBy::nobody) return by == OpenBy::others;
  if (options.read_only)
    return fail(
        ErrorCode::cannot_open,
        fmt::format("'{}' was not closed by who last wrote to it, or the machine went down: open it "
                    "once for writing, which brings it to its last whole state; where its disk is full, do "
                    "so with a copy elsewhere",
                    path));
  QUIRE_ASSIGN(const std::optional<Descriptor> lock, lock_for_sole_use(path));
  if (!lock) return false;
  QUIRE_TRY(settle_anchor_alone(descriptor, path, options.is_trusted));
  return true;
}

// ---- While it is open

Anchor::~Anchor() {
  hold(nullptr);
}

void Anchor::hold(MDB_txn* snapshot) noexcept {
  if (snapshot_ != nullptr) mdb_txn_abort(snapshot_);
  snapshot_ = snapshot;
  held_commit_.store(snapshot == nullptr ? 0 : mdb_txn_id(snapshot), std::memory_order_relaxed);
}

Result<void> Anchor::check_trust() const {
  if (!is_distrusted_) return {};
  return fail(ErrorCode::io,
              "an earlier write did not reach the disk: close the database and open it again, here and in "
              "other processes, before you write to it");
}

Result<void> Anchor::prepare(Durability durability, uint64_t newest) {
  QUIRE_TRY(check_trust());
  if (page_bytes_ == 0) {
    MDB_stat stat;
    mdb_env_stat(environment_, &stat);
    page_bytes_ = stat.ms_psize;
  }
  QUIRE_ASSIGN(record_, read_anchor(descriptor_, page_bytes_));
  const bool is_hurried = is_hurried_.exchange(false);
  // The pages of a commit are kept by a snapshot of it, or of an older one.
  const bool is_kept = record_.is_set && snapshot_ != nullptr && held_commit() <= record_.transaction();
  if (durability != Durability::relaxed) {
    const bool may_stay = durability == Durability::full && is_kept && record_.has_log && !is_hurried;
    return may_stay ? Result<void>() : give_up();
  }
  if (is_kept && !record_.has_log && !must_advance(newest, is_hurried)) return {};
  return advance(false);
}

bool Anchor::must_advance(uint64_t newest, bool is_hurried) noexcept {
  if (newest == record_.transaction()) return false;
  MDB_envinfo info;
  mdb_env_info(environment_, &info);
  is_due_ = info.me_last_pgno >= record_.last_page() + kPagesUntilDue;
  return is_hurried || info.me_last_pgno >= record_.last_page() + kMostPages;
}

bool Anchor::is_far(uint64_t newest) const noexcept {
  const uint64_t pages = record_.last_page();
  MDB_envinfo info;
  mdb_env_info(environment_, &info);
  return info.me_last_pgno >= pages + std::max(kLeastPagesWithLog, pages / 8) ||
         newest >= record_.transaction() + std::max(kLeastCommitsWithLog, pages / 64);
}

// A record that cannot be read, or is being written, is looked at again some other time.
bool Anchor::is_passed() const {
  if (held_commit() == 0) return false;
  const auto record = read_anchor(descriptor_, page_bytes_);
  return record && record->sequence > 0 && (!record->is_set || record->transaction() > held_commit());
}

void Anchor::let_go_if_passed() {
  if (is_passed()) hold(nullptr);
}

Result<void> Anchor::set_with_log() {
  return advance(true);
}

// The older snapshot is let go when the new anchor is on the disk.
Result<void> Anchor::advance(bool has_log) {
  MDB_txn* snapshot = nullptr;
  if (const int code = mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &snapshot); code != MDB_SUCCESS)
    return std::unexpected(lmdb_error(code, "begin a snapshot"));
  AnchorRecord next = record_;
  const auto put_down_next = [&]() -> Result<void> {
    QUIRE_ASSIGN(next.meta, meta_bytes_of(descriptor_, page_bytes_, mdb_txn_id(snapshot)));
    next.is_set = true;
    next.has_log = has_log;
    next.boot = this_boot();
    return put_down(next);
  };
  auto done = put_down_next();
  if (!done) {
    mdb_txn_abort(snapshot);
    return done;
  }
  hold(snapshot);
  is_due_ = false;
  return {};
}

Result<void> Anchor::give_up() {
  if (record_.is_set) {
    AnchorRecord next = record_;
    next.is_set = false;
    QUIRE_TRY(put_down(next));
  }
  hold(nullptr);
  return {};
}

// The system tells once that a write has failed, and forgets the bytes: a sync that succeeds after that means
// nothing.
Result<void> Anchor::put_down(AnchorRecord& next) {
  auto done = sync(descriptor_);
  if (done) done = write_anchor(descriptor_, page_bytes_, next);
  if (done)
    record_ = next;
  else
    distrust();
  return done;
}

}  // namespace quire::engine
