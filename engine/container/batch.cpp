#include "engine/container/batch.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "engine/container/patch.h"
#include "engine/container/request_charge.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

constexpr std::string_view kWords[] = {"create", "upsert", "replace", "read", "patch", "delete"};

Result<void> check_limits(std::span<const BatchOperation> operations) {
  if (operations.empty()) return fail(ErrorCode::invalid_argument, "a batch needs at least one operation");
  if (operations.size() > kMostBatchOperations)
    return fail(ErrorCode::limit_exceeded, fmt::format("the batch has {} operations; the limit is {}",
                                                       operations.size(), kMostBatchOperations));
  size_t bytes = 0;
  for (const BatchOperation& operation : operations) bytes += operation.id.size() + operation.body.size();
  if (bytes > kMostBatchBytes)
    return fail(ErrorCode::too_large,
                fmt::format("the batch has {} bytes; the limit is {}", bytes, kMostBatchBytes));
  return {};
}

class Batch {
 public:
  Batch(WriteTransaction& transaction, ContainerStore& store, std::span<const sql::Value> partition_key,
        const MakeCondition& make_condition, ScriptLog* log)
      : transaction_(transaction),
        store_(store),
        partition_key_(partition_key),
        make_condition_(make_condition),
        triggers_{.pre = {}, .post = {}, .runs_always = true, .log = log} {}

  Result<void> run(const BatchOperation& operation, BatchOutcome& outcome) {
    const WriteOptions options{
        .if_match = operation.if_match, .triggers = triggers_, .partition_key = partition_key_};
    switch (operation.kind) {
      case BatchKind::create:
        return written(store_.create(transaction_, operation.body, options), outcome);
      case BatchKind::upsert:
        return written(store_.upsert(transaction_, operation.body, options), outcome);
      case BatchKind::replace:
        return replace(operation, options, outcome);
      case BatchKind::read:
        return read(operation, outcome);
      case BatchKind::patch:
        return patch(operation, options, outcome);
      case BatchKind::remove:
        QUIRE_TRY(store_.erase(transaction_, partition_key_, operation.id, operation.if_match, triggers_));
        outcome.status = 204;
        return {};
    }
    return {};
  }

 private:
  Result<void> replace(const BatchOperation& operation, WriteOptions options, BatchOutcome& outcome) {
    if (!operation.id.empty()) options.replaced_id = operation.id;
    return written(store_.replace(transaction_, operation.body, options), outcome);
  }

  static Result<void> written(const Result<ItemOutcome>& made, BatchOutcome& outcome) {
    if (!made) return std::unexpected(made.error());
    outcome.status = made->created ? 201 : 200;
    outcome.etag = made->etag;
    outcome.has_etag = true;
    outcome.timestamp = made->timestamp;
    return {};
  }

  Result<void> read(const BatchOperation& operation, BatchOutcome& outcome) {
    QUIRE_ASSIGN(const std::optional<Item> item, store_.read(transaction_, partition_key_, operation.id));
    if (!item)
      return fail(ErrorCode::not_found,
                  fmt::format("there is no item '{}' with this partition key", shortened(operation.id)));
    transaction_.charge(read_charge(json_bytes_of_document(document_of(item->record).size())));
    const bool is_known = store_.has_etag(*item, operation.if_none_match);
    outcome.status = is_known ? 304 : 200;
    outcome.etag = store_.etag_of(*item);
    outcome.has_etag = true;
    outcome.timestamp = item->header().timestamp;
    if (!is_known) store_.write_item_json(item->root, outcome.item);
    return {};
  }

  Result<void> patch(const BatchOperation& operation, const WriteOptions& options, BatchOutcome& outcome) {
    sql::Arena arena;
    QUIRE_ASSIGN(const sql::Value json, reader_.to_value(operation.body, arena));
    QUIRE_ASSIGN(const PatchBody body, read_patch_body(json));
    QUIRE_ASSIGN(const Patch operations, Patch::read(body.operations, store_.definition(), arena));
    const ItemCondition condition =
        body.condition.empty() ? ItemCondition() : make_condition_(body.condition);
    return written(store_.patch(transaction_, partition_key_, operation.id, operations, condition, options),
                   outcome);
  }

  WriteTransaction& transaction_;
  ContainerStore& store_;
  std::span<const sql::Value> partition_key_;
  const MakeCondition& make_condition_;
  TriggerRequest triggers_;
  sql::JsonReader reader_;
};

}  // namespace

Result<void> run_batch(WriteTransaction& transaction, ContainerStore& store,
                       std::span<const sql::Value> partition_key, std::span<const BatchOperation> operations,
                       const MakeCondition& make_condition, std::span<BatchOutcome> outcomes,
                       ScriptLog* log) {
  if (log != nullptr) log->clear();
  QUIRE_TRY(check_limits(operations));
  QUIRE_TRY(store.check_components(partition_key));
  Batch batch(transaction, store, partition_key, make_condition, log);
  for (size_t i = 0; i < operations.size(); ++i) {
    outcomes[i] = {};
    const double before = transaction.charged();
    auto done = batch.run(operations[i], outcomes[i]);
    outcomes[i].charge = transaction.charged() - before;
    if (done) continue;
    Error& error = done.error();
    for (BatchOutcome& outcome : outcomes) outcome = {};
    outcomes[i].status = error.status();
    error.message = fmt::format("operation {} ({}) of the batch: {}", i + 1,
                                kWords[static_cast<size_t>(operations[i].kind)], error.message);
    return done;
  }
  return {};
}

}  // namespace quire::engine
