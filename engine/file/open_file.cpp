#include "engine/file/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/file/anchor.h"
#include "engine/file/disk_order.h"
#include "engine/file/file_format.h"
#include "engine/file/format_upgrades.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/snapshot_pages.h"
#include "engine/file/sole_use.h"
#include "engine/file/standard_descriptors.h"

namespace quire::engine {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasSanitizer = true;
#elif defined(__has_feature)
constexpr bool kHasSanitizer = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kHasSanitizer = false;
#endif

// Address space is free, growing the map is not. Sanitizers shadow the address space.
constexpr uint64_t kGenerousMap = kHasSanitizer ? uint64_t{1} << 30 : uint64_t{64} << 30;
constexpr uint64_t kSmallestMap = uint64_t{1} << 20;
constexpr uint64_t kMapUnit = uint64_t{1} << 16;  // a multiple of every page size

// The files that this process has open, by device and inode. LMDB forbids a second environment on a file:
// closing one would drop the other's locks.
using FileIdentity = std::pair<dev_t, ino_t>;
struct OpenFile {
  std::weak_ptr<FileState> state;
  std::optional<FileIdentity> lock_file;
};
struct OpenFiles {
  pid_t process = getpid();
  std::mutex mutex;  // held while a file is opened or closed
  std::map<FileIdentity, OpenFile> files;
  OpenFiles* of_parent = nullptr;
};
// A child of fork() has opened nothing. What it has of its parent's, a mutex perhaps that a thread held which
// it does not have, it leaves alone.
OpenFiles& open_files() {
  static std::atomic<OpenFiles*> current = new OpenFiles;
  OpenFiles* files = current.load(std::memory_order_acquire);
  while (files->process != getpid()) {
    auto own = std::make_unique<OpenFiles>();
    own->of_parent = files;
    if (current.compare_exchange_strong(files, own.get())) files = own.release();
  }
  return *files;
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

// Whether the lock file beside this name is that of a database that this process has open under another name.
bool has_lock_file_open(const OpenFiles& open, const std::string& path) {
  const std::optional<FileIdentity> lock_file = identity_of(path + "-lock");
  return lock_file && std::ranges::any_of(open.files, [&](const auto& entry) {
           return entry.second.lock_file == lock_file && !entry.second.state.expired();
         });
}

struct DataFile {
  Descriptor descriptor;
  ProcessMark mark;  // none in memory
  FileIdentity identity;
  uint64_t bytes = 0;
  mode_t mode = 0;
};

Result<DataFile> open_data_file(const std::string& path, const FileOptions& options) {
  if (path.empty()) return fail(ErrorCode::cannot_open, "the path of the database is empty");
  if (path.find('\0') != std::string::npos) return fail(ErrorCode::cannot_open, "the path holds a zero byte");
  int flags = O_CLOEXEC | O_NONBLOCK | (options.read_only ? O_RDONLY : O_RDWR);
  if (!options.read_only && !options.must_exist) flags |= O_CREAT;
  DataFile file;
  file.descriptor = Descriptor(::open(path.c_str(), flags, 0666));
  if (file.descriptor.number() < 0) return cannot(errno, "open", path);
  struct stat status;
  if (fstat(file.descriptor.number(), &status) != 0) return cannot(errno, "look at", path);
  if (S_ISDIR(status.st_mode)) return cannot(EISDIR, "open", path);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::not_a_database,
                fmt::format("'{}' is not a Quire file: it is no regular file", shown_path(path)));
  file.identity = {status.st_dev, status.st_ino};
  file.bytes = static_cast<uint64_t>(status.st_size);
  file.mode = status.st_mode;
  return file;
}

// Without a lock file, readers are safe only if nobody can be writing: that is taken from the file's own
// mode.
bool nobody_may_write(mode_t mode) {
  return (mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0;
}

Result<EnvironmentHandle> try_open(const std::string& path, unsigned flags, uint64_t map_size, int& code) {
  MDB_env* created = nullptr;
  code = mdb_env_create(&created);
  EnvironmentHandle environment(created);
  if (code == MDB_SUCCESS) code = mdb_env_set_maxdbs(created, kMostTables);
  if (code == MDB_SUCCESS) code = mdb_env_set_maxreaders(created, kMostReaders);
  if (code == MDB_SUCCESS) code = mdb_env_set_mapsize(created, map_size);
  if (code == MDB_SUCCESS) code = mdb_env_open(created, path.c_str(), flags, 0666);
  if (code != MDB_SUCCESS) return cannot(code, "open", path);
  // LMDB leaves this one alone of its descriptors to the programs that the process begins.
  int data = -1;
  mdb_env_get_fd(created, &data);
  (void)fcntl(data, F_SETFD, FD_CLOEXEC);
  return environment;
}

Result<EnvironmentHandle> open_environment(const std::string& path, const DataFile& file,
                                           const FileOptions& options) {
  // Read-ahead stays on (no MDB_NORDAHEAD) while the file fits into memory (map_advice.h): of a 270 MB file
  // that is not there yet, a scan takes 0.6 s with it and 6 s without, where nobody asks for what comes.
  unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (options.durability == Durability::none ? MDB_NOSYNC : 0);
  if (options.read_only) flags |= MDB_RDONLY;
  const uint64_t chosen = std::max(kGenerousMap, file.bytes * 8);
  // Some room in any case: to open a file may mean to write to it (open_format).
  uint64_t map_size = std::max(options.map_size != 0 ? options.map_size : chosen, file.bytes + kSmallestMap);
  map_size = (map_size + kMapUnit - 1) / kMapUnit * kMapUnit;
  for (;;) {
    int code = 0;
    auto environment = try_open(path, flags, map_size, code);
    if (environment) return environment;
    // Valgrind calls a map that it has no room for an invalid argument.
    if ((code == ENOMEM || code == EINVAL) && map_size / 2 >= std::max(file.bytes, kSmallestMap)) {
      map_size = map_size / 2 / kMapUnit * kMapUnit;
      continue;
    }
    if (code != EACCES || !options.read_only || (flags & MDB_NOLOCK)) return environment;
    if (!nobody_may_write(file.mode))
      return fail(
          ErrorCode::permission,
          fmt::format("Quire could not open '{0}': the lock file '{0}-lock' cannot be written, which readers "
                      "need while others may write; allow that, or take the write permission from '{0}'",
                      path));
    flags |= MDB_NOLOCK;
  }
}

bool has_lock_file(MDB_env* environment) {
  unsigned flags = 0;
  mdb_env_get_flags(environment, &flags);
  return (flags & MDB_NOLOCK) == 0;
}

Result<std::shared_ptr<FileState>> open_new_file(const std::string& path, DataFile file,
                                                 const FileOptions& options, bool is_in_memory) {
  QUIRE_ASSIGN(const bool is_new, check_pages(file.descriptor.number(), path));
  if (is_new && options.read_only)
    return fail(ErrorCode::not_a_database, fmt::format("'{}' is empty: not a Quire file", shown_path(path)));
  QUIRE_TRY(reserve_lock_file(path));
  QUIRE_ASSIGN(EnvironmentHandle environment, open_environment(path, file, options));
  if (!is_in_memory && has_lock_file(environment.get()))
    QUIRE_TRY(mark_in_use(file.descriptor.number(), path));
  end_turn(file.descriptor.number());
  const bool is_for_the_disk = is_new && options.durability != Durability::none;
  if (is_for_the_disk)
    if (const int code = mdb_env_sync(environment.get(), 1); code != MDB_SUCCESS)
      return cannot(code, "make", path);
  auto state = std::make_shared<FileState>(std::move(environment), std::move(file.descriptor),
                                           std::move(file.mark), options, is_in_memory);
  int dead = 0;
  mdb_reader_check(state->environment(), &dead);
  const auto check_commit = [&](uint64_t commit) {
    return is_new ? true : check_before_use(*state, commit, path, !options.is_untrusted);
  };
  QUIRE_ASSIGN(state->facts, open_format(*state, path, check_commit));
  state->tables().enter(kMetaTable, state->facts.meta);
  state->tables().enter(kCatalogTable, state->facts.catalog);
  if (is_for_the_disk) QUIRE_TRY(sync_name(path));
  return state;
}

bool is_empty(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && status.st_size == 0;
}

// A file without a name in memory (or, lacking /dev/shm, among the temporary files).
Result<std::shared_ptr<FileState>> open_in_memory(const FileOptions& options) {
  if (options.read_only)
    return fail(ErrorCode::misuse, "a database in memory cannot be read-only: it would stay empty");
  const char* temporary = std::getenv("TMPDIR");
  std::string path = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : temporary != nullptr ? temporary : "/tmp";
  path += "/quire-XXXXXX";
  Descriptor descriptor(mkostemp(path.data(), O_CLOEXEC));
  if (descriptor.number() < 0) return cannot(errno, "make", path);
  struct stat status;
  fstat(descriptor.number(), &status);
  FileOptions memory_options = options;
  memory_options.durability = Durability::none;
  auto state = open_new_file(path, DataFile{std::move(descriptor), {}, {status.st_dev, status.st_ino}, 0, 0},
                             memory_options, true);
  unlink(path.c_str());
  unlink((path + "-lock").c_str());
  return state;
}

Result<std::shared_ptr<FileState>> share(const std::shared_ptr<FileState>& state, const std::string& path,
                                         const FileOptions& options) {
  if (state->is_read_only() && !options.read_only)
    return fail(ErrorCode::misuse,
                fmt::format("this process has '{}' open read-only; close that before opening it for writing",
                            shown_path(path)));
  if (options.is_untrusted) QUIRE_TRY(check_shared(*state, path));
  if (!options.read_only) state->ask_for(options.durability);
  return state;
}

// Whether the path leads to the file still: a compaction puts another one in its place.
bool is_still(const std::string& path, const FileIdentity& identity) {
  struct stat status;
  return stat(path.c_str(), &status) != 0 || FileIdentity(status.st_dev, status.st_ino) == identity;
}

// Where links lead, whether or not there is a file yet. LMDB's lock file lies beside the name by which a file
// is opened: by two names two processes would not see each other's readers, and write over what they read.
std::string behind_links(std::string path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::error_code failure;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, failure);
    if (failure) break;
    path = (std::filesystem::path(path).parent_path() / next).string();
  }
  return path;
}

// Nothing if the file under the path was exchanged meanwhile, or is being made by another process.
Result<std::shared_ptr<FileState>> try_to_open_shared(const std::string& path, const FileOptions& options,
                                                      Clock::time_point deadline) {
  OpenFiles& files = open_files();
  QUIRE_ASSIGN(DataFile file, open_data_file(path, options));
  std::erase_if(files.files, [](const auto& entry) { return entry.second.state.expired(); });
  const FileIdentity identity = file.identity;
  if (const auto found = files.files.find(identity); found != files.files.end())
    if (auto state = found->second.state.lock()) return share(state, path, options);
  if (has_lock_file_open(files, path)) return foreign_lock_file(path);
  QUIRE_ASSIGN(file.mark, ProcessMark::set(file.descriptor.number(), path));
  QUIRE_TRY(come_in(file.descriptor.number(), path, deadline));
  QUIRE_TRY(take_turn(file.descriptor.number(), path, options.read_only, deadline));
  if (!is_still(path, identity)) return nullptr;
  QUIRE_TRY(check_lock_file(path));
  QUIRE_TRY(wait_for_lock_file(path, deadline));
  QUIRE_TRY(refuse_without_lock_file(file.descriptor.number(), path));
  QUIRE_TRY(refuse_foreign_lock_file(file.descriptor.number(), path));
  if (!options.read_only) {
    QUIRE_ASSIGN(const bool has_no_end, is_unfinished(file.descriptor.number(), path));
    if (has_no_end) {
      QUIRE_ASSIGN(const bool is_ours, begin_anew(file.descriptor.number(), path));
      if (!is_ours) return nullptr;
    }
  }
  const SettleOptions settling{.read_only = options.read_only, .is_trusted = !options.is_untrusted};
  QUIRE_ASSIGN(const bool is_settled, settle_anchor(file.descriptor.number(), path, settling));
  if (!is_settled) return nullptr;
  auto state = open_new_file(path, std::move(file), options, false);
  if (!is_still(path, identity)) return nullptr;
  if (state) files.files.insert_or_assign(identity, OpenFile{*state, identity_of(path + "-lock")});
  return state;
}

}  // namespace

Result<std::shared_ptr<FileState>> open_shared_file(const std::string& given, const FileOptions& options) {
  occupy_standard_descriptors();
  if (given == Environment::kInMemory) return open_in_memory(options);
  const std::string path = behind_links(given);
  constexpr std::chrono::milliseconds kBetweenTries{2};
  const std::lock_guard lock(open_files().mutex);
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(options.busy_timeout_ms);
  do {
    const bool existed = access(path.c_str(), F_OK) == 0;
    auto state = try_to_open_shared(path, options, deadline);
    if (!state && !existed && is_empty(path)) unlink(path.c_str());
    if (!state || *state != nullptr) return state;
    std::this_thread::sleep_for(kBetweenTries);
  } while (Clock::now() < deadline);
  return fail(ErrorCode::busy,
              fmt::format("'{}' was replaced or made anew all the time; try again", shown_path(path)));
}

void close_shared_file(std::shared_ptr<FileState> state) noexcept {
  const std::lock_guard lock(open_files().mutex);
  state.reset();
}

Result<void> while_not_open(const std::string& path, const std::function<Result<void>()>& work) {
  OpenFiles& files = open_files();
  const std::lock_guard lock(files.mutex);
  const std::optional<FileIdentity> identity = identity_of(path);
  if (!identity) return cannot(errno, "open", path);
  const auto found = files.files.find(*identity);
  if (found != files.files.end() && !found->second.state.expired())
    return fail(ErrorCode::busy,
                fmt::format("'{}' is open in this process: close it first", shown_path(path)));
  if (has_lock_file_open(files, path)) return foreign_lock_file(path);
  return work();
}

Result<std::optional<Table>> open_table_of_file(FileState& state, const std::string& name) {
  if (const auto found = state.tables().find(name)) return found;
  state.readers().enter();
  MDB_txn* transaction = nullptr;
  MDB_dbi slot = 0;
  int code = state.readers().begin(MDB_RDONLY, transaction);
  if (code == MDB_SUCCESS) {
    code = mdb_dbi_open(transaction, name.c_str(), 0, &slot);
    if (code == MDB_SUCCESS)
      code = mdb_txn_commit(transaction);
    else
      mdb_txn_abort(transaction);
  }
  state.readers().leave();
  if (code == MDB_NOTFOUND) return std::nullopt;
  if (code == MDB_MAP_RESIZED) {
    QUIRE_TRY(state.readers().adopt_map_size(state.deadline()));
    return open_table_of_file(state, name);
  }
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "open a table"));
  const Table table = state.tables().handle(slot);
  state.tables().enter(name, table);
  return table;
}

}  // namespace quire::engine
