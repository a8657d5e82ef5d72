#include "engine/container/import_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <stop_token>
#include <thread>
#include <utility>

#include "engine/container/bulk_writer.h"

namespace quire::engine {
namespace {

// LMDB keeps the new pages of a transaction on the heap until it commits. Smaller commits wait for the disk
// more often.
constexpr size_t kCommitBytes = size_t{16} << 20;
constexpr auto kBetweenWritebacks = std::chrono::milliseconds(2);

// The items of a commit lie in as many places as there are runs. Memory is asked for those a few items ahead,
// so that their bytes are there when their turn comes.
constexpr size_t kItemsAhead = 8;
constexpr size_t kCacheLine = 64;
constexpr size_t kMostAhead = 16 * kCacheLine;  // of a document

void prefetch(const SortedItem& item) {
  __builtin_prefetch(item.key.data());
  const size_t size = std::min(item.document.size(), kMostAhead);
  for (size_t at = 0; at < size; at += kCacheLine) __builtin_prefetch(item.document.data() + at);
}

// Ends what works beside, however its block is left.
struct StopAtEnd {
  std::stop_source& source;
  ~StopAtEnd() { source.request_stop(); }
};

}  // namespace

Result<uint64_t> ImportWriter::write(ImportSorter& sorter) {
  QUIRE_TRY(sorter.begin());
  if (auto done = write_batches(sorter); !done) {
    if (written_ > 0)
      done.error().message += fmt::format("; {} items had been written before and stay", written_);
    return std::unexpected(std::move(done.error()));
  }
  return written_;
}

Result<void> ImportWriter::write_batches(ImportSorter& sorter) {
  Batch batch, next;
  ImportSorter::Progress committed;
  merge(sorter, batch);
  while (!batch.items.empty()) {
    std::stop_source commit_ended;
    std::future<void> beside = std::async(std::launch::async, [&, ended = commit_ended.get_token()] {
      sorter.give_back(committed);
      merge(sorter, next);
      sorter.bring_in(next.end);
      // The disk is kept busy while the commit is still handing over pages.
      for (; !ended.stop_requested(); std::this_thread::sleep_for(kBetweenWritebacks))
        environment_.begin_writeback();
    });
    const StopAtEnd stop{commit_ended};
    QUIRE_ASSIGN(const uint64_t written, commit(batch));
    written_ += written;
    QUIRE_TRY(options_.report(written_));
    commit_ended.request_stop();
    beside.get();
    committed = std::move(batch.end);
    std::swap(batch, next);
  }
  return {};
}

void ImportWriter::merge(ImportSorter& sorter, Batch& batch) {
  batch.items.clear();
  size_t size = 0;
  for (;; next_ = nullptr) {
    if (next_ == nullptr) next_ = sorter.next();
    if (next_ == nullptr) break;
    if (options_.left_out->contains(next_->number)) continue;
    // Items of one key stay together, as the last of them decides under upsert.
    const bool is_repeated = !batch.items.empty() && batch.items.back().key == next_->key;
    if (is_repeated) {
      if (options_.upsert) batch.items.back() = *next_;
      continue;
    }
    if (size >= kCommitBytes) break;
    batch.items.push_back(*next_);
    size += sizeof(SortedItem) + next_->key.size() + next_->document.size();
  }
  batch.end = sorter.progress();
}

Result<uint64_t> ImportWriter::commit(const Batch& batch) {
  const BulkMode mode = options_.upsert ? BulkMode::upsert : BulkMode::create;
  uint64_t written = 0;
  QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    written = 0;
    QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, store_.indexes().table()));
    const bool is_deferred = version != 0 && version == options_.deferred_version;
    QUIRE_ASSIGN(
        BulkWriter writer,
        BulkWriter::begin(transaction, store_, mode, is_deferred ? BulkIndexing::defer : BulkIndexing::keep));
    for (size_t i = 0; i < batch.items.size(); ++i) {
      if (i + kItemsAhead < batch.items.size()) prefetch(batch.items[i + kItemsAhead]);
      const SortedItem& item = batch.items[i];
      auto added = writer.add(item.key, item.document, item.hash, transaction.now());
      if (added) {
        ++written;
        continue;
      }
      const ErrorCode code = added.error().code;
      if (options_.skip_conflicts && (code == ErrorCode::conflict || code == ErrorCode::epk_clash)) continue;
      return added;
    }
    return writer.finish();
  }));
  return written;
}

}  // namespace quire::engine
