#include "engine/script/script_engine.h"

#include <fmt/format.h>

#include "engine/script/partition_access.h"
#include "engine/script/script_call.h"
#include "engine/script/script_store.h"
#include "engine/script/user_function.h"

namespace quire::engine {
namespace {

class JavaScript final : public Scripts {
 public:
  JavaScript(OpenContainers& containers, const NativeProcedures& natives)
      : containers_(containers), natives_(natives), catalog_(containers.environment()) {}

  Result<void> check(const ScriptDefinition& script, const ScriptLimits& limits) override {
    QUIRE_TRY(store_.image(script, limits));
    return {};
  }

  Result<void> execute(const ProcedureCall& call, WriteTransaction& transaction, uint64_t openings,
                       ProcedureOutcome& outcome) override {
    const ContainerStore& container = *call.store;
    QUIRE_ASSIGN(const auto script,
                 catalog_.find(transaction, container.number(), sql::ScriptKind::procedure, call.name));
    PartitionAccess access(containers_, call.store, transaction, openings, call.partition_key,
                           {this, call.limits, call.interrupts});
    if (!script) {
      if (const auto native = natives_.find(call.name)) return run_native(*native, access, call, outcome);
      return std::unexpected(catalog_.not_found(transaction, container.number(), sql::ScriptKind::procedure,
                                                call.name, container.definition().name));
    }
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
    QUIRE_ASSIGN(const auto image, store_.image(*script, limits));
    QUIRE_ASSIGN(auto sandbox, store_.lend());
    QUIRE_TRY(sandbox->restore(*image, limits.memory_bytes));
    return make_user_function(std::move(sandbox), script_title(*script), limits, interrupts);
  }

 private:
  Result<void> run(const ScriptDefinition& script, const ScriptSettings& settings, PartitionAccess& access,
                   const ProcedureCall& call, ProcedureOutcome& outcome) {
    QUIRE_ASSIGN(const auto image, store_.image(script, call.limits));
    QUIRE_ASSIGN(const auto sandbox, store_.lend());
    QUIRE_TRY(sandbox->restore(*image, call.limits.memory_bytes));
    const std::string title = script_title(script);
    ScriptCallHost host(*sandbox, &access, outcome.log);
    const Sandbox::RunOptions options{.limits = call.limits, .host = &host, .interrupts = call.interrupts};
    auto done = sandbox->run(options, title, [&]() -> Result<void> {
      QUIRE_TRY(host.run(title, settings, call.arguments));
      return host.take_body(title, "responseBody", outcome.body);
    });
    if (host.failure()) {
      Error error = *host.failure();
      error.message = title + ": " + error.message;
      return std::unexpected(std::move(error));
    }
    if (done && outcome.body.empty()) outcome.body = "null";
    return done;
  }

  OpenContainers& containers_;
  const NativeProcedures& natives_;
  ScriptCatalog catalog_;
  ScriptStore store_;
};

}  // namespace

std::unique_ptr<Scripts> make_scripts(OpenContainers& containers, const NativeProcedures& natives) {
  return std::make_unique<JavaScript>(containers, natives);
}

}  // namespace quire::engine
