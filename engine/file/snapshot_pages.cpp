#include "engine/file/snapshot_pages.h"

#include <optional>
#include <string>
#include <utility>

#include "engine/file/file_format.h"
#include "engine/file/page_reader.h"

namespace quire::engine {
namespace {

using layout::Meta;

class Snapshot {
 public:
  explicit Snapshot(ReaderPool& readers) : readers_(readers) {}
  ~Snapshot() {
    if (transaction_ != nullptr) readers_.end(transaction_);
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  Result<void> begin() {
    if (transaction_ != nullptr) readers_.end(std::exchange(transaction_, nullptr));
    QUIRE_ASSIGN(transaction_, readers_.begin());
    return {};
  }
  uint64_t number() const { return mdb_txn_id(transaction_); }

 private:
  ReaderPool& readers_;
  MDB_txn* transaction_ = nullptr;
};

// The faults; nothing if two more commits have taken the commit's meta page away before it was read.
Result<std::optional<std::vector<PageFault>>> walk_commit(const FileState& state, uint64_t commit,
                                                          const PageWalk::Options& options,
                                                          const OnBytes& on_bytes = nullptr) {
  QUIRE_ASSIGN(const std::optional<Meta> meta, meta_of(state.data_descriptor(), commit));
  if (!meta) return std::nullopt;
  QUIRE_ASSIGN(const uint64_t bytes, state.file_bytes());
  const PageReader reader(state.data_descriptor(), meta->page_bytes, bytes, on_bytes);
  return PageWalk(reader, *meta, options).run();
}

}  // namespace

Result<std::vector<PageFault>> walk_snapshot(FileState& state, const PageWalk::Options& options,
                                             const OnBytes& on_bytes) {
  constexpr int kMostTries = 100;
  Snapshot snapshot(state.readers());
  for (int tries = 0; tries < kMostTries; ++tries) {
    QUIRE_TRY(snapshot.begin());
    QUIRE_ASSIGN(auto faults, walk_commit(state, snapshot.number(), options, on_bytes));
    if (faults) return std::move(*faults);
  }
  return fail(ErrorCode::busy, "the file is written to all the time; try again");
}

namespace {

Result<void> as_error(const std::vector<PageFault>& faults, std::string_view path) {
  if (faults.empty()) return {};
  const PageFault& fault = faults.front();
  return fail(ErrorCode::corrupt, damaged_message(path, place_of(fault) + ": " + fault.what));
}

}  // namespace

namespace {

PageWalk::Options walk_of(uint64_t file_bytes, bool is_trusted) {
  PageWalk::Options options;
  if (is_trusted && file_bytes / layout::kUsualPage > kPagesAlwaysWalked)
    options.extent = PageWalk::Options::Extent::roots;
  return options;
}

}  // namespace

Result<bool> check_before_use(const FileState& state, uint64_t commit, std::string_view path,
                              bool is_trusted) {
  QUIRE_ASSIGN(const uint64_t bytes, state.file_bytes());
  QUIRE_ASSIGN(const auto faults, walk_commit(state, commit, walk_of(bytes, is_trusted)));
  if (!faults) return false;
  QUIRE_TRY(as_error(*faults, path));
  return true;
}

Result<void> check_shared(FileState& state, std::string_view path, const OnBytes& on_bytes) {
  QUIRE_ASSIGN(const std::vector<PageFault> faults, walk_snapshot(state, {}, on_bytes));
  return as_error(faults, path);
}

Result<std::vector<PageFault>> walk_unused(int descriptor, std::string_view path,
                                           const PageWalk::Options& options, const OnBytes& on_bytes) {
  QUIRE_ASSIGN(const Meta meta, newest_meta(descriptor, path));
  QUIRE_ASSIGN(const uint64_t bytes, size_of_file(descriptor, path));
  const PageReader reader(descriptor, meta.page_bytes, bytes, on_bytes);
  return PageWalk(reader, meta, options).run();
}

Result<void> check_unused(int descriptor, std::string_view path, bool is_trusted, const OnBytes& on_bytes) {
  QUIRE_ASSIGN(const uint64_t bytes, size_of_file(descriptor, path));
  QUIRE_ASSIGN(const auto faults, walk_unused(descriptor, path, walk_of(bytes, is_trusted), on_bytes));
  return as_error(faults, path);
}

}  // namespace quire::engine
