#include "engine/container/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <unordered_set>

#include "engine/container/bulk_writer.h"
#include "engine/container/detached_encoder.h"
#include "engine/container/import_input.h"
#include "engine/container/import_mapping.h"
#include "engine/container/import_sorter.h"
#include "engine/container/import_writer.h"

namespace quire::engine {
namespace {

// JSON may be several times longer than the document that it makes: longer texts are not even read into
// memory.
constexpr size_t kTextPerDocumentByte = 8;
constexpr size_t kTextAllowance = size_t{64} << 10;
constexpr auto kBetweenReports = std::chrono::milliseconds(200);

// The folder for the sort's temporary file: that of the database, where there must be room for the items
// anyway.
std::string folder_for_runs(const Environment& environment) {
  std::error_code error;
  if (environment.path() == Environment::kInMemory) {
    const auto folder = std::filesystem::temp_directory_path(error);
    return error ? "/tmp" : folder.string();
  }
  const auto folder = std::filesystem::path(environment.path()).parent_path();
  return folder.empty() ? "." : folder.string();
}

// The error of one text, with its place in the whole input.
Error placed(Error error, const ImportText& text) {
  Position& position = error.position;
  if (position.line <= 1) {
    position.column = text.start.column + std::max<uint32_t>(position.column, 1) - 1;
    position.line = text.start.line;
  } else {
    position.line += text.start.line - 1;
  }
  position.offset += text.start.offset;
  if (text.element != 0) error.message += fmt::format(" (element {} of the array)", text.element);
  return error;
}

class Import {
 public:
  Import(Environment& environment, ContainerStore& store, DetachedEncoder encoder, ImportMapping mapping,
         const InputReader& read, const ImportOptions& options)
      : environment_(environment),
        store_(store),
        encoder_(std::move(encoder)),
        mapping_(std::move(mapping)),
        options_(options),
        longest_text_(static_cast<size_t>(store.definition().item_limit_bytes) * kTextPerDocumentByte +
                      kTextAllowance),
        input_(read, longest_text_),
        sorter_(folder_for_runs(environment), options.sort_memory),
        interrupts_at_start_(options.interrupts != nullptr ? options.interrupts->load() : 0) {}

  Result<ImportResult> run() {
    QUIRE_TRY(read_all());
    QUIRE_TRY(check_keys());
    ImportWriter writer(environment_, store_,
                        {.upsert = options_.upsert,
                         .skip_conflicts = options_.skip_errors,
                         .left_out = &left_out_,
                         .report = [this](uint64_t items) { return report(items); }});
    QUIRE_ASSIGN(result_.items, writer.write(sorter_));
    result_.bytes_read = input_.bytes_read();
    return result_;
  }

 private:
  // ---- Reading

  Result<void> read_all() {
    ImportText text;
    for (;;) {
      QUIRE_ASSIGN(const bool has_text, input_.next(text));
      if (!has_text) return {};
      if (auto added = add(text); !added) {
        if (!is_about_the_item(added.error())) return added;
        QUIRE_TRY(skip(placed(std::move(added.error()), text)));
      }
      QUIRE_TRY(report(sorter_.items()));
    }
  }

  Result<void> add(const ImportText& text) {
    if (text.is_too_long)
      return fail(
          ErrorCode::too_large,
          fmt::format(
              "the text of the item has more than {} bytes; the limit of container '{}' is {} for an item",
              longest_text_, store_.definition().name, store_.definition().item_limit_bytes));
    QUIRE_ASSIGN(const EncodedItem item, encode(text.json));
    return sorter_.add(item.key.bytes(), item.document, text.start.line);
  }

  Result<EncodedItem> encode(std::string_view json) {
    const MissingId missing_id = options_.generate_ids ? MissingId::make_one : MissingId::refuse;
    if (mapping_.is_identity()) return encoder_.encode(json, missing_id);
    QUIRE_ASSIGN(const sql::Value item, mapping_.map(json));
    return encoder_.encode(item, missing_id);
  }

  static bool is_about_the_item(const Error& error) { return error.status() == 400 || error.status() == 413; }

  // Fails with the error, unless bad items are to be left out.
  Result<void> skip(Error error) {
    if (!options_.skip_errors) return std::unexpected(std::move(error));
    ++result_.skipped;
    if (options_.skipped) options_.skipped(error.position.line, error.message);
    return {};
  }

  // ---- Checking: nothing is written unless all keys are good

  // An item without its document, kept while the sorter goes on.
  struct KeptItem {
    std::string key;
    uint32_t line = 0;  // 0: none yet
    DocumentPlace place;
  };

  Result<void> check_keys() {
    QUIRE_ASSIGN(const ReadTransaction transaction, environment_.begin_read());
    QUIRE_TRY(store_.refresh(transaction));
    QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(transaction));
    const bool may_conflict = statistics.items > 0 && !options_.upsert;
    QUIRE_TRY(sorter_.begin(ImportSorter::Pass::keys));
    KeptItem last;
    for (;;) {
      QUIRE_ASSIGN(const SortedItem* item, sorter_.next());
      if (item == nullptr) return {};
      if (last.line != 0 && item->key == last.key) {
        QUIRE_TRY(check_repeated(*item, last));
        continue;
      }
      if (may_conflict) QUIRE_TRY(check_stored(transaction, *item));
      last.key.assign(item->key);
      last.line = item->line;
      last.place = item->place;
      QUIRE_TRY(report(sorter_.items()));
    }
  }

  // What two items of one key in the input mean: the same item twice, or two whose hashes are equal.
  Result<void> check_repeated(const SortedItem& item, const KeptItem& last) {
    QUIRE_ASSIGN(const std::string document, sorter_.document(item.place));
    QUIRE_ASSIGN(const std::string last_document, sorter_.document(last.place));
    const sql::Value root = root_of(document), last_root = root_of(last_document);
    const PartitionKey key = store_.partition_key_of(root), last_key = store_.partition_key_of(last_root);
    const std::string_view id = store_.id_of(root).as_string(), last_id = store_.id_of(last_root).as_string();
    if (!store_.is_in_partition(last_root, key) || id != last_id) {
      left_out_.insert(item.number);
      return skip(
          {ErrorCode::epk_clash,
           fmt::format(
               "item '{}' of partition key {} and item '{}' of partition key {}, on line {}, have the same "
               "hash, so that only one of them can exist",
               id, partition_key_text(key), last_id, partition_key_text(last_key), last.line),
           line_start(item.line)});
    }
    if (options_.upsert) return {};
    return skip(
        {ErrorCode::conflict,
         fmt::format("item '{}' with partition key {} stands on line {} already; upsert takes the later one",
                     id, partition_key_text(key), last.line),
         line_start(item.line)});
  }

  // Whether the container has an item of this key.
  Result<void> check_stored(const ReadTransaction& transaction, const SortedItem& item) {
    QUIRE_ASSIGN(const bool is_stored, contains_key(transaction, store_, item.key));
    if (!is_stored) return {};
    QUIRE_ASSIGN(const std::string document, sorter_.document(item.place));
    const sql::Value root = root_of(document);
    const PartitionKey key = store_.partition_key_of(root);
    const std::string_view id = store_.id_of(root).as_string();
    auto stored = store_.read(transaction, key, id);
    if (!stored) {
      if (stored.error().code != ErrorCode::epk_clash) return std::unexpected(std::move(stored.error()));
      stored.error().position = line_start(item.line);
      return skip(std::move(stored.error()));
    }
    return skip({ErrorCode::conflict,
                 fmt::format("item '{}' with partition key {} exists in container '{}'; upsert replaces it",
                             id, partition_key_text(key), store_.definition().name),
                 line_start(item.line)});
  }

  sql::Value root_of(std::string_view document) const {
    return sql::read_document(std::as_bytes(std::span(document)), store_.dictionary().number());
  }
  static Position line_start(uint32_t line) { return {0, line, 1}; }

  // ---- Telling

  // Tells the progress a few times a second, and whether to stop.
  Result<void> report(uint64_t items) {
    constexpr uint64_t kItemsBetweenLooks = 256;
    if (++looks_ % kItemsBetweenLooks != 0) return {};
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
  DetachedEncoder encoder_;
  ImportMapping mapping_;
  const ImportOptions& options_;
  size_t longest_text_;
  ImportInput input_;
  ImportSorter sorter_;
  ImportResult result_;
  // Numbers of items that share their key with another partition key's, or another id's, in the input.
  std::unordered_set<uint64_t> left_out_;
  uint64_t interrupts_at_start_;
  uint64_t looks_ = 0;
  std::chrono::steady_clock::time_point last_report_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<ImportResult> import_items(Environment& environment, ContainerStore& store, const InputReader& read,
                                  const ImportOptions& options) {
  QUIRE_ASSIGN(ImportMapping mapping, ImportMapping::make(options));
  QUIRE_ASSIGN(DetachedEncoder encoder, DetachedEncoder::create(environment, store));
  return Import(environment, store, std::move(encoder), std::move(mapping), read, options).run();
}

}  // namespace quire::engine
