// Server-side code of a build without JavaScript (QUIRE_SCRIPTS=OFF): native procedures alone.
#include "engine/script/script_engine.h"

#include "engine/script/trigger_lookup.h"

namespace quire::engine {
namespace {

std::unexpected<Error> no_javascript() {
  return fail(ErrorCode::not_executable,
              "this Quire was built without JavaScript (QUIRE_SCRIPTS=OFF); it runs native procedures alone");
}

class NativeScripts final : public Scripts {
 public:
  NativeScripts(OpenContainers& containers, const NativeProcedures& natives)
      : containers_(containers), natives_(natives), triggers_(containers.environment()) {}

  Result<void> check(const ScriptDefinition&, const ScriptLimits&) override { return no_javascript(); }

  Result<void> execute(const ProcedureCall& call, WriteTransaction& transaction, uint64_t openings,
                       ProcedureOutcome& outcome) override {
    const auto native = natives_.find(call.name);
    if (native == nullptr) return no_javascript();
    PartitionAccess access(containers_, call.store, transaction, openings, call.partition_key,
                           {this, call.limits, call.interrupts}, outcome.log);
    return run_native(*native, access, call, outcome);
  }

  void use_limits(std::function<ScriptLimits()>, const std::atomic<uint64_t>*) override {}
  void forget_triggers(WriteTransaction& transaction) override { triggers_.forget(transaction); }
  // A file may have triggers from a build with JavaScript: what they watch over is not written without them.
  Result<bool> concern(const Transaction& transaction, const ContainerStore& store,
                       const TriggerRequest& request) override {
    return triggers_.concern(transaction, store, request);
  }
  Result<void> before(WriteTransaction&, ContainerStore&, const TriggeredWrite&, const TriggerRequest&,
                      std::string&) override {
    return no_javascript();
  }
  Result<void> after(WriteTransaction&, ContainerStore&, const TriggeredWrite&, const TriggerRequest&,
                     std::string_view, std::string_view) override {
    return no_javascript();
  }

  Result<std::unique_ptr<sql::UserFunction>> function(const Transaction&, const ContainerStore&,
                                                      std::string_view, const ScriptLimits&,
                                                      const std::atomic<uint64_t>*) override {
    return nullptr;
  }

 private:
  OpenContainers& containers_;
  const NativeProcedures& natives_;
  TriggerLookup triggers_;
};

}  // namespace

std::unique_ptr<Scripts> make_scripts(OpenContainers& containers, const NativeProcedures& natives, bool) {
  return std::make_unique<NativeScripts>(containers, natives);
}

}  // namespace quire::engine
