#include "engine/query/script_statement.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "engine/catalog/script_seals.h"
#include "engine/container/request_charge.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

// Runs `work` in the thread's transaction, as one step of it, or in a transaction of its own.
Result<void> write(OpenContainers& containers, Session& session, const ContainerStore& store,
                   WriteTransaction* within,
                   const std::function<Result<void>(WriteTransaction&, uint64_t)>& work) {
  // A caller's transaction began when the container was open.
  if (within != nullptr)
    return within->nested([&](WriteTransaction& transaction) { return work(transaction, UINT64_MAX); });
  const Session::Current current = session.current();
  const uint64_t openings = current.transaction != nullptr ? current.openings : containers.openings();
  const auto run = [&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const auto opened, containers.find(transaction, store.definition().name));
    if (opened.store == nullptr || opened.store->number() != store.number())
      return std::unexpected(containers.catalog().not_found(transaction, store.definition().name));
    if (opened.opening > openings)
      return fail(ErrorCode::misuse, "the container was made after BEGIN: COMMIT or ROLLBACK first");
    return work(transaction, openings);
  };
  return current.transaction != nullptr ? current.transaction->nested(run) : session.write(run);
}

}  // namespace

Result<void> create_script(OpenContainers& containers, Session& session, ContainerStore& store,
                           const ScriptDefinition& script, bool replaces, const sql::TimeLimit& time_limit) {
  QUIRE_TRY(session.scripts().check(script, session.script_limits(time_limit)));
  const ScriptCatalog catalog(containers.environment());
  const ScriptSeals seals(containers.environment());
  return write(containers, session, store, nullptr,
               [&](WriteTransaction& transaction, uint64_t) -> Result<void> {
                 session.scripts().forget_triggers(transaction);
                 QUIRE_TRY(catalog.put(transaction, store.number(), script, replaces));
                 return seals.put(transaction, store.number(), script);
               });
}

Result<void> drop_script(OpenContainers& containers, Session& session, ContainerStore& store,
                         sql::ScriptKind kind, std::string_view name) {
  const ScriptCatalog catalog(containers.environment());
  const ScriptSeals seals(containers.environment());
  return write(containers, session, store, nullptr,
               [&](WriteTransaction& transaction, uint64_t) -> Result<void> {
                 session.scripts().forget_triggers(transaction);
                 QUIRE_ASSIGN(const bool was_there, catalog.erase(transaction, store.number(), kind, name));
                 if (was_there) return seals.erase(transaction, store.number(), kind, name);
                 return std::unexpected(
                     catalog.not_found(transaction, store.number(), kind, name, store.definition().name));
               });
}

namespace {

// The place in the statement of one in the script that begins at `body`.
Position place_in_statement(const Position& body, const Position& place) {
  if (place.line == 0) return {};
  return {.offset = 0,
          .line = body.line + place.line - 1,
          .column = place.line == 1 ? body.column + place.column - 1 : place.column};
}

}  // namespace

Result<void> change_scripts(OpenContainers& containers, Session& session, const sql::ScriptChange& change,
                            bool creates, const sql::TimeLimit& time_limit) {
  QUIRE_ASSIGN(const auto store, containers.open(change.container));
  if (creates) {
    auto created = create_script(containers, session, *store,
                                 {.kind = change.kind,
                                  .name = std::string(change.name),
                                  .body = std::string(change.body),
                                  .time = change.time,
                                  .operation = change.operation,
                                  .is_always = change.is_always},
                                 change.replaces, time_limit);
    if (!created)
      created.error().position = place_in_statement(change.body_position, created.error().position);
    return created;
  }
  auto dropped = drop_script(containers, session, *store, change.kind, change.name);
  if (!dropped && change.is_conditional && dropped.error().code == ErrorCode::not_found) return {};
  return dropped;
}

namespace {

using ScriptVisit = std::function<Result<void>(ContainerNumber container, const ScriptDefinition& script)>;

Result<void> for_all_scripts(OpenContainers& containers, const Transaction& transaction,
                             const ScriptVisit& visit) {
  const ScriptCatalog catalog(containers.environment());
  QUIRE_ASSIGN(const std::vector<CatalogEntry> entries, containers.catalog().list(transaction));
  for (const CatalogEntry& entry : entries) {
    QUIRE_ASSIGN(const std::vector<ScriptDefinition> scripts, catalog.list(transaction, entry.number));
    for (const ScriptDefinition& script : scripts) QUIRE_TRY(visit(entry.number, script));
  }
  return {};
}

}  // namespace

Result<bool> trust_scripts(OpenContainers& containers, Session& session, std::optional<bool> trusts) {
  QUIRE_TRY(session.check_outside_transaction("trust in scripts cannot be told or changed"));
  const ScriptSeals seals(containers.environment());
  if (trusts == true && !machine_identity().is_lasting)
    return fail(
        ErrorCode::invalid_argument,
        "this machine has no /etc/machine-id, and you no folder of your own to keep one in, by which a "
        "file could know it again; open the file with trust_scripts (the shell: --trust-scripts)");
  if (trusts)
    QUIRE_TRY(containers.environment().write([&](WriteTransaction& transaction) {
      return for_all_scripts(containers, transaction,
                             [&](ContainerNumber container, const ScriptDefinition& script) {
                               return *trusts ? seals.put(transaction, container, script)
                                              : seals.erase(transaction, container, script.kind, script.name);
                             });
    }));
  bool are_trusted = true;
  QUIRE_ASSIGN(const ReadTransaction snapshot, containers.environment().begin_read());
  QUIRE_TRY(for_all_scripts(containers, snapshot,
                            [&](ContainerNumber container, const ScriptDefinition& script) -> Result<void> {
                              QUIRE_ASSIGN(const bool is_ours, seals.has(snapshot, container, script));
                              are_trusted = are_trusted && is_ours;
                              return {};
                            }));
  return are_trusted;
}

Result<void> execute_procedure(OpenContainers& containers, Session& session, const ProcedureCall& call,
                               WriteTransaction* within, ProcedureOutcome& outcome) {
  const ContainerDefinition& definition = call.store->definition();
  if (call.partition_key.size() != definition.partition_key_paths.size())
    return fail(
        ErrorCode::invalid_partition_key,
        fmt::format("procedure '{}' runs in one partition: the partition key of container '{}' has {} "
                    "components, {} were given",
                    call.name, definition.name, definition.partition_key_paths.size(),
                    call.partition_key.size()));
  QUIRE_TRY(check_partition_key(call.partition_key, definition.partition_key_paths));
  Throughput& throughput = call.store->throughput();
  const std::string epk = throughput.is_limited() ? call.store->effective_key(call.partition_key) : "";
  QUIRE_TRY(throughput.admit(epk));
  QUIRE_TRY(write(containers, session, *call.store, within,
                  [&](WriteTransaction& transaction, uint64_t openings) -> Result<void> {
                    outcome = {};
                    const double before = transaction.charged();
                    QUIRE_TRY(session.scripts().execute(call, transaction, openings, outcome));
                    outcome.charge = procedure_charge() + transaction.charged() - before;
                    return {};
                  }));
  throughput.take(epk, outcome.charge);
  return {};
}

Result<void> execute_statement(OpenContainers& containers, Session& session, const sql::Execute& statement,
                               const sql::Value& given, const WorkOptions& work, ProcedureOutcome& outcome) {
  std::string arguments = "[";
  for (size_t i = 0; i < statement.arguments.size(); ++i) {
    const sql::Value argument = given.member("a" + std::to_string(i));
    if (!sql::has_only_finite_numbers(argument))
      return fail(ErrorCode::not_json_result,
                  fmt::format("argument {} of procedure '{}' is or holds NaN or Infinity, which JSON has not",
                              i + 1, statement.name));
    if (i != 0) arguments += ',';
    if (argument.is_undefined())
      arguments += "null";
    else
      sql::write_json(argument, arguments);
  }
  std::vector<sql::Value> key;
  for (size_t i = 0; i < statement.partition_key.size(); ++i)
    key.push_back(given.member("k" + std::to_string(i)));
  QUIRE_ASSIGN(auto store, containers.open(statement.container));
  const std::string all = arguments + ']';
  return execute_procedure(containers, session,
                           {.store = std::move(store),
                            .name = statement.name,
                            .partition_key = key,
                            .arguments = all,
                            .limits = session.script_limits(work.time_limit),
                            .interrupts = work.interrupts},
                           nullptr, outcome);
}

}  // namespace quire::engine
