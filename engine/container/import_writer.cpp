#include "engine/container/import_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/container/bulk_writer.h"
#include "engine/container/record.h"
#include "engine/container/side_work.h"
#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

// LMDB keeps the new pages of a transaction on the heap until it commits.
constexpr size_t kCommitBytes = size_t{4} << 20;
constexpr auto kBetweenWritebacks = std::chrono::milliseconds(2);
constexpr auto kLongestWait = std::chrono::milliseconds(50);

// Keeps the disk busy while commits, which do not wait for it, hand over pages.
class Writeback {
 public:
  explicit Writeback(const Environment& environment) {
    try {
      thread_ = std::jthread([&environment](const std::stop_token& stop) { run(environment, stop); });
    } catch (const std::system_error&) {
      // Without a thread the disk has its work at the end.
    }
  }

 private:
  static void run(const Environment& environment, const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    do {
      environment.begin_writeback();
    } while (!stopped.wait_for(lock, stop, kBetweenWritebacks, [&] { return stop.stop_requested(); }));
  }

  std::jthread thread_;
};

}  // namespace

Error error_of_import(Error error) {
  if (error.code == ErrorCode::interrupted) error.message = "the import was interrupted";
  return error;
}

Result<uint64_t> ImportWriter::write(const ImportSorter& sorter) {
  left_ = sorter.bytes();
  auto done = write_batches(sorter);
  const auto synced = must_sync_ ? environment_.sync() : Result<void>();
  if (done) done = synced;
  if (done) return written_;
  Error error = error_of_import(std::move(done.error()));
  if (written_ > 0 && synced)
    error.message += fmt::format("; {} items had been written before and stay", written_);
  return std::unexpected(std::move(error));
}

Result<void> ImportWriter::write_batches(const ImportSorter& sorter) {
  Handover<Batch> batches;
  std::future<void> merging = std::async(kBesideIfPossible, [&] {
    const CloseAtEnd close{batches};
    merge_all(sorter, batches);
  });
  if (!has_thread(merging)) return write_by_turns(sorter);
  QUIRE_TRY(commit_all(batches));
  merging.get();
  return {};
}

Result<void> ImportWriter::write_by_turns(const ImportSorter& sorter) {
  ImportMerge items(sorter);
  for (Batch batch; !batch.is_last;) {
    items.give_back(batch.end);
    merge(items, batch);
    find_facts(batch);
    QUIRE_TRY(commit_next(batch));
  }
  return {};
}

void ImportWriter::merge_all(const ImportSorter& sorter, Handover<Batch>& batches) {
  ImportMerge items(sorter);
  for (bool is_last = false; !is_last;) {
    Batch batch = batches.spare();
    items.give_back(batch.end);  // it has been committed
    merge(items, batch);
    is_last = batch.is_last;
    items.bring_in(batch.end);
    find_facts(batch);
    if (!batches.put(std::move(batch))) return;
  }
}

Result<void> ImportWriter::commit_all(Handover<Batch>& batches) {
  const CloseAtEnd close{batches};
  std::optional<Writeback> writeback;
  while (!batches.is_over()) {
    std::optional<Batch> batch = batches.take(kLongestWait);
    if (!batch || batch->items.empty()) continue;
    if (!batch->is_last && !writeback) writeback.emplace(environment_);
    QUIRE_TRY(commit_next(*batch));
    batches.give_back(std::move(*batch));
  }
  return {};
}

Result<void> ImportWriter::commit_next(const Batch& batch) {
  if (!batch.is_last) must_sync_ = true;
  if (batch.is_near_end && must_sync_ && !std::exchange(reuses_room_, true)) environment_.reuse_room();
  QUIRE_ASSIGN(const uint64_t written, commit(batch));
  written_ += written;
  if (batch.is_last) return {};
  return options_.look();
}

void ImportWriter::merge(ImportMerge& items, Batch& batch) {
  batch.items.clear();
  batch.is_near_end = left_ <= 2 * kCommitBytes;
  size_t size = 0;
  for (;; next_ = nullptr) {
    if (next_ == nullptr) {
      next_ = items.next();
      if (next_ == nullptr) break;
      left_ -= next_->key.size() + next_->document.size();
    }
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
  batch.end = items.progress();
  batch.is_last = next_ == nullptr;
}

void ImportWriter::find_facts(Batch& batch) const {
  batch.facts.clear();
  for (size_t i = 0; i < batch.items.size(); ++i) {
    if (i + kItemsAhead < batch.items.size()) prefetch_document(batch.items[i + kItemsAhead].document);
    const Bytes document = batch.items[i].document;
    const sql::Value root = sql::read_document(std::as_bytes(std::span(document)), ttl_.dictionary);
    batch.facts.push_back({document_hash(document), root.member(ttl_).is_defined()});
  }
}

Result<uint64_t> ImportWriter::commit(const Batch& batch) {
  const BulkMode mode = options_.upsert ? BulkMode::upsert : BulkMode::create;
  uint64_t written = 0;
  std::vector<Error> skipped;
  QUIRE_TRY(environment_.write(
      [&](WriteTransaction& transaction) -> Result<void> {
        written = 0;
        skipped.clear();
        QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, store_.indexes().table()));
        const bool is_deferred = version != 0 && version == options_.deferred_version;
        QUIRE_ASSIGN(BulkWriter writer,
                     BulkWriter::begin(transaction, store_, mode,
                                       is_deferred ? BulkIndexing::defer : BulkIndexing::keep));
        for (size_t i = 0; i < batch.items.size(); ++i) {
          if (i + kItemsAhead < batch.items.size()) {
            sql::prefetch(batch.items[i + kItemsAhead].key.data());
            prefetch_document(batch.items[i + kItemsAhead].document);
          }
          const SortedItem& item = batch.items[i];
          auto added = writer.add(item.key, item.document, batch.facts[i], transaction.now());
          if (added) {
            ++written;
            continue;
          }
          Error& error = added.error();
          if (error.code != ErrorCode::conflict && error.code != ErrorCode::epk_clash) return added;
          error.position = {0, item.line, 1};
          if (!options_.skip) return added;
          // Of an item that is there the import has been told, when the keys were looked at.
          sql::Value stored;
          if (!options_.upsert) QUIRE_TRY(store_.read_item(transaction, item.key, {}, stored));
          if (stored.is_undefined()) skipped.push_back(std::move(error));
        }
        return writer.finish();
      },
      must_sync_ ? Sync::later : Sync::with_commit));
  for (Error& error : skipped) QUIRE_TRY(options_.skip(std::move(error)));
  return written;
}

}  // namespace quire::engine
