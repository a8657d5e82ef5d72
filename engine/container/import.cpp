#include "engine/container/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include "engine/container/bulk_writer.h"
#include "engine/container/import_block.h"
#include "engine/container/import_input.h"
#include "engine/container/import_merge.h"
#include "engine/container/import_sorter.h"
#include "engine/container/import_writer.h"
#include "engine/container/index_build.h"
#include "engine/container/side_work.h"

namespace quire::engine {
namespace {

// Of the keys, checked by a thread each where there are not few items.
constexpr uint32_t kMostParts = 4;
constexpr uint64_t kFewItems = 10'000;
constexpr uint64_t kItemsBetweenLooks = 256;
constexpr auto kBetweenReports = std::chrono::milliseconds(200);

// How many blocks are encoded at the same time, the one being filled included.
size_t block_count() {
  return std::clamp<size_t>(std::thread::hardware_concurrency(), 2, 8) + 1;
}

class Import {
 public:
  Import(Environment& environment, ContainerStore& store, const InputReader& read,
         const ImportOptions& options)
      : environment_(environment),
        store_(store),
        options_(options),
        input_(read, longest_import_text(store.definition()), options.first_line),
        // There must be room for the items in the database's folder anyway.
        sorter_(environment.folder(), options.sort_memory, block_count()),
        interrupts_at_start_(options.interrupts != nullptr ? options.interrupts->load() : 0) {}

  Result<ImportResult> run() {
    // Names that are new are written by the threads that read, which would wait for this one.
    if (environment_.is_writing_here())
      return fail(ErrorCode::misuse, "an import cannot run beside a write transaction of its own thread");
    auto deferred_version = prepare();
    if (!deferred_version) return std::unexpected(error_of_import(std::move(deferred_version.error())));
    auto written = write_items(*deferred_version);
    // What was written before a failure stays, and so do the indexes.
    if (*deferred_version != 0) QUIRE_TRY(build_indexes(environment_, store_));
    if (!written) return std::unexpected(std::move(written.error()));
    result_.items = *written;
    result_.bytes_read = input_.bytes_read();
    return result_;
  }

 private:
  // All that comes before the first item is written; what defer_indexes() gave.
  Result<uint64_t> prepare() {
    QUIRE_TRY(read_all());
    QUIRE_TRY(check_keys());
    return defer_indexes(environment_, store_);
  }

  Result<uint64_t> write_items(uint64_t deferred_version) {
    ImportWriter writer(environment_, store_,
                        {.upsert = options_.upsert,
                         .deferred_version = deferred_version,
                         .left_out = &left_out_,
                         .skip = options_.skip_errors ? [this](Error error) { return skip(std::move(error)); }
                                                      : std::function<Result<void>(Error)>(),
                         .look = [this] { return look(read_); }});
    return writer.write(sorter_);
  }

  // ---- Reading: while one block is filled, others are encoded

  struct Slot {
    ImportBlock block;
    uint64_t number = 0;  // of the block in the input
    std::future<void> encoding;
  };

  Result<void> read_all() {
    std::vector<Slot> slots;
    slots.reserve(block_count());
    free_slots_.reserve(block_count());  // from there on they take no memory
    for (size_t i = 0; i < block_count(); ++i) {
      QUIRE_ASSIGN(ImportBlock block, ImportBlock::make(environment_, store_, options_, sorter_.lane(i)));
      slots.push_back({std::move(block), 0, {}});
      free_slots_.push_back(&slots.back());
    }
    QUIRE_TRY(input_.start());
    return encode_all(slots.size());
  }

  // Has somebody who waits for a slot go on, also where the encoding ends with an exception.
  struct GiveBack {
    Import& import;
    Slot* slot;
    ~GiveBack() {
      const std::lock_guard lock(import.mutex_);
      import.free_slots_.push_back(slot);
      import.slot_is_free_.notify_one();
    }
  };

  Result<void> encode_all(size_t slots) {
    for (uint64_t number = 0;; ++number) {
      QUIRE_ASSIGN(Slot * slot, take_slot());
      slot->number = number;
      const auto has_more = fill(slot->block);
      slot->encoding = std::async(kBesideIfPossible, [this, slot] {
        const GiveBack give_back{*this, slot};
        slot->block.encode();
      });
      if (!has_thread(slot->encoding)) slot->encoding.wait();
      if (has_more && *has_more) continue;
      for (size_t i = 0; i < slots; ++i) QUIRE_TRY(take_slot());
      if (!has_more) return std::unexpected(has_more.error());
      return {};
    }
  }

  // A block to fill, once what was wrong with its last items has been looked at.
  Result<Slot*> take_slot() {
    std::unique_lock lock(mutex_);
    slot_is_free_.wait(lock, [this] { return !free_slots_.empty(); });
    Slot* const slot = free_slots_.front();
    free_slots_.erase(free_slots_.begin());
    lock.unlock();
    if (slot->encoding.valid()) {
      slot->encoding.get();
      errors_.emplace(slot->number, slot->block.take_errors());
      QUIRE_TRY(tell_errors());
    }
    return slot;
  }

  // In the order of the input, as the first error is the one to tell: those of a block wait for the blocks
  // before it.
  Result<void> tell_errors() {
    for (; !errors_.empty() && errors_.begin()->first == blocks_done_; ++blocks_done_) {
      const auto of_block = errors_.extract(errors_.begin());
      for (Error& error : of_block.mapped()) {
        if (!is_about_the_item(error)) return std::unexpected(std::move(error));
        QUIRE_TRY(skip(std::move(error)));
      }
    }
    return {};
  }

  // False at the end of the input.
  Result<bool> fill(ImportBlock& block) {
    return input_.is_array() ? fill_with_elements(block) : fill_with_lines(block.lines());
  }

  Result<bool> fill_with_elements(ImportBlock& block) {
    ImportText element;
    while (!block.is_full()) {
      QUIRE_ASSIGN(const bool has_element, input_.next_element(element));
      if (!has_element) return false;
      block.add(element);
      if (++read_ % kItemsBetweenLooks == 0) QUIRE_TRY(look(read_));
    }
    return true;
  }

  Result<bool> fill_with_lines(ImportLines& lines) {
    QUIRE_TRY(input_.begin_lines(lines));
    const uint64_t read_before = read_;
    for (bool is_whole = false; !is_whole;) {
      QUIRE_ASSIGN(is_whole, input_.read_lines(lines));
      read_ = read_before + lines.newlines;
      QUIRE_TRY(look(read_));
    }
    return !lines.is_last;
  }

  // Fails with the error, unless bad items are to be left out.
  Result<void> skip(Error error) {
    if (!options_.skip_errors) return std::unexpected(std::move(error));
    ++result_.skipped;
    if (options_.skipped) options_.skipped(error.position.line, error.message);
    return {};
  }

  // ---- Checking: nothing is written unless all keys are good

  Result<void> check_keys() {
    QUIRE_TRY(sorter_.finish());
    {
      QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
      QUIRE_TRY(store_.refresh(snapshot));
      QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(snapshot));
      may_conflict_ = statistics.items > 0 && !options_.upsert;
    }
    // What is left out is told of by the caller's thread.
    const bool is_shared = !options_.skip_errors && read_ >= kFewItems;
    const uint32_t parts =
        is_shared ? std::clamp<uint32_t>(std::thread::hardware_concurrency(), 1, kMostParts) : 1;
    std::vector<std::future<Result<void>>> others;
    for (uint32_t part = 1; part < parts; ++part)
      others.push_back(
          std::async(kBesideIfPossible, [this, part, parts] { return check_part(part, parts); }));
    auto checked = check_part(0, parts);
    if (!checked) is_over_ = true;
    for (std::future<Result<void>>& other : others) {
      auto also = other.get();
      if (checked) checked = std::move(also);
    }
    return checked;
  }

  Result<void> check_part(uint32_t part, uint32_t parts) {
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
    ImportMerge items(sorter_, part, parts);
    std::optional<SortedItem> last;
    // With each item only what is this thread's own is touched: others write beside what they share.
    const bool may_conflict = may_conflict_;
    uint64_t seen = 0;
    while (const SortedItem* item = items.next()) {
      if (last && item->key == last->key) {
        QUIRE_TRY(check_repeated(*item, *last));
        continue;
      }
      if (may_conflict) QUIRE_TRY(check_stored(snapshot, *item));
      last = *item;
      if (++seen % kItemsBetweenLooks != 0) continue;
      if (part == 0) QUIRE_TRY(look(read_));
      if (is_over_.load(std::memory_order_relaxed)) return {};
    }
    return {};
  }

  // What two items of one key in the input mean: the same item twice, or two whose hashes are equal.
  Result<void> check_repeated(const SortedItem& item, const SortedItem& last) {
    const sql::Value root = root_of(item.document), last_root = root_of(last.document);
    const PartitionKey key = store_.partition_key_of(root), last_key = store_.partition_key_of(last_root);
    const std::string_view id = store_.id_of(root).as_string(), last_id = store_.id_of(last_root).as_string();
    if (!store_.is_in_partition(last_root, key) || id != last_id) {
      QUIRE_TRY(skip(
          {ErrorCode::epk_clash,
           fmt::format(
               "item '{}' of partition key {} and item '{}' of partition key {}, on line {}, have the same "
               "hash, so that only one of them can exist",
               shortened(id, kLongestShownId), partition_key_text(key), shortened(last_id, kLongestShownId),
               partition_key_text(last_key), last.line),
           line_start(item.line)}));
      left_out_.insert(item.number);
      return {};
    }
    if (options_.upsert) return {};
    return skip(
        {ErrorCode::conflict,
         fmt::format("item '{}' with partition key {} stands on line {} already; upsert takes the later one",
                     shortened(id, kLongestShownId), partition_key_text(key), last.line),
         line_start(item.line)});
  }

  // Whether the container has an item of this key.
  Result<void> check_stored(const ReadTransaction& transaction, const SortedItem& item) {
    QUIRE_ASSIGN(const bool is_stored, contains_key(transaction, store_, item.key));
    if (!is_stored) return {};
    const sql::Value root = root_of(item.document);
    const PartitionKey key = store_.partition_key_of(root);
    const std::string_view id = store_.id_of(root).as_string();
    auto stored = store_.read(transaction, key, id);
    if (!stored) {
      if (stored.error().code != ErrorCode::epk_clash) return std::unexpected(std::move(stored.error()));
      stored.error().position = line_start(item.line);
      return skip(std::move(stored.error()));
    }
    return skip(
        {ErrorCode::conflict,
         fmt::format("item '{}' with partition key {} exists in container '{}'; upsert replaces it",
                     shortened(id, kLongestShownId), partition_key_text(key), store_.definition().name),
         line_start(item.line)});
  }

  sql::Value root_of(std::string_view document) const {
    return sql::read_document(std::as_bytes(std::span(document)), store_.dictionary().number());
  }
  static Position line_start(uint32_t line) { return {0, line, 1}; }

  // ---- Telling

  // Tells the progress a few times a second, and whether to stop. Not for each item: the clock is too slow
  // for that.
  Result<void> look(uint64_t items) {
    bool goes_on = options_.interrupts == nullptr ||
                   options_.interrupts->load(std::memory_order_relaxed) == interrupts_at_start_;
    const auto now = std::chrono::steady_clock::now();
    if (goes_on && options_.progress && now - last_report_ >= kBetweenReports) {
      last_report_ = now;
      goes_on = options_.progress(input_.bytes_read(), items);
    }
    if (!goes_on) return fail(ErrorCode::interrupted, "the import was interrupted");
    return {};
  }

  Environment& environment_;
  ContainerStore& store_;
  const ImportOptions& options_;
  ImportInput input_;
  ImportSorter sorter_;
  ImportResult result_;
  uint64_t read_ = 0;  // elements or lines
  std::mutex mutex_;   // guards free_slots_
  std::condition_variable slot_is_free_;
  std::vector<Slot*> free_slots_;
  uint64_t blocks_done_ = 0;                       // all before this number are encoded
  std::map<uint64_t, std::vector<Error>> errors_;  // of blocks from there on
  // Numbers of items that share their key with another partition key's, or another id's, in the input.
  std::unordered_set<uint64_t> left_out_;
  bool may_conflict_ = false;          // with items that the container has
  std::atomic<bool> is_over_ = false;  // what was found ends the import: nobody need look further
  uint64_t interrupts_at_start_;
  std::chrono::steady_clock::time_point last_report_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<ImportResult> import_items(Environment& environment, ContainerStore& store, const InputReader& read,
                                  const ImportOptions& options) {
  return Import(environment, store, read, options).run();
}

}  // namespace quire::engine
