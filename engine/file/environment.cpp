#include "engine/file/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>
#include <utility>

#include "engine/file/file_copy.h"
#include "engine/file/file_format.h"
#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/open_file.h"
#include "engine/file/snapshot_pages.h"
#include "engine/file/table_tree.h"
#include "engine/file/write_session.h"

namespace quire::engine {

Environment::Environment(std::string path, const FileOptions& options, std::shared_ptr<FileState> state)
    : path_(std::move(path)), options_(options), state_(std::move(state)) {}

Result<std::unique_ptr<Environment>> Environment::open(std::string_view path, const FileOptions& options) {
  std::string text(path);
  QUIRE_ASSIGN(std::shared_ptr<FileState> state, open_shared_file(text, options));
  return std::unique_ptr<Environment>(new Environment(std::move(text), options, std::move(state)));
}

Environment::~Environment() {
  close_shared_file(std::move(state_));
}

Result<void> Environment::check_process() const {
  return state_->readers().process().check();
}

Result<ReadTransaction> Environment::begin_read() const {
  return ReadTransaction::begin(*state_, state_->now());
}

std::shared_ptr<void> Environment::share_any(Table table,
                                             const std::function<std::shared_ptr<void>()>& make) const {
  return state_->shared_objects().find_or_make(table, make);
}

void Environment::use_clock(UnixClock clock) noexcept {
  state_->use_clock(clock);
}

bool Environment::wait_for_commit(uint64_t seen, std::chrono::steady_clock::time_point deadline) const {
  return state_->commits().wait(seen, deadline, [this] { return state_->newest_commit(); });
}

Result<void> Environment::write(const std::function<Result<void>(WriteTransaction&)>& work, Sync sync) {
  QUIRE_TRY(check_process());
  if (options_.read_only) return fail(ErrorCode::read_only, fmt::format("'{}' is open read-only", path_));
  return state_->queue().run(work, sync, Patience::heeding(interrupts_, state_->deadline()),
                             [this](std::span<WriteRequest* const> group, const Patience& patience) {
                               return run_group(*state_, group, patience);
                             });
}

Result<void> Environment::sync() {
  QUIRE_TRY(check_process());
  return sync_commits(*state_, state_->deadline());
}

// Leads the writers' queue until end().
struct ExplicitWrite::Held {
  explicit Held(FileState& file) : state(file) {}
  ~Held() { end(); }
  void end() noexcept {
    if (!state.readers().process().is_this()) return static_cast<void>(session.release());  // the parent's
    if (session) session->rollback();
    if (!std::exchange(leads, false)) return;
    // To grow here would be to wait for cursors that the caller may have open still.
    if (session && session->retry() == WriteSession::Retry::map_full && !has_grown_map) state.ask_for_room();
    state.queue().release();
  }
  FileState& state;
  bool leads = false;
  bool has_grown_map = false;
  std::unique_ptr<WriteSession> session;
};

namespace {

// A transaction that cannot be run again should find room: as much as the file has, or at least half the map;
// and more than one had that was rolled back for want of it, and that this may be again.
void make_room(FileState& state, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kPatience{1000};
  const uint64_t map = state.map_bytes();
  const bool is_asked_for = state.is_room_asked_for();
  if (!is_asked_for && map - std::min(state.used_bytes(), map) >= map / 2) return;
  const bool has_grown = state.grow_map(std::min(deadline, Clock::now() + kPatience)).has_value();
  if (is_asked_for && has_grown) state.ask_for_room(false);
}

}  // namespace

Result<std::unique_ptr<ExplicitWrite>> Environment::begin_write() {
  QUIRE_TRY(check_process());
  if (options_.read_only) return fail(ErrorCode::read_only, fmt::format("'{}' is open read-only", path_));
  const Patience patience = Patience::heeding(interrupts_, state_->deadline());
  auto held = std::make_unique<ExplicitWrite::Held>(*state_);
  QUIRE_TRY(state_->queue().take_lead(patience));
  held->leads = true;
  make_room(*state_, patience.deadline);
  QUIRE_ASSIGN(held->session, WriteSession::begin(*state_, patience, WriteSession::Size::small_or_moved));
  return std::unique_ptr<ExplicitWrite>(new ExplicitWrite(std::move(held)));
}

ExplicitWrite::ExplicitWrite(std::unique_ptr<Held> held) : held_(std::move(held)) {}
ExplicitWrite::~ExplicitWrite() = default;

WriteTransaction& ExplicitWrite::transaction() noexcept {
  return held_->session->transaction();
}

Result<void> ExplicitWrite::commit() {
  QUIRE_TRY(held_->state.readers().process().check());
  if (!held_->session->is_active()) return fail(ErrorCode::misuse, "the transaction has ended");
  Result<void> outcome = transaction().check_size();
  if (outcome && held_->session->retry() == WriteSession::Retry::none)
    outcome = held_->session->commit();
  else if (outcome)
    outcome = fail(ErrorCode::busy,
                   "the file has had to grow, or containers were opened meanwhile: nothing was changed; run "
                   "the transaction again");
  held_->session->rollback();
  if (held_->session->retry() == WriteSession::Retry::map_full)
    held_->has_grown_map = held_->state.grow_map(held_->state.deadline()).has_value();
  held_->end();
  return outcome;
}

void ExplicitWrite::rollback() noexcept {
  held_->end();
}

std::string Environment::folder() const {
  std::error_code error;
  if (path_ == kInMemory) {
    const auto folder = std::filesystem::temp_directory_path(error);
    return error ? "/tmp" : folder.string();
  }
  const std::string link = fmt::format("/proc/self/fd/{}", state_->data_descriptor());
  std::filesystem::path path = std::filesystem::read_symlink(link, error);
  if (error) path = path_;
  const auto folder = path.parent_path();
  return folder.empty() ? "." : folder.string();
}

Result<std::optional<Table>> Environment::open_table(std::string_view name) {
  QUIRE_TRY(check_process());
  TableRegistry& tables = state_->tables();
  if (const auto found = tables.find(name)) return found;
  QUIRE_TRY(tables.claim(state_->deadline()));
  struct Release {
    TableRegistry& tables;
    ~Release() { tables.release(); }
  } const release{tables};
  return open_table_of_file(*state_, std::string(name));
}

void Environment::close_gone_tables(std::vector<std::string> names) {
  FileState& state = *state_;
  state.tables().add_gone(std::move(names));
  state.readers().when_idle([&state] { state.tables().close_gone(state.environment()); });
}

bool Environment::is_making_tables_here() const {
  return state_->tables().is_claimed_here();
}

Result<uint32_t> Environment::clear_stale_readers() {
  int dead = 0;
  const int code = mdb_reader_check(state_->environment(), &dead);
  if (code != 0) return std::unexpected(lmdb_error(code, "check the reader table"));
  return static_cast<uint32_t>(dead);
}

Durability Environment::durability() const noexcept {
  return state_->durability();
}
void Environment::strengthen(Durability durability) noexcept {
  state_->ask_for(durability);
}

void Environment::begin_writeback() const noexcept {
  state_->begin_writeback();
}

void Environment::reuse_room() const noexcept {
  state_->anchor().hurry();
}

namespace {

struct ReaderCount {
  uint64_t newest_commit = 0;
  uint64_t of_anchor = 0;  // the commit of this process's own snapshot of the anchor: no user's; 0: none
  uint32_t readers = 0;
  uint64_t lag = 0;
  int process = 0;
};

// A line of LMDB's reader table: process, thread, commit number, or "-" if the place is at rest.
int count_reader(const char* line, void* context) {
  auto& count = *static_cast<ReaderCount*>(context);
  unsigned long long commit = 0;
  int process = 0;
  if (std::sscanf(line, "%d %*x %llu", &process, &commit) == 2) {
    if (process == getpid() && commit == count.of_anchor) {
      count.of_anchor = 0;
      return 0;
    }
    ++count.readers;
    const uint64_t lag = count.newest_commit - std::min<uint64_t>(commit, count.newest_commit);
    if (lag > count.lag || count.process == 0) count.process = process;
    count.lag = std::max(count.lag, lag);
  }
  return 0;
}

}  // namespace

Result<void> Environment::copy_to(const std::string& path, const OnBytes& on_bytes) const {
  QUIRE_TRY(check_process());
  {
    // How the map is read is chosen by who first looks into a table, and it may be that nobody has.
    QUIRE_ASSIGN(const ReadTransaction reading, begin_read());
    (void)TableTree::of(reading, state_->facts.catalog);
  }
  return copy_file(*state_, path_, path, on_bytes);
}

bool Environment::is_open_in(const ProcessIdentity& process) const {
  const ProcessIdentity own = this_process();
  return process.number == own.number ? process == own : state_->mark().is_set_by(process.number);
}

bool Environment::is_writing_here() const {
  return state_->queue().is_led_here();
}

bool Environment::wants_snapshots_to_end() const noexcept {
  return state_->readers().is_idleness_wanted();
}

std::string storage_library() {
  int major = 0, minor = 0, patch = 0;
  mdb_version(&major, &minor, &patch);
  return fmt::format("LMDB {}.{}.{}", major, minor, patch);
}

Result<std::vector<PageFault>> Environment::check_pages(size_t most_faults, const OnBytes& on_bytes) const {
  QUIRE_TRY(check_process());
  return walk_snapshot(*state_, {.most_faults = most_faults}, on_bytes);
}

Result<FileFacts> Environment::facts() const {
  const MDB_envinfo info = state_->info();
  ReaderCount count{.newest_commit = info.me_last_txnid, .of_anchor = state_->anchor().held_commit()};
  mdb_reader_list(state_->environment(), count_reader, &count);
  QUIRE_ASSIGN(const uint64_t file_bytes, state_->file_bytes());
  return FileFacts{.file_bytes = file_bytes,
                   .used_bytes = state_->used_bytes(),
                   .map_bytes = state_->map_bytes(),
                   .commit_number = info.me_last_txnid,
                   .readers = count.readers,
                   .oldest_reader_lag = count.lag,
                   .oldest_reader_process = count.process};
}

uint32_t Environment::database_number() const noexcept {
  return state_->facts.database_number;
}
Table Environment::meta() const noexcept {
  return state_->facts.meta;
}
Table Environment::catalog() const noexcept {
  return state_->facts.catalog;
}

}  // namespace quire::engine
