#include "engine/script/script_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/catalog/script_seals.h"
#include "engine/script/partition_access.h"
#include "engine/script/script_call.h"
#include "engine/script/script_store.h"
#include "engine/script/trigger_lookup.h"
#include "engine/script/user_function.h"
#include "sql/value/document.h"

namespace quire::engine {
namespace {

class JavaScript final : public Scripts {
 public:
  JavaScript(OpenContainers& containers, const NativeProcedures& natives, bool trusts_all)
      : containers_(containers),
        natives_(natives),
        trusts_all_(trusts_all),
        catalog_(containers.environment()),
        seals_(containers.environment()),
        triggers_(containers.environment()) {}

  Result<void> check(const ScriptDefinition& script, const ScriptLimits& limits) override {
    QUIRE_TRY(store_.script(script, limits));
    return {};
  }

  Result<void> execute(const ProcedureCall& call, WriteTransaction& transaction, uint64_t openings,
                       ProcedureOutcome& outcome) override {
    const ContainerStore& container = *call.store;
    QUIRE_ASSIGN(const auto script,
                 catalog_.find(transaction, container.number(), sql::ScriptKind::procedure, call.name));
    PartitionAccess access(containers_, call.store, transaction, openings, call.partition_key,
                           {this, call.limits, call.interrupts}, outcome.log);
    if (!script) {
      if (const auto native = natives_.find(call.name)) return run_native(*native, access, call, outcome);
      return std::unexpected(catalog_.not_found(transaction, container.number(), sql::ScriptKind::procedure,
                                                call.name, container.definition().name));
    }
    QUIRE_TRY(allow(transaction, container, *script));
    return run(*script, {.kind = "procedure", .operation = {}, .request = call.arguments, .response = {}},
               access, call, outcome);
  }

  Result<std::unique_ptr<sql::UserFunction>> function(const Transaction& transaction,
                                                      const ContainerStore& store, std::string_view name,
                                                      const ScriptLimits& limits,
                                                      const std::atomic<uint64_t>* interrupts) override {
    QUIRE_ASSIGN(const auto script,
                 catalog_.find(transaction, store.number(), sql::ScriptKind::function, name));
    if (!script) return nullptr;
    QUIRE_TRY(allow(transaction, store, *script));
    QUIRE_ASSIGN(ScriptStore::Script ready, store_.script(*script, limits));
    QUIRE_ASSIGN(auto sandbox, store_.lend());
    return make_user_function(std::move(sandbox), std::move(ready.image), script_title(*script), limits,
                              interrupts);
  }

  void use_limits(std::function<ScriptLimits()> limits, const std::atomic<uint64_t>* interrupts) override {
    limits_ = std::move(limits);
    interrupts_ = interrupts;
  }
  void forget_triggers(WriteTransaction& transaction) override { triggers_.forget(transaction); }
  Result<bool> concern(const Transaction& transaction, const ContainerStore& store,
                       const TriggerRequest& request) override {
    return triggers_.concern(transaction, store, request);
  }
  Result<void> before(WriteTransaction& transaction, ContainerStore& store, const TriggeredWrite& write,
                      const TriggerRequest& request, std::string& item) override;
  Result<void> after(WriteTransaction& transaction, ContainerStore& store, const TriggeredWrite& write,
                     const TriggerRequest& request, std::string_view item, std::string_view stored) override;

 private:
  // forbidden for a script that came with the file from elsewhere.
  Result<void> allow(const Transaction& transaction, const ContainerStore& store,
                     const ScriptDefinition& script) const {
    if (trusts_all_) return {};
    QUIRE_ASSIGN(const bool is_ours, seals_.has(transaction, store.number(), script));
    if (is_ours) return {};
    return fail(
        ErrorCode::forbidden,
        fmt::format("{} was not stored by this user on this machine, so it does not run unasked; where "
                    "you trust the scripts of this file, open it with trust_scripts (the shell: "
                    "--trust-scripts), or say so for good: PRAGMA trust_scripts = on",
                    script_title(script)));
  }

  Result<void> run(const ScriptDefinition& script, const ScriptSettings& settings, PartitionAccess& access,
                   const ProcedureCall& call, ProcedureOutcome& outcome) {
    QUIRE_TRY(run_script(script, settings, access, call, &LibraryFunctions::response_body, outcome.body,
                         outcome.log));
    if (outcome.body.empty()) outcome.body = "null";
    return {};
  }

  // `which`: the body that the script leaves.
  Result<void> run_script(const ScriptDefinition& script, const ScriptSettings& settings,
                          PartitionAccess& access, const ProcedureCall& call,
                          JsValue LibraryFunctions::* which, std::string& body, ScriptLog& log) {
    QUIRE_ASSIGN(const ScriptStore::Script ready, store_.script(script, call.limits));
    QUIRE_ASSIGN(const auto sandbox, store_.lend());
    QUIRE_TRY(sandbox->restore(*ready.image, call.limits.memory_bytes));
    ObjectForms forms = ready.is_watched ? ready.image->forms : ObjectForms();
    if (ready.is_watched) sandbox->documents().watch_forms(&forms);
    sandbox->use_pieces();
    const std::string title = script_title(script);
    ScriptCallHost host(*sandbox, &access, log);
    const Sandbox::RunOptions options{.limits = call.limits, .host = &host, .interrupts = call.interrupts};
    auto done = sandbox->run(options, title, [&]() -> Result<void> {
      QUIRE_TRY(host.run(title, settings, call.arguments));
      QUIRE_TRY(host.take_body(title, which, body));
      return check_body(title, body);
    });
    if (host.failure()) {
      Error error = *host.failure();
      error.message = title + ": " + error.message;
      return std::unexpected(std::move(error));
    }
    if (done && ready.is_watched) store_.learn(ready, forms, *sandbox, call.limits);
    return done;
  }

  static Result<void> check_body(std::string_view title, std::string_view body);

  // One trigger, in the partition of the item that is written; the body that it leaves.
  Result<std::string> run_trigger(const ScriptDefinition& script, const ScriptSettings& settings,
                                  WriteTransaction& transaction, ContainerStore& store,
                                  const TriggerRequest& request);

  OpenContainers& containers_;
  const NativeProcedures& natives_;
  const bool trusts_all_;
  ScriptCatalog catalog_;
  ScriptSeals seals_;
  TriggerLookup triggers_;
  std::function<ScriptLimits()> limits_;
  const std::atomic<uint64_t>* interrupts_ = nullptr;
  ScriptStore store_;
};

// JSON.stringify writes half of a surrogate pair as an escape, and nests as deeply as it is given, which is
// JSON and yet no document of ours. What has too few brackets for that need not be read.
Result<void> JavaScript::check_body(std::string_view title, std::string_view body) {
  const auto opens = [](char c) { return c == '[' || c == '{'; };
  if (body.find("\\ud") == std::string_view::npos &&
      static_cast<size_t>(std::ranges::count_if(body, opens)) <= sql::kMostNesting)
    return {};
  sql::Arena arena;
  const auto read = sql::JsonReader().to_value(body, arena);
  if (read) return {};
  return fail(read.error().code, fmt::format("{} leaves {}", title, read.error().message));
}

// ---- Triggers

constexpr std::string_view kOperationTypes[] = {"Create", "Upsert", "Replace",
                                                "Delete"};  // as WriteKind counts

std::string_view operation_type(const TriggeredWrite& write) {
  return kOperationTypes[static_cast<size_t>(write.kind)];
}

Result<std::string> JavaScript::run_trigger(const ScriptDefinition& script, const ScriptSettings& settings,
                                            WriteTransaction& transaction, ContainerStore& store,
                                            const TriggerRequest& request) {
  QUIRE_TRY(allow(transaction, store, script));
  ScriptLog unasked;
  ScriptLog* const log = request.log != nullptr ? request.log : &unasked;
  std::string body;
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const sql::Value item, reader.to_value(settings.request, arena));
  const PartitionKey key = store.partition_key_of(item);
  QUIRE_TRY(check_partition_key(key, store.definition().partition_key_paths));
  ScriptLimits limits = limits_();
  limits.statement = request.time_limit;
  const ProcedureCall call{.store = store.shared_from_this(),
                           .name = script.name,
                           .partition_key = key,
                           .arguments = "[]",
                           .limits = limits,
                           .interrupts = interrupts_};
  // The container's tables are known to the transaction, which is writing to them.
  PartitionAccess access(containers_, call.store, transaction, UINT64_MAX, key,
                         {this, call.limits, interrupts_}, *log, false);
  auto done = run_script(script, settings, access, call, &LibraryFunctions::request_body, body, *log);
  if (!done) {
    // Who writes looks at a statement or an item; the message tells the line of the script.
    done.error().position = {};
    return std::unexpected(std::move(done.error()));
  }
  if (settings.kind != "pre" || settings.operation == "Delete") return body;
  QUIRE_ASSIGN(const sql::Value left, reader.to_value(body, arena));
  auto is_right = left.is_object() ? access.check_partition(left)
                                   : fail(ErrorCode::invalid_argument, "an item must be a JSON object");
  if (is_right) return body;
  is_right.error().message = fmt::format("{}: {}", script_title(script), is_right.error().message);
  return std::unexpected(std::move(is_right.error()));
}

Result<void> JavaScript::before(WriteTransaction& transaction, ContainerStore& store,
                                const TriggeredWrite& write, const TriggerRequest& request,
                                std::string& item) {
  QUIRE_ASSIGN(const auto scripts, triggers_.find(transaction, store, request, write, sql::TriggerTime::pre));
  for (const ScriptDefinition& script : scripts) {
    QUIRE_ASSIGN(
        item,
        run_trigger(script,
                    {.kind = "pre", .operation = operation_type(write), .request = item, .response = {}},
                    transaction, store, request));
  }
  return {};
}

Result<void> JavaScript::after(WriteTransaction& transaction, ContainerStore& store,
                               const TriggeredWrite& write, const TriggerRequest& request,
                               std::string_view item, std::string_view stored) {
  QUIRE_ASSIGN(const auto scripts,
               triggers_.find(transaction, store, request, write, sql::TriggerTime::post));
  for (const ScriptDefinition& script : scripts) {
    QUIRE_TRY(run_trigger(
        script, {.kind = "post", .operation = operation_type(write), .request = item, .response = stored},
        transaction, store, request));
  }
  return {};
}

}  // namespace

std::unique_ptr<Scripts> make_scripts(OpenContainers& containers, const NativeProcedures& natives,
                                      bool trusts_all) {
  return std::make_unique<JavaScript>(containers, natives, trusts_all);
}

}  // namespace quire::engine
