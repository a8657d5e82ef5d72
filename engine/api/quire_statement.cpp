// Statements.
#include <memory>
#include <new>
#include <utility>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "engine/api/request.h"
#include "quire/quire.h"
#include "sql/value/json.h"

using quire::ErrorCode;
using quire::fail;
using quire::Result;
using quire::engine::ContainerStore;
using quire::engine::guarded;
using quire::engine::null_argument;
using quire::engine::PreparedStatement;
using quire::engine::scalar_argument;
using quire::engine::text_argument;
using quire::sql::Value;

namespace {

Result<void> prepare(quire_database& database, std::shared_ptr<ContainerStore> scope, const char* sql,
                     size_t length, quire_statement** statement) {
  QUIRE_ASSIGN(const std::string_view text, text_argument(sql, length, "the SQL"));
  QUIRE_ASSIGN(auto prepared, PreparedStatement::prepare(database.containers(), text,
                                                         database.statement_options(std::move(scope))));
  *statement = std::make_unique<quire_statement>(database, std::move(prepared)).release();
  return {};
}

// A callback of its own step, or a thread that should not, comes back to it.
Result<void> check_resting(const quire_statement& statement) {
  if (!statement.is_stepping.load(std::memory_order_relaxed)) return {};
  return fail(ErrorCode::misuse,
              "the statement is within a step: neither a callback of it nor another thread may use it");
}

// The next row of those that lie ready, most often; false: it has to be stepped.
bool take_row_at_hand(quire_statement& statement) noexcept {
  if (statement.has_lost_row || statement.is_stepping.load(std::memory_order_relaxed)) return false;
  const Value* const row = statement.statement->next_at_hand();
  if (row == nullptr) return false;
  statement.row = *row;
  statement.stored_items = statement.statement->stored_items();
  statement.json.clear();
  quire::engine::set_last_request_charge(statement.statement->charge());
  return true;
}

// Nobody can be told here that memory ran out: the next step says it.
void make_row_whole(quire_statement& statement) noexcept {
  if (statement.stored_items == nullptr || statement.row.is_undefined()) return;
  try {
    statement.arena.reset();
    statement.row = quire::sql::whole_item(statement.row, *statement.stored_items, statement.arena);
  } catch (const std::bad_alloc&) {
    statement.row = Value::undefined();
    statement.has_lost_row = true;
  }
  statement.stored_items = nullptr;
}

// All of it or, where memory runs out, nothing.
Result<void> write_row(quire_statement& statement) {
  if (statement.stored_items == nullptr && !quire::sql::has_only_finite_numbers(statement.row))
    return fail(ErrorCode::not_json_result,
                "the row holds NaN or Infinity, which JSON has not (4001); TOSTRING(x) writes them, "
                "IS_FINITE_NUMBER(x) finds them");
  try {
    if (statement.stored_items != nullptr)
      statement.stored_items->write_item(statement.row, statement.json);
    else
      quire::sql::write_json(statement.row, statement.json);
  } catch (const std::bad_alloc&) {
    statement.json.clear();
    throw;
  }
  return {};
}

}  // namespace

extern "C" {

int quire_prepare(quire_database* database, const char* sql, size_t length, quire_statement** statement,
                  quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (statement == nullptr) return null_argument("the place for the statement");
    *statement = nullptr;
    if (database == nullptr) return null_argument("the database");
    return prepare(*database, nullptr, sql, length, statement);
  });
}

int quire_prepare_in(quire_container* container, const char* sql, size_t length, quire_statement** statement,
                     quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (statement == nullptr) return null_argument("the place for the statement");
    *statement = nullptr;
    if (container == nullptr) return null_argument("the container");
    return prepare(container->database, container->store, sql, length, statement);
  });
}

int quire_bind(quire_statement* statement, const char* name, quire_scalar value, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (statement == nullptr) return null_argument("the statement");
    if (name == nullptr) return null_argument("the parameter's name");
    QUIRE_TRY(check_resting(*statement));
    QUIRE_ASSIGN(const Value scalar, scalar_argument(value));
    return statement->statement->bind(name, scalar);
  });
}

int quire_bind_json(quire_statement* statement, const char* name, const char* json, size_t length,
                    quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (statement == nullptr) return null_argument("the statement");
    if (name == nullptr) return null_argument("the parameter's name");
    QUIRE_TRY(check_resting(*statement));
    QUIRE_ASSIGN(const std::string_view text, text_argument(json, length, "the parameter's JSON"));
    return statement->statement->bind_json(name, text);
  });
}

int quire_step(quire_statement* statement, quire_error* error) {
  if (statement != nullptr && take_row_at_hand(*statement)) [[likely]]
    return QUIRE_ROW;
  quire::engine::begin_request();
  bool has_row = false;
  Result<void> may_step{};
  if (statement != nullptr) may_step = check_resting(*statement);
  if (!may_step) return quire::engine::report(may_step.error(), error);
  if (statement != nullptr) statement->is_stepping.store(true, std::memory_order_relaxed);
  const int code = guarded(error, [&]() -> Result<void> {
    if (statement == nullptr) return null_argument("the statement");
    QUIRE_TRY(statement->handle.check_process());
    statement->row = Value::undefined();
    statement->stored_items = nullptr;
    statement->json.clear();
    if (statement->has_lost_row)
      return fail(ErrorCode::out_of_memory, "memory ran out when the value of the last row was asked for");
    QUIRE_ASSIGN(const std::optional<Value> row, statement->statement->step());
    quire::engine::set_last_request_charge(statement->statement->charge());
    has_row = row.has_value();
    if (row) statement->row = *row;
    statement->stored_items = statement->statement->stored_items();
    return {};
  });
  if (statement != nullptr) {
    statement->is_stepping.store(false, std::memory_order_relaxed);
    if (statement->is_released) quire_finalize(statement);
  }
  if (code != QUIRE_OK) return code;
  return has_row ? QUIRE_ROW : QUIRE_DONE;
}

quire_value quire_row_value(quire_statement* statement) {
  if (statement == nullptr) return quire::engine::to_c(Value::undefined());
  make_row_whole(*statement);
  return quire::engine::to_c(statement->row);
}

int quire_row_json(quire_statement* statement, const char** json, size_t* length, quire_error* error) {
  if (statement != nullptr && json != nullptr && length != nullptr && statement->row.is_defined()) {
    // Written ahead, it is there to be given.
    if (const std::string_view text = statement->statement->row_text(); !text.empty()) {
      *json = text.data();
      *length = text.size();
      return QUIRE_OK;
    }
  }
  return guarded(error, [&]() -> Result<void> {
    if (statement == nullptr) return null_argument("the statement");
    if (json == nullptr || length == nullptr) return null_argument("the place for the JSON");
    if (statement->row.is_undefined())
      return fail(ErrorCode::misuse, "the statement has no row: step it first");
    if (statement->json.empty()) QUIRE_TRY(write_row(*statement));
    *json = statement->json.data();
    *length = statement->json.size();
    return {};
  });
}

void quire_reset(quire_statement* statement) {
  if (statement == nullptr || statement->is_stepping.load(std::memory_order_relaxed)) return;
  if (!statement->handle.check_process()) return;
  statement->row = Value::undefined();
  statement->stored_items = nullptr;
  statement->has_lost_row = false;
  statement->json.clear();
  statement->statement->reset();
}

void quire_omit_system_properties(quire_statement* statement) {
  if (statement != nullptr) statement->statement->omit_system_properties();
}

void quire_leave_unrecorded(quire_statement* statement) {
  if (statement != nullptr) statement->statement->leave_unrecorded();
}

void quire_finalize(quire_statement* statement) {
  if (statement != nullptr && statement->is_stepping.load(std::memory_order_relaxed)) {
    statement->is_released = true;
    return;
  }
  // Its end waits for threads that share the work, which a child of fork() has not.
  if (statement != nullptr && !statement->handle.check_process()) return;
  const std::unique_ptr<quire_statement> owned(statement);
}

const char* quire_parameter_name(quire_statement* statement, size_t index) {
  if (statement == nullptr) return nullptr;
  const auto& names = statement->statement->parameter_names();
  return index < names.size() ? names[index].c_str() : nullptr;
}

void quire_stats(quire_statement* statement, quire_statement_stats* stats) {
  if (stats == nullptr) return;
  *stats = {};
  if (statement == nullptr) return;
  const auto counted = statement->statement->stats();
  *stats = {.items_read = counted.items_read,
            .rows_returned = counted.rows_returned,
            .items_changed = counted.items_changed,
            .request_charge = statement->statement->charge().units()};
}

}  // extern "C"
