// One call of a procedure in a sandbox: the host functions behind the script's library, the callbacks in
// turn, the response.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/query/scripts.h"
#include "engine/script/host_function.h"
#include "engine/script/partition_access.h"
#include "engine/script/sandbox.h"
#include "sql/error.h"
#include "sql/value/arena.h"

namespace quire::engine {

// What library.js gets to know of a call.
struct ScriptSettings {
  std::string_view kind;       // "procedure", "pre", "post"
  std::string_view operation;  // "Create", ...; empty for a procedure
  std::string_view request;    // JSON
  std::string_view response;   // JSON, or empty
};

// Belongs to one call. Must be made within a run of the sandbox's.
class ScriptCallHost final : public ScriptHost {
 public:
  // `access` may be null: then there are no items to work on, as for a script that is merely loaded.
  ScriptCallHost(Sandbox& sandbox, PartitionAccess* access, ScriptLog& log)
      : sandbox_(sandbox), access_(access), log_(log) {}

  JsValue call(uint32_t function, std::span<const JsValue> arguments) override;

  // Calls the script's function with the elements of a JSON array, then its callbacks in turn until none is
  // left.
  Result<void> run(std::string_view name, const ScriptSettings& settings, std::string_view arguments);
  // What the script left as the body of its request or response: JSON; empty if it set none.
  Result<void> take_body(std::string_view name, JsValue LibraryFunctions::* which, std::string& out);

  // What ended the run from here: a failure of storage, or the script's abort(). It comes before what the
  // engine made of it.
  const std::optional<Error>& failure() const noexcept { return failure_; }

 private:
  JsValue accept();
  JsValue access_items(uint32_t function, std::span<const JsValue> arguments);
  Result<JsValue> work_on_items(HostFunction function, std::span<const JsValue> arguments);
  Result<JsValue> write_if_accepted(HostFunction function, std::span<const JsValue> arguments);
  Result<JsValue> write(HostFunction function, std::span<const JsValue> arguments);
  Result<JsValue> change(HostFunction function, std::span<const JsValue> arguments);
  Result<JsValue> read(std::span<const JsValue> arguments);
  Result<JsValue> feed(std::span<const JsValue> arguments);
  JsValue log(std::span<const JsValue> arguments);
  JsValue refuse(const Error& error);
  bool take_text(std::span<const JsValue> arguments, size_t at, std::string& text);
  std::optional<sql::Value> take_document(JsValue value);
  Result<sql::Value> read_json(std::string_view json);
  JsValue give(const Item& item);
  Result<JsValue> take_arguments(std::string_view name, std::string_view json);
  Result<void> start(std::string_view name, const ScriptSettings& settings);
  Result<void> drain(std::string_view name);

  Sandbox& sandbox_;
  PartitionAccess* access_;
  ScriptLog& log_;
  uint32_t operations_ = 0;
  uint32_t refusals_ = 0;
  sql::Arena arena_;  // what a call of the script's makes of its arguments, and of what it gives
  std::optional<Error> failure_;
};

}  // namespace quire::engine
