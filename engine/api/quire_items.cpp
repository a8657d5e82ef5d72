// Items: written and read one by one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "engine/api/item_call.h"
#include "engine/api/request.h"
#include "quire/quire.h"
#include "sql/run/time_limit.h"
#include "sql/value/json.h"

using quire::ErrorCode;
using quire::fail;
using quire::Result;
using quire::engine::begin_request;
using quire::engine::begin_write_request;
using quire::engine::ContainerStore;
using quire::engine::etag_argument;
using quire::engine::fill;
using quire::engine::guarded;
using quire::engine::Item;
using quire::engine::ItemOutcome;
using quire::engine::null_argument;
using quire::engine::PartitionKeyArgument;
using quire::engine::Patch;
using quire::engine::Request;
using quire::engine::ScratchText;
using quire::engine::text_argument;
using quire::engine::text_or_empty;
using quire::engine::Transaction;
using quire::engine::TriggerRequest;
using quire::engine::write;
using quire::engine::WriteOptions;
using quire::engine::WriteTransaction;
using quire::sql::Value;

namespace {

using Operation = Result<ItemOutcome> (ContainerStore::*)(WriteTransaction&, std::string_view,
                                                          const WriteOptions&);

void finish(Request& request, quire_item_info& written, quire_item_info* info) {
  request.finish();
  written.request_charge = request.charged();
  if (info != nullptr) *info = written;
}

// The triggers that a request names, with the log of this thread's request.
TriggerRequest triggers_of(const quire_write_options& given) {
  return {.pre = text_or_empty(given.pre_trigger),
          .post = text_or_empty(given.post_trigger),
          .runs_always = true,
          .log = &quire::engine::last_request_log()};
}

Result<void> refuse_replaced_id(const quire_write_options& given) {
  if (given.replaced_id_length == 0) return {};
  return fail(ErrorCode::invalid_argument, "replaced_id is for QUIRE_REPLACE alone");
}

Result<void> take_replaced_id(Operation operation, const quire_write_options& given, WriteOptions& options) {
  if (operation != static_cast<Operation>(&ContainerStore::replace)) return refuse_replaced_id(given);
  if (given.replaced_id_length == 0) return {};
  QUIRE_ASSIGN(options.replaced_id,
               text_argument(given.replaced_id, given.replaced_id_length, "the id of the replaced item"));
  return {};
}

int write_item(Operation operation, quire_container* container, quire_transaction* transaction,
               const char* json, size_t length, const quire_write_options& given, quire_item_info* info,
               quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    begin_write_request();
    if (container == nullptr) return null_argument("the container");
    QUIRE_ASSIGN(const std::string_view text, text_argument(json, length, "the item's JSON"));
    WriteOptions options;
    options.if_match = etag_argument(given.if_match);
    options.triggers = triggers_of(given);
    QUIRE_TRY(take_replaced_id(operation, given, options));
    quire_item_info written{};
    Request request(*container->store);
    const auto work = [&](WriteTransaction& writing) -> Result<void> {
      options.triggers.log->clear();
      QUIRE_ASSIGN(const ItemOutcome outcome, (container->store.get()->*operation)(writing, text, options));
      fill(written, outcome.etag, outcome.timestamp, outcome.created);
      return request.admit(container->store->partition_key_of(outcome.item.root));
    };
    QUIRE_TRY(write(*container, transaction,
                    [&](WriteTransaction& writing) { return request.run(writing, work); }));
    finish(request, written, info);
    return {};
  });
}

quire_write_options matching(const char* if_match) {
  quire_write_options options{};
  options.if_match = if_match;
  return options;
}

// What a read costs that has found this.
double charge_of(const std::optional<Item>& item) {
  const uint64_t document_bytes = item ? quire::engine::document_of(item->record).size() : 0;
  return quire::engine::read_charge(quire::engine::json_bytes_of_document(document_bytes));
}

std::unexpected<quire::Error> not_found(const quire_container& container, std::span<const Value> key,
                                        std::string_view id) {
  std::string message = fmt::format("container '{}' has no item '{}'", container.store->definition().name,
                                    quire::shortened(id, quire::engine::kLongestShownId));
  if (!key.empty()) message += " in partition " + quire::engine::partition_key_text(key);
  return fail(ErrorCode::not_found, std::move(message));
}

// Arguments as C passes them.
struct KeyArgument {
  const quire_scalar* components;
  size_t count;
};
struct IdArgument {
  const char* bytes;
  size_t length;
};

// An item as the transaction sees it; without one as the BEGIN of the thread does, else as it is now.
// `use` gets the item, good for the call, and what the read costs.
Result<void> read_item(quire_container& container, quire_transaction* transaction, KeyArgument given_key,
                       IdArgument given_id, const auto& use) {
  QUIRE_ASSIGN(const auto key, PartitionKeyArgument::read(given_key.components, given_key.count));
  QUIRE_ASSIGN(const std::string_view id, text_argument(given_id.bytes, given_id.length, "the id"));
  Request request(*container.store);
  QUIRE_TRY(request.admit(key.components()));
  const auto read = [&](const Transaction& view) -> Result<void> {
    QUIRE_ASSIGN(const std::optional<Item> item, container.store->read(view, key.components(), id));
    request.charge(charge_of(item));
    if (!item) return not_found(container, key.components(), id);
    use(*item, request.charged());
    return {};
  };
  if (transaction != nullptr) {
    QUIRE_TRY(quire::engine::check_transaction(container, *transaction));
    return read(transaction->write->transaction().innermost());
  }
  const auto current = container.database.session().current();
  if (current.transaction != nullptr) return read(current.transaction->innermost());
  QUIRE_ASSIGN(const auto snapshot, container.database.environment().begin_read());
  return read(snapshot);
}

}  // namespace

Result<void> quire_snapshot::check_age() {
  const std::chrono::milliseconds most = database.session().reader_age();
  if (most.count() != 0 && std::chrono::steady_clock::now() - begun > most) [[unlikely]]
    transaction.reset();
  if (transaction) [[likely]]
    return {};
  return std::unexpected(quire::sql::snapshot_too_old("the handle", most));
}

Result<void> quire_snapshot::renew() {
  if (transaction) {
    QUIRE_TRY(transaction->renew());
  } else {
    QUIRE_ASSIGN(transaction, database.environment().begin_read());
  }
  read_from.clear();
  begun = std::chrono::steady_clock::now();
  return {};
}

void quire_snapshot::keep(const std::shared_ptr<ContainerStore>& store) {
  if (!read_from.empty() && read_from.back() == store) [[likely]]
    return;
  const auto found = std::ranges::find(read_from, store);
  if (found != read_from.end())
    std::iter_swap(found, read_from.end() - 1);
  else
    read_from.push_back(store);
}

extern "C" {

int quire_create(quire_container* container, quire_transaction* transaction, const char* json, size_t length,
                 quire_item_info* info, quire_error* error) {
  return write_item(&ContainerStore::create, container, transaction, json, length, {}, info, error);
}

int quire_upsert(quire_container* container, quire_transaction* transaction, const char* json, size_t length,
                 const char* if_match, quire_item_info* info, quire_error* error) {
  return write_item(&ContainerStore::upsert, container, transaction, json, length, matching(if_match), info,
                    error);
}

int quire_replace(quire_container* container, quire_transaction* transaction, const char* json, size_t length,
                  const char* if_match, quire_item_info* info, quire_error* error) {
  return write_item(&ContainerStore::replace, container, transaction, json, length, matching(if_match), info,
                    error);
}

int quire_write(quire_container* container, quire_transaction* transaction, quire_write_kind kind,
                const char* json, size_t length, const quire_write_options* options, quire_item_info* info,
                quire_error* error) {
  begin_write_request();
  constexpr Operation kOperations[] = {&ContainerStore::create, &ContainerStore::upsert,
                                       &ContainerStore::replace};
  const uint32_t number = quire::engine::number_of(kind);
  const auto given = quire::engine::options_argument(options);
  if (!given) return quire::engine::report(given.error(), error);
  if (number >= std::size(kOperations))
    return quire::engine::report(ErrorCode::misuse, "the kind of the write is none that there is", error);
  return write_item(kOperations[number], container, transaction, json, length, *given, info, error);
}

int quire_delete_with(quire_container* container, quire_transaction* transaction,
                      const quire_scalar* partition_key, size_t components, const char* id, size_t id_length,
                      const quire_write_options* options, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    begin_write_request();
    if (container == nullptr) return null_argument("the container");
    QUIRE_ASSIGN(const quire_write_options given, quire::engine::options_argument(options));
    QUIRE_TRY(refuse_replaced_id(given));
    QUIRE_ASSIGN(const auto key, PartitionKeyArgument::read(partition_key, components));
    QUIRE_ASSIGN(const std::string_view item, text_argument(id, id_length, "the id"));
    Request request(*container->store);
    QUIRE_TRY(request.admit(key.components()));
    const TriggerRequest triggers = triggers_of(given);
    const auto work = [&](WriteTransaction& writing) {
      triggers.log->clear();
      return container->store->erase(writing, key.components(), item, etag_argument(given.if_match),
                                     triggers);
    };
    QUIRE_TRY(write(*container, transaction,
                    [&](WriteTransaction& writing) { return request.run(writing, work); }));
    request.finish();
    return {};
  });
}

int quire_patch_with(quire_container* container, quire_transaction* transaction,
                     const quire_scalar* partition_key, size_t components, const char* id, size_t id_length,
                     const char* patch, size_t length, const quire_write_options* options,
                     quire_item_info* info, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    begin_write_request();
    if (container == nullptr) return null_argument("the container");
    QUIRE_ASSIGN(const quire_write_options given, quire::engine::options_argument(options));
    QUIRE_TRY(refuse_replaced_id(given));
    QUIRE_ASSIGN(const auto key, PartitionKeyArgument::read(partition_key, components));
    QUIRE_ASSIGN(const std::string_view item, text_argument(id, id_length, "the id"));
    QUIRE_ASSIGN(const std::string_view json, text_argument(patch, length, "the patch"));
    const auto& store = container->store;
    quire::sql::Arena arena;
    QUIRE_ASSIGN(const Value body, quire::sql::JsonReader().to_value(json, arena));
    QUIRE_ASSIGN(const auto parts, quire::engine::read_patch_body(body));
    QUIRE_ASSIGN(const Patch operations, Patch::read(parts.operations, store->definition(), arena));
    WriteOptions write_options;
    write_options.if_match = etag_argument(given.if_match);
    write_options.triggers = triggers_of(given);
    quire_item_info written{};
    Request request(*store);
    QUIRE_TRY(request.admit(key.components()));
    const auto work = [&](WriteTransaction& writing) -> Result<void> {
      write_options.triggers.log->clear();
      QUIRE_ASSIGN(
          const ItemOutcome outcome,
          store->patch(writing, key.components(), item, operations,
                       quire::engine::condition_on(*container, writing, parts.condition), write_options));
      fill(written, outcome.etag, outcome.timestamp, outcome.created);
      return {};
    };
    QUIRE_TRY(write(*container, transaction,
                    [&](WriteTransaction& writing) { return request.run(writing, work); }));
    finish(request, written, info);
    return {};
  });
}

int quire_patch(quire_container* container, quire_transaction* transaction, const quire_scalar* partition_key,
                size_t components, const char* id, size_t id_length, const char* patch, size_t length,
                const char* if_match, quire_item_info* info, quire_error* error) {
  quire_write_options options = matching(if_match);
  options.struct_size = sizeof options;
  return quire_patch_with(container, transaction, partition_key, components, id, id_length, patch, length,
                          &options, info, error);
}

int quire_delete(quire_container* container, quire_transaction* transaction,
                 const quire_scalar* partition_key, size_t components, const char* id, size_t id_length,
                 const char* if_match, quire_error* error) {
  quire_write_options options = matching(if_match);
  options.struct_size = sizeof options;
  return quire_delete_with(container, transaction, partition_key, components, id, id_length, &options, error);
}

int quire_read(quire_container* container, quire_transaction* transaction, const quire_scalar* partition_key,
               size_t components, const char* id, size_t id_length, const char* if_none_match,
               quire_buffer* out, quire_item_info* info, quire_error* error) {
  bool is_known = false;
  const int code = guarded(error, [&]() -> Result<void> {
    begin_request();
    if (container == nullptr) return null_argument("the container");
    const auto use = [&](const Item& item, double charge) {
      is_known = container->store->has_etag(item, etag_argument(if_none_match));
      if (info != nullptr) {
        fill(*info, container->store->etag_of(item), item.header().timestamp, false);
        info->request_charge = charge;
      }
      if (out == nullptr || is_known) return;
      ScratchText scratch;
      container->store->write_item_json(item.root, scratch.text());
      quire::engine::assign(*out, scratch.text());
    };
    return read_item(*container, transaction, {partition_key, components}, {id, id_length}, use);
  });
  return code == QUIRE_OK && is_known ? static_cast<int>(QUIRE_NOT_MODIFIED) : code;
}

int quire_read_json(quire_container* container, const quire_scalar* partition_key, size_t components,
                    const char* id, size_t id_length, int with_system_properties, quire_buffer* out,
                    quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    begin_request();
    if (container == nullptr) return null_argument("the container");
    if (out == nullptr) return null_argument("the buffer");
    const auto use = [&](const Item& item, double) {
      ScratchText scratch;
      if (with_system_properties != 0)
        container->store->write_item_json(item.root, scratch.text());
      else
        quire::sql::write_json(item.root, scratch.text());
      quire::engine::assign(*out, scratch.text());
    };
    return read_item(*container, nullptr, {partition_key, components}, {id, id_length}, use);
  });
}

// ---- Snapshots

int quire_snapshot_begin(quire_database* database, quire_snapshot** snapshot, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (snapshot == nullptr) return null_argument("the place for the snapshot");
    *snapshot = nullptr;
    if (database == nullptr) return null_argument("the database");
    QUIRE_ASSIGN(auto transaction, database->environment().begin_read());
    *snapshot = std::make_unique<quire_snapshot>(*database, std::move(transaction)).release();
    return {};
  });
}

int quire_snapshot_renew(quire_snapshot* snapshot, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (snapshot == nullptr) return null_argument("the snapshot");
    return snapshot->renew();
  });
}

void quire_snapshot_end(quire_snapshot* snapshot) {
  const std::unique_ptr<quire_snapshot> owned(snapshot);
}

// The hot path of point reads: nothing is allocated after the first of a container, nothing locked, nothing
// copied.
int quire_snapshot_read(quire_snapshot* snapshot, quire_container* container,
                        const quire_scalar* partition_key, size_t components, const char* id,
                        size_t id_length, quire_value* value, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    begin_request();
    if (snapshot == nullptr) return null_argument("the snapshot");
    if (container == nullptr) return null_argument("the container");
    if (value == nullptr) return null_argument("the place for the value");
    if (&snapshot->database != &container->database)
      return fail(ErrorCode::misuse, "the snapshot and the container belong to different databases");
    QUIRE_ASSIGN(const auto key, PartitionKeyArgument::read(partition_key, components));
    QUIRE_ASSIGN(const std::string_view name, text_argument(id, id_length, "the id"));
    Request request(*container->store);
    QUIRE_TRY(request.admit(key.components()));
    QUIRE_TRY(snapshot->check_age());
    snapshot->keep(container->store);
    QUIRE_ASSIGN(const std::optional<Item> item,
                 container->store->read(*snapshot->transaction, key.components(), name));
    request.charge(charge_of(item));
    if (!item) return not_found(*container, key.components(), name);
    *value = quire::engine::to_c(item->root);
    return {};
  });
}

// ---- Transactions

int quire_transaction_begin(quire_database* database, quire_transaction** transaction, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (transaction == nullptr) return null_argument("the place for the transaction");
    *transaction = nullptr;
    if (database == nullptr) return null_argument("the database");
    QUIRE_TRY(database->session().check_outside_transaction("no other transaction can begin"));
    QUIRE_ASSIGN(auto write, database->session().begin_write());
    *transaction = std::make_unique<quire_transaction>(*database, std::move(write)).release();
    return {};
  });
}

int quire_transaction_commit(quire_transaction* transaction, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (transaction == nullptr) return null_argument("the transaction");
    if (transaction->owner != quire::engine::this_thread())
      return fail(ErrorCode::misuse, "a transaction belongs to the thread that began it");
    QUIRE_TRY(transaction->write->transaction().check_no_nested());
    const std::unique_ptr<quire_transaction> owned(transaction);
    return owned->write->commit();
  });
}

void quire_transaction_rollback(quire_transaction* transaction) {
  if (transaction == nullptr) return;
  // Nobody else could, once the thread has ended, and nobody could write any more.
  if (transaction->owner != quire::engine::this_thread() && !transaction->owners_life.expired()) return;
  if (!transaction->write->transaction().check_no_nested()) return;
  const std::unique_ptr<quire_transaction> owned(transaction);
}

}  // extern "C"
