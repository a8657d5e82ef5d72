#include "engine/script/native_procedures.h"

#include <fmt/format.h>

#include <utility>

#include "engine/script/script_arguments.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"

namespace quire::engine {

Result<PartitionAccess*> NativeCall::operation() {
  if (limits_.statement.is_over()) return std::unexpected(limits_.statement.error());
  if (operations_ >= limits_.operations)
    return fail(ErrorCode::limit_exceeded,
                fmt::format("the procedure has used up the {} operations that a script may have",
                            limits_.operations));
  ++operations_;
  return &access_;
}

Result<void> NativeCall::respond(std::string_view json) {
  if (json.size() > limits_.result_bytes)
    return fail(ErrorCode::limit_exceeded,
                fmt::format("the response has {} bytes; the most is {}", json.size(), limits_.result_bytes));
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_TRY(reader.to_value(json, arena));
  outcome_.body = json;
  return {};
}

void NativeCall::log(std::string_view line) {
  outcome_.log.add(line, limits_.log_bytes);
}

Result<void> NativeProcedures::add(std::string_view name, NativeProcedure procedure) {
  if (name.empty() || name.size() > kLongestScriptName ||
      name.find_first_of("/\\?#") != std::string_view::npos)
    return fail(ErrorCode::invalid_argument,
                fmt::format("the name of a procedure must be 1 to {} bytes long, without / \\ ? #",
                            kLongestScriptName));
  auto made = std::make_shared<const NativeProcedure>(std::move(procedure));
  const std::lock_guard lock(mutex_);
  procedures_.insert_or_assign(std::string(name), std::move(made));
  return {};
}

std::shared_ptr<const NativeProcedure> NativeProcedures::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = procedures_.find(name);
  return found != procedures_.end() ? found->second : nullptr;
}

namespace {

std::string title_of(const ProcedureCall& call) {
  return fmt::format("procedure '{}'", call.name);
}

Result<void> check_arguments(const ProcedureCall& call) {
  sql::JsonReader reader;
  sql::Arena arena;
  const auto list = reader.to_value(call.arguments, arena);
  if (!list) return unreadable_arguments(title_of(call), list.error());
  return list->is_array() ? Result<void>() : no_list_of_arguments(title_of(call));
}

}  // namespace

Result<void> run_native(const NativeProcedure& procedure, PartitionAccess& access, const ProcedureCall& call,
                        ProcedureOutcome& outcome) {
  if (call.arguments != "[]") QUIRE_TRY(check_arguments(call));
  if (call.limits.statement.most.count() != 0) access.set_deadline(call.limits.statement.end);
  NativeCall native(access, call.limits, outcome);
  auto done = procedure(native, call.arguments);
  if (!done) {
    done.error().message = fmt::format("{}: {}", title_of(call), done.error().message);
    return done;
  }
  if (outcome.body.empty()) outcome.body = "null";
  return {};
}

}  // namespace quire::engine
