// Scripts: stored, listed, run.
#include <optional>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "engine/api/item_call.h"
#include "engine/api/request.h"
#include "engine/catalog/script_catalog.h"
#include "engine/query/script_statement.h"
#include "quire/quire.h"

using quire::ErrorCode;
using quire::fail;
using quire::Result;
using quire::engine::guarded;
using quire::engine::null_argument;
using quire::engine::number_of;
using quire::engine::PartitionKeyArgument;
using quire::engine::ProcedureOutcome;
using quire::engine::ScriptCatalog;
using quire::engine::ScriptDefinition;
using quire::engine::text_argument;

namespace {

// What a C caller put into an enum, as the enum of ours that counts alike.
template <typename Ours, typename Theirs>
Result<Ours> enum_argument(const Theirs& given, Ours last, std::string_view what) {
  const uint32_t number = number_of(given);
  if (number > static_cast<uint32_t>(last))
    return fail(ErrorCode::misuse, std::string(what) + " is none that there is");
  return static_cast<Ours>(number);
}

Result<ScriptDefinition> definition_of(const quire_script& script) {
  ScriptDefinition definition;
  QUIRE_ASSIGN(definition.kind,
               enum_argument(script.kind, quire::sql::ScriptKind::trigger, "the kind of the script"));
  QUIRE_ASSIGN(definition.time,
               enum_argument(script.time, quire::sql::TriggerTime::post, "the time of the trigger"));
  QUIRE_ASSIGN(definition.operation, enum_argument(script.operation, quire::sql::TriggerOperation::remove,
                                                   "the operation of the trigger"));
  QUIRE_ASSIGN(definition.name, text_argument(script.name, script.name_length, "the name of the script"));
  QUIRE_ASSIGN(definition.body, text_argument(script.body, script.body_length, "the text of the script"));
  definition.is_always = script.always != 0;
  return definition;
}

}  // namespace

extern "C" {

int quire_script_create(quire_container* container, const quire_script* script, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (container == nullptr) return null_argument("the container");
    if (script == nullptr) return null_argument("the script");
    QUIRE_ASSIGN(const quire_script given, quire::engine::options_argument(script));
    QUIRE_ASSIGN(const ScriptDefinition definition, definition_of(given));
    return create_script(container->database.containers(), container->database.session(), *container->store,
                         definition, given.replace != 0);
  });
}

int quire_script_drop(quire_container* container, quire_script_kind kind, const char* name,
                      size_t name_length, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (container == nullptr) return null_argument("the container");
    QUIRE_ASSIGN(const auto which,
                 enum_argument(kind, quire::sql::ScriptKind::trigger, "the kind of the script"));
    QUIRE_ASSIGN(const std::string_view text, text_argument(name, name_length, "the name of the script"));
    return drop_script(container->database.containers(), container->database.session(), *container->store,
                       which, text);
  });
}

int quire_scripts(quire_container* container, quire_buffer* out, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (container == nullptr) return null_argument("the container");
    if (out == nullptr) return null_argument("the buffer");
    quire_database& database = container->database;
    QUIRE_ASSIGN(const auto snapshot, database.environment().begin_read());
    QUIRE_TRY(container->store->statistics(snapshot));  // container_not_found
    QUIRE_ASSIGN(const auto scripts,
                 ScriptCatalog(database.environment()).list(snapshot, container->store->number()));
    std::string json = "[";
    for (const ScriptDefinition& script : scripts) {
      if (json.size() > 1) json += ',';
      json += script.to_json();
    }
    quire::engine::assign(*out, json + ']');
    return {};
  });
}

int quire_execute(quire_container* container, quire_transaction* transaction, const char* name,
                  size_t name_length, const quire_scalar* partition_key, size_t components,
                  const char* arguments, size_t arguments_length, quire_buffer* body, quire_buffer* log,
                  quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    quire::engine::begin_request();
    if (container == nullptr) return null_argument("the container");
    // A native procedure may release the container's handle.
    quire_database& database = container->database;
    const quire::engine::OpenHandle executing(database);
    QUIRE_ASSIGN(const std::string_view procedure,
                 text_argument(name, name_length, "the name of the procedure"));
    QUIRE_ASSIGN(const auto key, PartitionKeyArgument::read(partition_key, components));
    std::string_view given = "[]";
    if (arguments != nullptr) {
      QUIRE_ASSIGN(given, text_argument(arguments, arguments_length, "the arguments"));
    }
    quire::engine::WriteTransaction* within = nullptr;
    if (transaction != nullptr) {
      QUIRE_TRY(quire::engine::check_transaction(*container, *transaction));
      within = &transaction->write->transaction();
    }
    ProcedureOutcome outcome;
    auto done = execute_procedure(database.containers(), database.session(),
                                  {.store = container->store,
                                   .name = procedure,
                                   .partition_key = key.components(),
                                   .arguments = given,
                                   .limits = database.session().script_limits(),
                                   .interrupts = &database.interrupts()},
                                  within, outcome);
    if (log != nullptr) quire::engine::assign(*log, outcome.log.text());
    // Also where it has failed: what a native procedure asked for by the way is no charge of this call.
    quire::engine::set_last_request_charge(done ? outcome.charge : 0);
    if (done && body != nullptr) quire::engine::assign(*body, outcome.body);
    return done;
  });
}

const char* quire_log(quire_statement* statement, size_t* length) {
  if (statement == nullptr) return nullptr;
  const std::string& log = statement->statement->log().text();
  if (length != nullptr) *length = log.size();
  return log.c_str();
}

}  // extern "C"
