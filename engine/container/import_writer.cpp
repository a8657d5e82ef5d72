#include "engine/container/import_writer.h"

#include <fmt/format.h>

#include <array>
#include <future>

#include "engine/container/bulk_writer.h"

namespace quire::engine {
namespace {

// LMDB keeps the new pages of a transaction on the heap until it commits, and two batches are at hand: this
// times three is what writing takes. Smaller commits wait for the disk more often.
constexpr size_t kCommitBytes = size_t{24} << 20;

}  // namespace

Result<uint64_t> ImportWriter::write(ImportSorter& sorter) {
  QUIRE_TRY(sorter.begin(ImportSorter::Pass::items));
  if (auto done = write_batches(sorter); !done) {
    if (written_ > 0)
      done.error().message += fmt::format("; {} items had been written before and stay", written_);
    return std::unexpected(std::move(done.error()));
  }
  return written_;
}

Result<void> ImportWriter::write_batches(ImportSorter& sorter) {
  std::array<Batch, 2> batches;
  std::future<Result<void>> committing;  // waits when it ends, before the batches do
  for (size_t number = 0;; ++number) {
    Batch& batch = batches[number % 2];
    const Batch& before = batches[(number + 1) % 2];
    const auto merged = merge(sorter, batch);
    if (committing.valid()) {
      QUIRE_TRY(committing.get());
      written_ += before.written;
    }
    QUIRE_TRY(merged);
    if (batch.items.empty()) return {};
    committing = std::async(std::launch::async, [this, &batch] { return commit(batch); });
  }
}

Result<void> ImportWriter::merge(ImportSorter& sorter, Batch& batch) {
  batch.items.clear();
  batch.bytes.reset();
  size_t size = 0;
  sql::Arena::Mark before_last;  // where the copy of the last item begins
  for (;; next_ = nullptr) {
    if (next_ == nullptr) {
      QUIRE_ASSIGN(next_, sorter.next());
      if (next_ == nullptr) return {};
      QUIRE_TRY(options_.report(written_));
    }
    if (options_.left_out->contains(next_->number)) continue;
    // Items of one key stay together, as the last of them decides under upsert.
    const bool is_repeated = !batch.items.empty() && batch.items.back().key == next_->key;
    if (size >= kCommitBytes && !is_repeated) return {};
    if (is_repeated && !options_.upsert) continue;
    if (is_repeated) {
      batch.items.pop_back();
      batch.bytes.rewind(before_last);
    }
    before_last = batch.bytes.mark();
    SortedItem& copy = batch.items.emplace_back(*next_);
    copy.key = batch.bytes.copy_string(next_->key);
    copy.document = batch.bytes.copy_string(next_->document);
    size += sizeof copy + copy.key.size() + copy.document.size();
  }
}

Result<void> ImportWriter::commit(Batch& batch) {
  const BulkMode mode = options_.upsert ? BulkMode::upsert : BulkMode::create;
  return environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    batch.written = 0;
    QUIRE_ASSIGN(BulkWriter writer, BulkWriter::begin(transaction, store_, mode));
    for (const SortedItem& item : batch.items) {
      auto added = writer.add(item.key, item.document);
      if (added) {
        ++batch.written;
        continue;
      }
      const ErrorCode code = added.error().code;
      if (options_.skip_conflicts && (code == ErrorCode::conflict || code == ErrorCode::epk_clash)) continue;
      return added;
    }
    return writer.finish();
  });
}

}  // namespace quire::engine
