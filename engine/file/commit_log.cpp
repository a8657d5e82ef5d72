#include "engine/file/commit_log.h"

#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "engine/file/disk_room.h"
#include "engine/file/large_pages.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/lmdb_value.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_reader.h"

namespace quire::engine {

namespace log_layout {

uint64_t sum_of(const RecordHeader& header, std::string_view changes, uint64_t seed) noexcept {
  const uint64_t sum = XXH3_64bits_withSeed(&header, offsetof(RecordHeader, sum), seed);
  return XXH3_64bits_withSeed(changes.data(), changes.size(), sum);
}

std::optional<RecordHeader> parse_record(std::string_view bytes, uint64_t commit, uint64_t seed) noexcept {
  RecordHeader header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (header.commit != commit || header.change_bytes > bytes.size() ||
      header.sum != sum_of(header, bytes.substr(0, header.change_bytes), seed))
    return std::nullopt;
  return header;
}

// Only a value that has pages of its own is a place.
std::optional<Place> find_place(MDB_txn* transaction, MDB_dbi meta, int descriptor) noexcept {
  MDB_val key = lmdb_value(kRow), value;
  if (mdb_get(transaction, meta, &key, &value) != MDB_SUCCESS || value.mv_size < CommitLog::kLeastBytes)
    return std::nullopt;
  MDB_stat stat;
  mdb_env_stat(mdb_txn_env(transaction), &stat);
  const char* const page = static_cast<const char*>(value.mv_data) - layout::kPageHeader;
  const std::string_view begin(page, layout::kPageHeader + kRecordsAt);
  if ((layout::page_flags(page) & layout::kOverflowPage) == 0 ||
      !is_in_place(descriptor, begin, stat.ms_psize))
    return std::nullopt;
  return Place{layout::page_number(page) * stat.ms_psize + layout::kPageHeader,
               std::min(value.mv_size, CommitLog::kMostBytes)};
}

}  // namespace log_layout

namespace {

using namespace log_layout;

// Returns when the bytes, and no others, are on the disk, if it `waits`: 0, or what errno was.
int write_at(int descriptor, std::string_view bytes, uint64_t at, bool waits) {
  while (!bytes.empty()) {
    const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    errno = 0;
    ssize_t written = pwritev2(descriptor, &part, 1, static_cast<off_t>(at), waits ? RWF_DSYNC : 0);
    if (written < 0 && waits && (errno == EOPNOTSUPP || errno == ENOSYS)) {
      written = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (written > 0 && fdatasync(descriptor) != 0) return errno;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return errno == 0 ? EIO : errno;
    bytes.remove_prefix(static_cast<size_t>(written));
    at += static_cast<uint64_t>(written);
  }
  return 0;
}

}  // namespace

Result<bool> CommitLog::take(const Commit& commit) {
  Anchor& anchor = commit.anchor;
  has_put_down_ = false;
  if (changes_.is_whole() && changes_.is_empty()) return anchor.has_log();
  if (!is_worth_it(anchor) || !has_place(commit) || !gather(commit)) {
    if (commit.pending == 0) QUIRE_TRY(anchor.give_up());
    return false;
  }
  const uint64_t newest = mdb_txn_id(commit.transaction) - 1;
  QUIRE_ASSIGN(const bool is_next, follows(anchor, newest + commit.pending));
  const bool has_room = record_bytes(record_.size() - kRecordHeader) <= room();
  if (commit.pending != 0 && !(is_next && has_room)) return false;
  if (commit.pending == 0 && (!is_next || !has_room || anchor.is_far(newest))) {
    auto begun = begin_anew(anchor, newest);
    // All places for snapshots may be taken: LMDB can do without one more.
    if (!begun && begun.error().code == ErrorCode::busy) begun = anchor.give_up();
    QUIRE_TRY(begun);
    if (!anchor.has_log()) return false;
  }
  QUIRE_TRY(put_down(anchor));
  was_in_use_ = true;
  return true;
}

bool CommitLog::is_worth_it(const Anchor& anchor) noexcept {
  if (std::exchange(stands_back_, false)) return false;
  if (!anchor.has_log() && std::exchange(was_in_use_, false)) small_commits_ = 0;
  if (!changes_.is_whole()) {
    small_commits_ = 0;
    return false;
  }
  count_small(changes_.weight());
  return anchor.has_log() || small_commits_ > kCommitsUntilLog;
}

void CommitLog::count_small(size_t bytes) noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_small_commit_ > kInARow) small_commits_ = 0;
  small_commits_ += 1 + static_cast<uint32_t>(bytes / kBytesOfOne);
  last_small_commit_ = now;
}

// ---- Commits that are pending

void CommitLog::expect_small(const Commit& commit) noexcept {
  if (!changes_.is_whole()) small_commits_ = 0;
  if (!changes_.is_whole() || changes_.is_empty()) return;
  count_small(changes_.weight());
  if (small_commits_ > kCommitsUntilLog) has_place(commit);
}

// Another process may have put a longer one in its place.
bool CommitLog::is_ready(Durability durability, Anchor& anchor, MDB_txn* transaction, MDB_dbi meta) {
  if (wanted_bytes_ != 0 || small_commits_ <= kCommitsUntilLog ||
      std::chrono::steady_clock::now() - last_small_commit_ > kInARow)
    return false;
  place_ = find_place(transaction, meta, descriptor_).value_or(Place());
  if (place_.bytes == 0) return false;
  if (durability != Durability::full) return durability == Durability::relaxed;
  const uint64_t newest = mdb_txn_id(transaction) - 1;
  // One that the commit before this has made: what is begun for it here, no commit of LMDB's has to begin.
  if (!anchor.has_log() && !was_in_use_) was_in_use_ = begin_anew(anchor, newest).has_value();
  return follows(anchor, newest).value_or(false);
}

Result<bool> CommitLog::take_small(const PendingView& pending, const SmallCommit& commit) {
  if (commit.durability == Durability::relaxed && sequence_ != (kBehindCommit | pending.base())) {
    QUIRE_TRY(put_header(kBehindCommit | pending.base(), pending.base()));
    sequence_ = kBehindCommit | pending.base();
  }
  record_.assign(kRecordHeader, '\0');
  const PendingCommits& newest = *pending.newest();
  const bool is_whole = newest.for_each_at_hand([&](uint32_t slot, const PendingCommits::Change& change) {
    return add_change(commit.tables, slot, change.key,
                      change.is_erased ? std::nullopt : std::optional(change.record));
  });
  if (!is_whole) return false;
  if (commit.durability == Durability::full) {
    QUIRE_ASSIGN(const bool is_of_anchor, go_on(commit.anchor, pending));
    if (!is_of_anchor) return false;
  }
  if (record_bytes(record_.size() - kRecordHeader) > room()) return false;
  QUIRE_TRY(put_down(commit.anchor, commit.durability == Durability::full));
  has_put_down_ = false;
  count_small(record_.size());
  return true;
}

// Where it is nearly full, or was to begin anew and could not, it may be able to now. Whether it is the log
// of the anchor then; or of the one that is being made, and is another thread's until it is there.
Result<bool> CommitLog::go_on(Anchor& anchor, const PendingView& pending) {
  if (pending.applying() != nullptr) return true;
  const bool is_of_anchor = sequence_ == anchor.sequence();
  if (pending.last() != 0 || (is_of_anchor && has_room())) return is_of_anchor;
  const auto begun = begin_anew(anchor, pending.base());
  if (!begun && begun.error().code == ErrorCode::busy) return false;
  QUIRE_TRY(begun);
  return true;
}

bool CommitLog::turn_over(uint64_t commit) {
  const uint64_t next = sequence_ + 1;
  if (!put_header(next, commit, end_.seed)) return false;
  sequence_ = next;
  return true;
}

bool CommitLog::has_room() const noexcept {
  constexpr size_t kSpare = size_t{64} << 10;
  return room() >= record_.size() + record_.size() / 8 + kSpare;
}

bool CommitLog::should_grow(MDB_env* environment) noexcept {
  const size_t bytes = bytes_for(record_.size(), environment);
  if (bytes > place_.bytes) wanted_bytes_ = bytes;
  return wanted_bytes_ != 0;
}

// ---- Where it lies

// One that is made by the transaction at hand is there from the next on.
bool CommitLog::has_place(const Commit& commit) noexcept {
  place_ = find_place(commit.transaction, commit.meta, descriptor_).value_or(Place());
  const size_t wanted = std::exchange(wanted_bytes_, 0);
  const bool is_short = place_.bytes < wanted;
  if (place_.bytes != 0 && !is_short && changes_.weight() <= most_of_commit()) {
    has_outgrown_ = false;
    return true;
  }
  if (place_.bytes != 0 && !is_short && !std::exchange(has_outgrown_, true)) return false;
  const size_t bytes = std::max(wanted, bytes_for(changes_.weight(), mdb_txn_env(commit.transaction)));
  if (bytes / kCommitsInLog >= changes_.weight() && !make_place(commit, bytes)) small_commits_ = 0;
  return false;
}

// What makes the pages few to which its commits are applied: for so many of them, and up to the usual length
// where that is half of the file's at most. Where it is too much beside the file, which is taken to grow,
// nothing yet: to put a longer one in its place later costs more than the commits that wait for it.
size_t CommitLog::bytes_for(size_t commit_bytes, MDB_env* environment) noexcept {
  MDB_envinfo info;
  mdb_env_info(environment, &info);
  MDB_stat stat;
  mdb_env_stat(environment, &stat);
  const uint64_t file = (info.me_last_pgno + 1) * stat.ms_psize;
  size_t bytes = kLeastBytes;
  const auto is_short = [&] {
    return bytes < kCommitsInNewLog * commit_bytes ||
           (bytes < kUsualBytes && 2 * bytes * kFileBesideLog <= file);
  };
  while (bytes < kMostBytes && is_short()) bytes *= 2;
  return bytes == kLeastBytes || bytes <= kMostOfFile * file ? bytes : 0;
}

// A map or a disk that is full takes nothing else along: what commits needs room, too.
bool CommitLog::make_place(const Commit& commit, size_t bytes) noexcept {
  if (is_no_room(try_disk_room(descriptor_, 2 * bytes))) return false;
  MDB_txn* nested = nullptr;
  if (mdb_txn_begin(mdb_txn_env(commit.transaction), commit.transaction, 0, &nested) != MDB_SUCCESS)
    return false;
  MDB_val key = lmdb_value(kRow), value{bytes, nullptr};
  if (mdb_put(nested, commit.meta, &key, &value, MDB_RESERVE) != MDB_SUCCESS) {
    mdb_txn_abort(nested);
    return false;
  }
  prefer_large_pages(value.mv_data, value.mv_size);
  std::memset(value.mv_data, 0, value.mv_size);
  take_cache(commit.transaction, value);
  return mdb_txn_commit(nested) == MDB_SUCCESS;
}

// LMDB will write the whole value at once, for which Linux takes memory for its cache in one piece (ext4,
// since 6.16), and from then on looks at each page of the piece at each write to it: 5 to 8 us a record of
// the log rather than 1 to 2. Small pieces are taken ahead. The pages are free until the transaction commits,
// so that nobody minds what this leaves there; nor does it if it fails.
void CommitLog::take_cache(MDB_txn* transaction, const MDB_val& value) const noexcept {
  constexpr size_t kPiece = size_t{16} << 10;
  static constexpr char kZeros[kPiece] = {};
  MDB_stat stat;
  mdb_env_stat(mdb_txn_env(transaction), &stat);
  const char* const page = static_cast<const char*>(value.mv_data) - layout::kPageHeader;
  const uint64_t begin = layout::page_number(page) * stat.ms_psize;
  for (uint64_t at = begin; at + kPiece <= begin + value.mv_size; at += kPiece)
    if (pwrite(descriptor_, kZeros, kPiece, static_cast<off_t>(at)) < 0) return;
}

// ---- A record

// False if it cannot be told: LMDB has to wait for the disk then.
bool CommitLog::gather(const Commit& commit) {
  try {
    record_.assign(kRecordHeader, '\0');
    bool is_whole = true;
    std::optional<std::pair<uint32_t, Bytes>> before;
    changes_.for_each([&](uint32_t slot, Bytes key) {
      if (before == std::pair(slot, key)) return true;
      before.emplace(slot, key);
      // One that grows beyond it (a key that was changed again and again) is not worth it.
      is_whole = add_change(commit, slot, key) && record_.size() <= bytes() - kRecordsAt - sizeof(uint64_t);
      return is_whole;
    });
    return is_whole;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool CommitLog::add_change(const Commit& commit, uint32_t slot, Bytes key) {
  MDB_val wanted = lmdb_value(key), value{0, nullptr};
  const int code = mdb_get(commit.transaction, slot, &wanted, &value);
  if (code == MDB_NOTFOUND) return add_change(commit.tables, slot, key, std::nullopt);
  return code == MDB_SUCCESS &&
         add_change(commit.tables, slot, key, Bytes(static_cast<const char*>(value.mv_data), value.mv_size));
}

bool CommitLog::add_change(const TableRegistry& tables, uint32_t slot, Bytes key,
                           std::optional<Bytes> record) {
  const std::string& name = name_of(tables, slot);
  if (name.empty() || name.size() > UINT8_MAX || (record && record->size() >= kErased)) return false;
  const auto name_bytes = static_cast<uint8_t>(name.size());
  const auto key_bytes = static_cast<uint16_t>(key.size());
  const uint32_t record_bytes = record ? static_cast<uint32_t>(record->size()) : kErased;
  const size_t from = record_.size();
  const size_t bytes = sizeof name_bytes + sizeof key_bytes + sizeof record_bytes + name.size() + key.size() +
                       (record ? record->size() : 0);
  // Its room is made once, not for each of its parts.
  record_.resize_and_overwrite(from + bytes, [&](char* begin, size_t) {
    char* at = begin + from;
    const auto put = [&at](const void* part, size_t count) {
      if (count != 0) std::memcpy(at, part, count);
      at += count;
    };
    put(&name_bytes, sizeof name_bytes);
    put(&key_bytes, sizeof key_bytes);
    put(&record_bytes, sizeof record_bytes);
    put(name.data(), name.size());
    put(key.data(), key.size());
    if (record) put(record->data(), record->size());
    return from + bytes;  // GCC 12's library tells of as much room as there is
  });
  return true;
}

const std::string& CommitLog::name_of(const TableRegistry& tables, uint32_t slot) {
  if (slot >= names_.size()) names_.resize(slot + 1);
  KnownName& known = names_[slot];
  if (known.name.empty() || !tables.is_current(known.table))
    known = {tables.handle(slot), tables.name_of(slot)};
  return known.name;
}

Result<void> CommitLog::put_down(Anchor& anchor, bool waits) {
  const auto change_bytes = static_cast<uint32_t>(record_.size() - kRecordHeader);
  const uint64_t number = end_.commit + 1;
  RecordHeader header{number, change_bytes, 0, 0};
  header.sum = sum_of(header, std::string_view(record_).substr(kRecordHeader), end_.seed);
  std::memcpy(record_.data(), &header, sizeof header);
  // The first one takes the half's header along.
  const bool is_first = end_.position == kRecordsAt;
  if (is_first) record_.insert(0, reinterpret_cast<const char*>(&header_), sizeof header_);
  before_ = end_;
  has_put_down_ = true;
  const int code = write_at(descriptor_, record_, half_at() + (is_first ? 0 : end_.position), waits);
  end_ = {number, header.sum, end_.position + record_bytes(change_bytes)};
  if (code == 0) return {};
  withdraw(anchor);
  anchor.distrust();
  return std::unexpected(lmdb_error(code, "write to the disk"));
}

void CommitLog::withdraw(Anchor& anchor) noexcept {
  constexpr char kNothing[kRecordHeader] = {};
  // A commit without a change has no record: the last one is another's, who was told that it is done.
  if (!std::exchange(has_put_down_, false)) return;
  end_ = before_;
  if (write_at(descriptor_, {kNothing, sizeof kNothing}, half_at() + end_.position, true) != 0)
    anchor.distrust();
}

// ---- From one anchor to the next

// The new header is on the disk, as the pages are, when the anchor is.
Result<void> CommitLog::begin_anew(Anchor& anchor, uint64_t newest) {
  QUIRE_TRY(put_header(anchor.sequence() + 1, newest));
  QUIRE_TRY(anchor.set_with_log());
  sequence_ = anchor.sequence();
  return {};
}

// Of a half of which nothing counts any more.
Result<void> CommitLog::put_header(uint64_t sequence, uint64_t commit, uint64_t follows) {
  Header header{sequence | kOfHalf, 0, commit, follows};
  errno = 0;
  if (getentropy(&header.random, sizeof header.random) != 0) return cannot("draw a random number");
  const auto at = static_cast<off_t>(place_.at + log_layout::half_at(sequence, place_.bytes));
  if (pwrite(descriptor_, &header, sizeof header, at) != sizeof header) return cannot("write to the file");
  sequence_ = 0;  // none, until what it stands for is there
  header_ = header;
  ahead_ = 0;
  end_ = {commit, header.random, kRecordsAt};
  return {};
}

// Whether the log holds all commits from the anchor up to `newest`, those of other processes too.
Result<bool> CommitLog::follows(const Anchor& anchor, uint64_t newest) {
  if (!anchor.has_log()) return false;
  if (sequence_ != anchor.sequence()) {
    QUIRE_ASSIGN(const bool is_ours, read_header(anchor));
    if (!is_ours) return false;
  }
  while (end_.commit < newest + ahead_) {
    QUIRE_ASSIGN(const bool is_there, read_record());
    if (!is_there) return false;
  }
  return end_.commit == newest + ahead_;
}

Result<bool> CommitLog::read_header(const Anchor& anchor) {
  Header header;
  errno = 0;
  const auto at = static_cast<off_t>(place_.at + log_layout::half_at(anchor.sequence(), place_.bytes));
  if (pread(descriptor_, &header, sizeof header, at) != sizeof header) return cannot("read the file");
  if (header.sequence != (anchor.sequence() | kOfHalf) || header.commit != anchor.commit()) return false;
  sequence_ = anchor.sequence();
  header_ = header;
  ahead_ = 0;
  end_ = {header.commit, header.random, kRecordsAt};
  return true;
}

// The record that another process has put at the end.
Result<bool> CommitLog::read_record() {
  RecordHeader header;
  const auto at = static_cast<off_t>(half_at() + end_.position);
  if (room() < sizeof header) return false;
  errno = 0;
  if (pread(descriptor_, &header, sizeof header, at) != sizeof header) return cannot("read the file");
  if (header.change_bytes > room() - sizeof header) return false;
  std::string bytes(sizeof header + header.change_bytes, '\0');
  if (pread(descriptor_, bytes.data(), bytes.size(), at) != static_cast<ssize_t>(bytes.size()))
    return cannot("read the file");
  if (!parse_record(bytes, end_.commit + 1, end_.seed)) return false;
  end_ = {end_.commit + 1, header.sum, end_.position + record_bytes(header.change_bytes)};
  return true;
}

}  // namespace quire::engine
