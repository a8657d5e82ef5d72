// Server-side code of a build without JavaScript (QUIRE_SCRIPTS=OFF): native procedures alone.
#include "engine/script/script_engine.h"

namespace quire::engine {
namespace {

std::unexpected<Error> no_javascript() {
  return fail(ErrorCode::not_executable,
              "this Quire was built without JavaScript (QUIRE_SCRIPTS=OFF); it runs native procedures alone");
}

class NativeScripts final : public Scripts {
 public:
  NativeScripts(OpenContainers& containers, const NativeProcedures& natives)
      : containers_(containers), natives_(natives) {}

  Result<void> check(const ScriptDefinition&, const ScriptLimits&) override { return no_javascript(); }

  Result<void> execute(const ProcedureCall& call, WriteTransaction& transaction, uint64_t openings,
                       ProcedureOutcome& outcome) override {
    const auto native = natives_.find(call.name);
    if (native == nullptr) return no_javascript();
    PartitionAccess access(containers_, call.store, transaction, openings, call.partition_key,
                           {this, call.limits, call.interrupts});
    return run_native(*native, access, call, outcome);
  }

  Result<std::unique_ptr<sql::UserFunction>> function(const Transaction&, const ContainerStore&,
                                                      std::string_view, const ScriptLimits&,
                                                      const std::atomic<uint64_t>*) override {
    return nullptr;
  }

 private:
  OpenContainers& containers_;
  const NativeProcedures& natives_;
};

}  // namespace

std::unique_ptr<Scripts> make_scripts(OpenContainers& containers, const NativeProcedures& natives) {
  return std::make_unique<NativeScripts>(containers, natives);
}

}  // namespace quire::engine
