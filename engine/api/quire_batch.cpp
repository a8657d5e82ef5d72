// The transactional batch.
#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "engine/api/item_call.h"
#include "engine/api/request.h"
#include "engine/container/batch.h"
#include "quire/quire.h"

using quire::Error;
using quire::ErrorCode;
using quire::fail;
using quire::Result;
using quire::engine::BatchKind;
using quire::engine::BatchOperation;
using quire::engine::BatchOutcome;
using quire::engine::WriteTransaction;

namespace {

static_assert(static_cast<int>(BatchKind::create) == QUIRE_BATCH_CREATE);
static_assert(static_cast<int>(BatchKind::upsert) == QUIRE_BATCH_UPSERT);
static_assert(static_cast<int>(BatchKind::replace) == QUIRE_BATCH_REPLACE);
static_assert(static_cast<int>(BatchKind::read) == QUIRE_BATCH_READ);
static_assert(static_cast<int>(BatchKind::patch) == QUIRE_BATCH_PATCH);
static_assert(static_cast<int>(BatchKind::remove) == QUIRE_BATCH_DELETE);

Result<BatchOperation> operation_argument(const quire_batch_operation& given) {
  const uint32_t kind = quire::engine::number_of(given.kind);
  if (kind > QUIRE_BATCH_DELETE)
    return fail(ErrorCode::misuse, fmt::format("it has the unknown kind {}", kind));
  BatchOperation operation{.kind = static_cast<BatchKind>(kind),
                           .id = {},
                           .body = {},
                           .if_match = quire::engine::etag_argument(given.if_match),
                           .if_none_match = quire::engine::etag_argument(given.if_none_match)};
  const bool has_id = kind == QUIRE_BATCH_READ || kind == QUIRE_BATCH_PATCH || kind == QUIRE_BATCH_DELETE ||
                      (kind == QUIRE_BATCH_REPLACE && given.id_length > 0);
  const bool has_body = kind != QUIRE_BATCH_READ && kind != QUIRE_BATCH_DELETE;
  if (has_id) {
    QUIRE_ASSIGN(operation.id, quire::engine::text_argument(given.id, given.id_length, "the id"));
  }
  if (has_body) {
    QUIRE_ASSIGN(operation.body,
                 quire::engine::text_argument(given.json, given.json_length, "the operation's JSON"));
  }
  return operation;
}

void give_back(const BatchOutcome& outcome, quire_batch_result& result) {
  result.status = outcome.status;
  result.info = {};
  if (outcome.has_etag)
    quire::engine::fill(result.info, outcome.etag, outcome.timestamp, outcome.status == 201);
  result.info.request_charge = outcome.charge;
  quire::engine::assign(result.item, outcome.item);
}

// All of them; the result of one that cannot be read has its error's status.
Result<std::vector<BatchOperation>> operation_arguments(std::span<const quire_batch_operation> given,
                                                        quire_batch_result* results) {
  std::vector<BatchOperation> batch;
  for (size_t i = 0; i < given.size(); ++i) {
    auto operation = operation_argument(given[i]);
    if (!operation) {
      Error& error = operation.error();
      if (results != nullptr) results[i].status = error.status();
      error.message = fmt::format("operation {} of the batch: {}", i + 1, error.message);
      return std::unexpected(std::move(error));
    }
    batch.push_back(*operation);
  }
  return batch;
}

}  // namespace

extern "C" int quire_batch(quire_container* container, quire_transaction* transaction,
                           const quire_scalar* partition_key, size_t components,
                           const quire_batch_operation* operations, size_t count, quire_batch_result* results,
                           quire_error* error) {
  return quire::engine::guarded(error, [&]() -> Result<void> {
    quire::engine::begin_write_request();
    if (operations == nullptr && count > 0) return quire::engine::null_argument("the list of operations");
    for (size_t i = 0; results != nullptr && i < count; ++i) give_back(BatchOutcome{}, results[i]);
    if (container == nullptr) return quire::engine::null_argument("the container");
    if (count > quire::engine::kMostBatchOperations)
      return fail(ErrorCode::limit_exceeded, fmt::format("the batch has {} operations; the limit is {}",
                                                         count, quire::engine::kMostBatchOperations));
    QUIRE_ASSIGN(const auto key, quire::engine::PartitionKeyArgument::read(partition_key, components));
    QUIRE_ASSIGN(const auto batch, operation_arguments(std::span(operations, count), results));
    quire::engine::Request request(*container->store);
    QUIRE_TRY(request.admit(key.components()));
    std::vector<BatchOutcome> outcomes(count);
    const auto work = [&](WriteTransaction& writing) {
      const auto make_condition = [&](std::string_view condition) {
        return quire::engine::condition_on(*container, writing, condition);
      };
      return quire::engine::run_batch(writing, *container->store, key.components(), batch, make_condition,
                                      outcomes, &quire::engine::last_request_log());
    };
    const auto done = quire::engine::write(*container, transaction, [&](WriteTransaction& writing) {
      return request.run(writing, [&](WriteTransaction& running) {
        return transaction != nullptr ? running.nested(work) : work(running);
      });
    });
    if (done) request.finish();
    // A commit that fails undoes what each operation had done.
    for (size_t i = 0; results != nullptr && i < count; ++i) {
      const bool is_true = done.has_value() || outcomes[i].status >= 400;
      give_back(is_true ? outcomes[i] : BatchOutcome{}, results[i]);
    }
    return done;
  });
}
