#include "engine/container/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>

#include "engine/container/bulk_writer.h"
#include "engine/container/detached_encoder.h"
#include "engine/container/import_input.h"
#include "engine/container/import_sorter.h"
#include "sql/value/extended_json.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

// LMDB keeps the new pages of a transaction on the heap until it commits.
constexpr size_t kCommitBytes = size_t{24} << 20;
// JSON may be several times longer than the document that it makes.
constexpr size_t kTextPerDocumentByte = 4;
constexpr auto kBetweenReports = std::chrono::milliseconds(200);

std::string folder_for_runs(const Environment& environment) {
  std::error_code error;
  if (environment.path() == Environment::kInMemory) {
    const auto folder = std::filesystem::temp_directory_path(error);
    return error ? "/tmp" : folder.string();
  }
  const auto folder = std::filesystem::path(environment.path()).parent_path();
  return folder.empty() ? "." : folder.string();
}

// Where an error of one text stands in the whole input.
Error placed(Error error, const ImportText& text) {
  const uint32_t line = std::max<uint32_t>(error.position.line, 1);
  const uint32_t column = std::max<uint32_t>(error.position.column, 1);
  error.position.line = static_cast<uint32_t>(text.line) + line - 1;
  error.position.column = line == 1 ? static_cast<uint32_t>(text.column) + column - 1 : column;
  return error;
}

class Import {
 public:
  Import(Environment& environment, ContainerStore& store, DetachedEncoder encoder, const InputReader& read,
         const ImportOptions& options)
      : environment_(environment),
        store_(store),
        encoder_(std::move(encoder)),
        options_(options),
        input_(read, static_cast<size_t>(store.definition().item_limit_bytes) * kTextPerDocumentByte + 65536),
        sorter_(folder_for_runs(environment), options.sort_memory),
        interrupts_at_start_(options.interrupts != nullptr ? options.interrupts->load() : 0) {
    std::string_view path = options.id_path;
    while (path.starts_with('/')) {
      path.remove_prefix(1);
      id_steps_.emplace_back(path.substr(0, path.find('/')));
      path.remove_prefix(std::min(path.find('/'), path.size()));
    }
  }

  Result<ImportResult> run() {
    QUIRE_TRY(read_all());
    QUIRE_TRY(check_keys());
    QUIRE_TRY(write_all());
    result_.bytes_read = input_.bytes_read();
    return result_;
  }

 private:
  // ---- Reading

  Result<void> read_all() {
    ImportText text;
    while (true) {
      auto has_text = input_.next(text);
      if (!has_text) {
        if (has_text.error().code != ErrorCode::too_large) return std::unexpected(std::move(has_text.error()));
        QUIRE_TRY(skip(std::move(has_text.error())));
        continue;
      }
      if (!*has_text) return {};
      auto encoded = encode(text);
      if (!encoded && !is_about_the_item(encoded.error())) return std::unexpected(std::move(encoded.error()));
      if (!encoded)
        QUIRE_TRY(skip(placed(std::move(encoded.error()), text)));
      else
        QUIRE_TRY(sorter_.add(encoded->key.bytes(), encoded->document, text.line));
      QUIRE_TRY(report(sorter_.items()));
    }
  }

  static bool is_about_the_item(const Error& error) {
    const int status = error_code_row(error.code).status;
    return status == 400 || status == 413;
  }

  // Fails with the error, unless bad items are to be left out.
  Result<void> skip(Error error) {
    if (!options_.skip_errors) return std::unexpected(std::move(error));
    ++result_.skipped;
    if (options_.skipped) options_.skipped(error.position.line, error.message);
    return {};
  }

  Result<EncodedItem> encode(const ImportText& text) {
    const MissingId missing_id = options_.generate_ids ? MissingId::make_one : MissingId::refuse;
    if (!options_.extended_json && id_steps_.empty()) return encoder_.encode(text.json, missing_id);
    arena_.reset();
    QUIRE_ASSIGN(sql::Value value, reader_.to_value(text.json, arena_));
    if (options_.extended_json) value = sql::map_extended_json(value, arena_);
    if (!id_steps_.empty()) {
      QUIRE_ASSIGN(value, with_id(value));
    }
    return encoder_.encode(value, missing_id);
  }

  // The item with `id` as the path of the options says, in the place of its own.
  Result<sql::Value> with_id(const sql::Value& item) {
    sql::Value id = item;
    for (const std::string& step : id_steps_) id = id.member(step);
    if (id.is_undefined() || id.is_array() || id.is_object())
      return fail(ErrorCode::invalid_id, "the item has no string or number at " + options_.id_path + " to take as id");
    if (!id.is_string()) {
      std::string text;
      sql::write_json(id, text);
      id = sql::Value::string(arena_.copy_string(text));
    }
    const std::span<sql::Member> members = arena_.make_array<sql::Member>(item.size() + 1);
    size_t count = 0;
    members[count++] = {"id", id};
    for (uint32_t i = 0; i < item.size(); ++i)
      if (const sql::Member member = item.member_at(i); member.name != "id") members[count++] = member;
    return sql::Value::object(members.first(count));
  }

  // ---- Checking: nothing is written unless all keys are good.

  Result<void> check_keys() {
    QUIRE_TRY(sorter_.rewind());
    if (options_.upsert) return {};
    QUIRE_ASSIGN(const ReadTransaction transaction, environment_.begin_read());
    QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(transaction));
    std::string last_key;
    uint64_t last_line = 0;
    while (true) {
      QUIRE_ASSIGN(const SortedItem* item, sorter_.next());
      if (item == nullptr) return sorter_.rewind();
      const bool is_repeated = last_line != 0 && item->key == last_key;
      if (is_repeated) {
        QUIRE_TRY(conflict(*item, fmt::format("an item with this partition key and id stands on line {} already", last_line)));
      } else if (statistics.items > 0) {
        QUIRE_ASSIGN(const bool is_there, contains_key(transaction, store_, item->key));
        if (is_there) QUIRE_TRY(conflict(*item, "an item with this partition key and id is in the container already"));
      }
      if (is_repeated) continue;
      last_key = item->key;
      last_line = item->line;
      QUIRE_TRY(report(sorter_.items()));
    }
  }

  Result<void> conflict(const SortedItem& item, std::string_view what) {
    const std::string_view id = id_of_key(item.key, store_.components());
    return skip({ErrorCode::conflict,
                 fmt::format("{} (id '{}'); use upsert to replace items", what, id.substr(0, 100)),
                 {0, static_cast<uint32_t>(item.line), 1}});
  }

  // ---- Writing

  // What goes into one commit, and what came of it.
  struct Batch {
    std::vector<SortedItem> items;
    sql::Arena bytes;
    uint64_t written = 0;
  };

  // While one batch is committed by a thread, the next is merged.
  Result<void> write_all() {
    Batch batches[2];
    std::future<Result<void>> commit;
    const auto finish = [&](Batch& batch) -> Result<void> {
      if (!commit.valid()) return {};
      if (auto done = commit.get(); !done) return std::unexpected(after_commits(std::move(done.error())));
      result_.items += batch.written;
      return {};
    };
    for (size_t number = 0;; ++number) {
      Batch& batch = batches[number % 2];
      Batch& other = batches[(number + 1) % 2];
      auto merged = merge(batch);
      QUIRE_TRY(finish(other));
      if (!merged) return std::unexpected(after_commits(std::move(merged.error())));
      if (batch.items.empty()) return {};
      commit = std::async(std::launch::async, [this, &batch] { return write(batch); });
    }
  }

  // Fills a batch with the next items, none at the end.
  Result<void> merge(Batch& batch) {
    batch.items.clear();
    batch.bytes.reset();
    size_t size = 0;
    while (true) {
      if (next_item_ == nullptr) {
        QUIRE_ASSIGN(next_item_, sorter_.next());
      }
      // Items of one key stay together, as the last of them decides under upsert.
      if (next_item_ == nullptr) return {};
      const bool is_repeated = !batch.items.empty() && batch.items.back().key == next_item_->key;
      if (size >= kCommitBytes && !is_repeated) return {};
      if (!is_repeated || options_.upsert) {
        const SortedItem copy{batch.bytes.copy_string(next_item_->key), batch.bytes.copy_string(next_item_->document),
                              next_item_->line};
        size += copy.key.size() + copy.document.size();
        if (is_repeated)
          batch.items.back() = copy;
        else
          batch.items.push_back(copy);
      }
      next_item_ = nullptr;
      QUIRE_TRY(report(result_.items));
    }
  }

  Result<void> write(Batch& batch) {
    const BulkMode mode = options_.upsert ? BulkMode::upsert : BulkMode::create;
    return environment_.write([&](WriteTransaction& transaction) -> Result<void> {
      batch.written = 0;
      QUIRE_ASSIGN(BulkWriter writer, BulkWriter::begin(transaction, store_, mode));
      for (const SortedItem& item : batch.items) {
        auto added = writer.add(item.key, item.document);
        // Left out under skip_errors, and told in check_keys; otherwise another writer was quicker.
        if (!added && !(added.error().code == ErrorCode::conflict && options_.skip_errors)) return added;
        if (added) ++batch.written;
      }
      return writer.finish();
    });
  }

  Error after_commits(Error error) const {
    if (result_.items > 0) error.message += fmt::format("; {} items had been written before and stay", result_.items);
    return error;
  }

  Result<void> report(uint64_t items) {
    constexpr uint64_t kItemsBetweenLooks = 1024;
    if (++looks_ % kItemsBetweenLooks != 0) return {};
    const bool is_interrupted =
        options_.interrupts != nullptr && options_.interrupts->load(std::memory_order_relaxed) != interrupts_at_start_;
    const auto now = std::chrono::steady_clock::now();
    bool goes_on = true;
    if (options_.progress && now - last_report_ >= kBetweenReports) {
      last_report_ = now;
      goes_on = options_.progress(input_.bytes_read(), items);
    }
    if (is_interrupted || !goes_on) return fail(ErrorCode::interrupted, "the import was interrupted");
    return {};
  }

  Environment& environment_;
  ContainerStore& store_;
  DetachedEncoder encoder_;
  const ImportOptions& options_;
  ImportInput input_;
  ImportSorter sorter_;
  const SortedItem* next_item_ = nullptr;  // taken from the sorter and not yet in a batch
  ImportResult result_;
  std::vector<std::string> id_steps_;
  sql::JsonReader reader_;
  sql::Arena arena_;
  uint64_t interrupts_at_start_;
  uint64_t looks_ = 0;
  std::chrono::steady_clock::time_point last_report_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<ImportResult> import_items(Environment& environment, ContainerStore& store, const InputReader& read,
                                  const ImportOptions& options) {
  if (!options.id_path.empty() && !options.id_path.starts_with('/'))
    return fail(ErrorCode::invalid_argument, "the path of the id must start with /, as in /key");
  QUIRE_ASSIGN(DetachedEncoder encoder, DetachedEncoder::create(environment, store));
  return Import(environment, store, std::move(encoder), read, options).run();
}

}  // namespace quire::engine
