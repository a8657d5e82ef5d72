#include "engine/query/data_change.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <span>
#include <utility>

#include "engine/container/patch.h"
#include "engine/query/item_list.h"
#include "sql/run/time_limit.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"
#include "sql/value/limited_array.h"

namespace quire::engine {
namespace {

// An item by its primary key, and for a removed one its record as it was.
struct ChangedItem {
  PartitionKey partition_key;
  std::string_view id;
  Bytes record;
};

class DataChange {
 public:
  DataChange(const sql::PreparedQuery& query, WriteTransaction& transaction, SnapshotSource& source,
             const sql::ExecutionOptions& options, ScriptLog& log)
      : query_(query),
        change_(*query.change()),
        transaction_(transaction),
        source_(source),
        options_(options),
        store_(*source.store(change_.collection_name)),
        time_limit_(sql::TimeLimit::from_now(options.time_limit)),
        arena_(options.memory.get()),
        patch_arena_(options.memory.get()),
        texts_(options.memory.get()),
        changed_(options.memory.get()) {
    outcome_.rows_memory = sql::MemoryShare(options.memory.get());
    write_options_.triggers = {.pre = change_.pre_trigger,
                               .post = change_.post_trigger,
                               .runs_always = true,
                               .log = &log,
                               .time_limit = time_limit_};
  }

  Result<ChangeOutcome> run() {
    QUIRE_TRY(read());
    QUIRE_TRY(change_.kind == sql::ChangeKind::remove ? remove_all() : write_all());
    outcome_.stats.items_changed = changed_.size();
    if (change_.returning != nullptr) QUIRE_TRY(run_returning());
    return std::move(outcome_);
  }

 private:
  // The rows of the query, copied, since the first write ends what they point to.
  Result<void> read() {
    sql::ExecutionOptions options = options_;
    options.result_limit = 0;  // these rows are no result
    QUIRE_ASSIGN(const auto execution, sql::Execution::start(query_, source_, options));
    for (;;) {
      QUIRE_ASSIGN(const std::optional<sql::Value> row, execution->next());
      if (!row) break;
      if (change_.kind == sql::ChangeKind::remove)
        remember(*row, true);
      else
        QUIRE_TRY(change_.kind == sql::ChangeKind::patch ? add_patched(*row) : add_text(*row));
    }
    outcome_.stats = execution->stats();
    outcome_.stats.rows_returned = 0;
    return {};
  }

  Result<void> add_text(const sql::Value& item) {
    if (!sql::has_only_finite_numbers(item))
      return std::unexpected(
          of_item({ErrorCode::not_json_result, "an item would hold NaN or Infinity, which JSON has not"},
                  item, texts_.size()));
    text_.clear();
    sql::write_json(item, text_);
    texts_.push_back(arena_.copy_string(text_));
    return {};
  }

  // Says of which of the items, as far as its message does not. That of a script ends in its stack.
  Error of_item(Error error, const sql::Value& item, size_t at) const {
    if (error.status() != 400 || error.code == ErrorCode::script_failed) return error;
    const sql::Value id = item.member("id");
    std::string name = texts_.size() > 1 ? fmt::format("number {}", at + 1) : "";
    if (id.is_string()) name = fmt::format("'{}'", shortened(id.as_string(), kLongestShownId));
    if (!error.message.contains(name) && !error.message.contains("(item "))
      error.message += fmt::format(" (item {})", name);
    return error;
  }

  // `row`: an item and the operations on it.
  Result<void> add_patched(const sql::Value& row) {
    patch_arena_.reset();
    QUIRE_ASSIGN(const Patch patch, Patch::read(row.element(1), store_.definition(), patch_arena_));
    auto patched = patch.apply(row.element(0));
    if (patched) return add_text(*patched);
    patched.error().message += fmt::format(" (item '{}')", store_.id_of(row.element(0)).as_string());
    return std::unexpected(std::move(patched.error()));
  }

  // `root`: of an item in storage.
  void remember(const sql::Value& root, bool with_record) {
    ChangedItem item;
    item.partition_key = store_.partition_key_of(root);
    for (size_t i = 0; i < item.partition_key.size; ++i) {
      sql::Value& component = item.partition_key.values[i];
      if (component.is_string()) component = sql::Value::string(arena_.copy_string(component.as_string()));
    }
    item.id = arena_.copy_string(store_.id_of(root).as_string());
    if (with_record && change_.returning != nullptr) item.record = arena_.copy_string(record_of(root));
    changed_.push_back(item);
  }

  // Before each write.
  Result<void> may_go_on() const {
    const std::atomic<uint64_t>* const interrupts = options_.interrupts;
    if (interrupts != nullptr && interrupts->load(std::memory_order_relaxed) != options_.interrupts_at_start)
      return std::unexpected(sql::statement_interrupted());
    if (time_limit_.is_over()) return std::unexpected(time_limit_.error());
    return {};
  }

  Result<void> remove_all() {
    size_t removed = 0;
    for (const ChangedItem& item : changed_) {
      QUIRE_TRY(may_go_on());
      const auto erased =
          store_.erase(transaction_, item.partition_key, item.id, {}, write_options_.triggers);
      if (erased) {
        changed_[removed++] = item;
        continue;
      }
      if (erased.error().code != ErrorCode::not_found) return erased;
      // A trigger of an item before may have deleted this one, too.
      QUIRE_ASSIGN(const std::optional<Item> stored, store_.read(transaction_, item.partition_key, item.id));
      if (stored) return erased;
    }
    changed_.resize(removed);
    return {};
  }

  Result<void> write_all() {
    if (change_.kind == sql::ChangeKind::update || change_.kind == sql::ChangeKind::patch) {
      QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(transaction_));
      write_options_.newest = statistics.last_lsn;
    }
    for (size_t at = 0; at < texts_.size(); ++at) {
      QUIRE_TRY(may_go_on());
      QUIRE_ASSIGN(const ItemOutcome written, write(at));
      remember(written.item.root, false);
    }
    return {};
  }

  Result<ItemOutcome> write(size_t at) {
    auto written = write_text(texts_[at]);
    if (written) return written;
    sql::Arena arena;
    const auto item = sql::JsonReader().to_value(texts_[at], arena);
    Error error = of_item(std::move(written.error()), item ? *item : sql::Value(), at);
    error.position = {};  // the texts of items are not the statement's
    return std::unexpected(std::move(error));
  }

  Result<ItemOutcome> write_text(std::string_view text) {
    switch (change_.kind) {
      case sql::ChangeKind::insert:
        return store_.create(transaction_, text, write_options_);
      case sql::ChangeKind::upsert:
        return store_.upsert(transaction_, text, write_options_);
      default:
        return store_.replace(transaction_, text, write_options_);
    }
  }

  Result<void> run_returning() {
    sql::LimitedArray<sql::Value> items(options_.memory.get());
    for (const ChangedItem& item : changed_) {
      QUIRE_ASSIGN(const sql::Value root, root_of(item));
      if (root.is_defined()) items.push_back(root);
    }
    ItemList changed(*source_.collection(change_.collection_name), items);
    sql::ExecutionOptions options = options_;
    options.changed = &changed;
    QUIRE_ASSIGN(const auto execution, sql::Execution::start(query_, source_, options));
    for (;;) {
      QUIRE_ASSIGN(const std::optional<sql::Value> row, execution->next());
      if (!row) return {};
      if (!sql::has_only_finite_numbers(*row))
        return fail(ErrorCode::not_json_result,
                    "a row of RETURNING holds NaN or Infinity, which JSON has not");
      std::string& text = outcome_.rows.emplace_back();
      sql::write_json(*row, text);
      outcome_.rows_memory.take(sizeof(std::string) + text.size());
      ++outcome_.stats.rows_returned;
    }
  }

  // Undefined where a trigger of a later item has deleted this one.
  Result<sql::Value> root_of(const ChangedItem& item) {
    if (!item.record.empty())
      return sql::read_document(std::as_bytes(std::span(document_of(item.record))),
                                store_.dictionary().number());
    QUIRE_ASSIGN(const std::optional<Item> stored, store_.read(transaction_, item.partition_key, item.id));
    return stored ? stored->root : sql::Value();
  }

  const sql::PreparedQuery& query_;
  const sql::BoundChange& change_;
  WriteTransaction& transaction_;
  SnapshotSource& source_;
  const sql::ExecutionOptions& options_;
  ContainerStore& store_;
  sql::TimeLimit time_limit_;
  WriteOptions write_options_;
  sql::Arena arena_, patch_arena_;
  std::string text_;
  sql::LimitedArray<std::string_view> texts_;  // items to write
  sql::LimitedArray<ChangedItem> changed_;
  ChangeOutcome outcome_;
};

}  // namespace

Result<ChangeOutcome> change_items(const sql::PreparedQuery& query, WriteTransaction& transaction,
                                   SnapshotSource& source, const sql::ExecutionOptions& options,
                                   ScriptLog& log) {
  log.clear();
  return DataChange(query, transaction, source, options, log).run();
}

}  // namespace quire::engine
