// library.js and collation.js, as the build put them here, and the way into the former.
#include <fmt/format.h>

#include <utility>

#include "engine/script/host_function.h"
#include "engine/script/sandbox_instance.h"
#include "generated/script/collation_text.h"
#include "generated/script/library_text.h"

namespace quire::engine {

Result<void> Sandbox::run_library() {
  w2c_qjs* const module = &instance_->module;
  const JsValue collation =
      evaluate({reinterpret_cast<const char*>(kCollationText), sizeof kCollationText}, kLibraryFile);
  if (is_exception(collation)) return std::unexpected(take_exception(kLibraryFile));
  const JsValue make =
      evaluate({reinterpret_cast<const char*>(kLibraryText), sizeof kLibraryText}, kLibraryFile);
  if (is_exception(make)) return std::unexpected(take_exception(kLibraryFile));
  std::string numbers = "{";
  for (size_t i = 0; i < std::size(kHostFunctionNames); ++i)
    numbers += fmt::format("{}\"{}\":{}", i == 0 ? "" : ",", kHostFunctionNames[i], i);
  // Numbers say which function is meant. Stacks show the name, and leave it out with the library's frames.
  const Bytes name(*this, kLibraryFile);
  constexpr uint32_t kGeneric = 0;  // JS_CFUNC_generic
  const JsValue host{
      w2c_qjs_JS_NewCFunction2(module, context_, host_function_, name.address(), 0, kGeneric, 0)};
  if (is_exception(host)) return std::unexpected(take_exception(kLibraryFile));
  const JsValue given[] = {host, parse_json(numbers + "}")};
  const JsValue library = call(make, kJsUndefined, given);
  if (is_exception(library)) return std::unexpected(take_exception(kLibraryFile));
  for (const auto& [name, function] :
       {std::pair{"start", &library_.start}, std::pair{"step", &library_.step},
        std::pair{"requestBody", &library_.request_body}, std::pair{"responseBody", &library_.response_body},
        std::pair{"unfitKind", &library_.unfit_kind}}) {
    *function = property(library, name);
    if (is_exception(*function)) return std::unexpected(take_exception(kLibraryFile));
  }
  for (const JsValue value : {given[1], make}) free(value);
  return {};
}

}  // namespace quire::engine
