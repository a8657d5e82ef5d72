#include "engine/script/user_function.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "engine/script/host_function.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

class JavaScriptFunction final : public sql::UserFunction, private ScriptHost {
 public:
  JavaScriptFunction(ScriptStore::Loan sandbox, std::shared_ptr<const SandboxImage> image, std::string title,
                     const ScriptLimits& limits, const std::atomic<uint64_t>* interrupts)
      : sandbox_(std::move(sandbox)),
        image_(std::move(image)),
        title_(std::move(title)),
        options_{limits, this, interrupts} {}

  Result<void> call(size_t arity, std::span<const sql::Value> arguments, std::span<sql::Value> results,
                    sql::Arena& arena, const sql::TimeLimit& time_limit) override {
    // At the first call, and after one that failed: a statement that runs again comes here again.
    if (!is_ready_) QUIRE_TRY(sandbox_->restore(*image_, options_.limits.memory_bytes));
    is_ready_ = false;
    options_.limits.statement = time_limit;
    QUIRE_TRY(sandbox_->run(options_, title_, [&]() -> Result<void> {
      given_.resize(arity);
      for (size_t i = 0; i < results.size(); ++i)
        QUIRE_TRY(call_once(arguments.subspan(i * arity, arity), results[i], arena));
      return {};
    }));
    is_ready_ = true;
    return {};
  }

 private:
  // A function sees its arguments alone; it may print, which goes nowhere, and ask for a random number.
  JsValue call(uint32_t function, std::span<const JsValue> arguments) override;

  Result<void> call_once(std::span<const sql::Value> arguments, sql::Value& result, sql::Arena& arena) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      given_[i] = sandbox_->documents().to_script(arguments[i]);
      if (Sandbox::is_exception(given_[i])) return std::unexpected(sandbox_->take_exception(title_));
    }
    const JsValue value = sandbox_->call(sandbox_->function(), kJsUndefined, given_);
    for (const JsValue argument : given_) sandbox_->free_counted(argument);
    if (Sandbox::is_exception(value)) return std::unexpected(sandbox_->take_exception(title_));
    QUIRE_ASSIGN(result, from_script(value, arena));
    sandbox_->free_counted(value);
    return {};
  }

  Result<sql::Value> from_script(JsValue value, sql::Arena& arena) {
    if (Sandbox::is_float(value)) return sql::Value::number(sandbox_->number(value));
    if (const auto plain = sandbox_->documents().from_script(value, arena)) return *plain;
    if (sandbox_->promise_state(value) != Sandbox::PromiseState::none) return from_promise(value, arena);
    text_.clear();
    if (!sandbox_->json(value, text_)) return std::unexpected(sandbox_->take_exception(title_));
    if (text_.empty()) return sql::Value();
    auto read = reader_.to_value(text_, arena);
    if (!read) read.error().message = fmt::format("{} gives {}", title_, read.error().message);
    return read;
  }

  // Of an async function. What rejects the promise is an exception like any other.
  Result<sql::Value> from_promise(JsValue promise, sql::Arena& arena) {
    if (!sandbox_->run_jobs()) return std::unexpected(sandbox_->take_exception(title_));
    if (sandbox_->promise_state(promise) == Sandbox::PromiseState::pending)
      return fail(ErrorCode::script_failed,
                  fmt::format("{} waits for a promise that nothing will settle", title_));
    const JsValue result = sandbox_->promise_result(promise);
    const auto value = from_script(result, arena);
    sandbox_->free_counted(result);
    return value;
  }

  ScriptStore::Loan sandbox_;
  std::shared_ptr<const SandboxImage> image_;
  bool is_ready_ = false;
  std::string title_;
  Sandbox::RunOptions options_;
  std::vector<JsValue> given_;
  std::string text_;
  sql::JsonReader reader_;
};

JsValue JavaScriptFunction::call(uint32_t function, std::span<const JsValue>) {
  switch (static_cast<HostFunction>(function)) {
    case HostFunction::log:
      return kJsUndefined;
    case HostFunction::random:
      return sandbox_->new_number(sandbox_->random());
    default:
      return sandbox_->throw_error("a user-defined function has no collection to work on", 400);
  }
}

}  // namespace

std::unique_ptr<sql::UserFunction> make_user_function(ScriptStore::Loan sandbox,
                                                      std::shared_ptr<const SandboxImage> image,
                                                      std::string title, const ScriptLimits& limits,
                                                      const std::atomic<uint64_t>* interrupts) {
  return std::make_unique<JavaScriptFunction>(std::move(sandbox), std::move(image), std::move(title), limits,
                                              interrupts);
}

}  // namespace quire::engine
