// library.js, as the build put it here, and the way into it.
#include <fmt/format.h>

#include <cstring>

#include "engine/script/host_function.h"
#include "engine/script/sandbox_instance.h"
#include "generated/script/library_text.h"

namespace quire::engine {

Result<void> Sandbox::run_library() {
  Z_qjs_instance_t* const module = &instance_->module;
  const JsValue make =
      evaluate({reinterpret_cast<const char*>(kLibraryText), sizeof kLibraryText}, kLibraryFile);
  if (is_exception(make)) return std::unexpected(take_exception(kLibraryFile));
  std::string numbers = "{";
  for (size_t i = 0; i < std::size(kHostFunctionNames); ++i)
    numbers += fmt::format("{}\"{}\":{}", i == 0 ? "" : ",", kHostFunctionNames[i], i);
  // Every call passes the name on; numbers say which function is meant. Stacks show it, and leave it out with
  // the library's frames.
  const Bytes name(*this, kLibraryFile);
  const uint32_t box = Z_qjsZ_qjs_new_host_function(module, name.address(), name.size(), 0);
  JsValue host;
  std::memcpy(&host.bits, at(box, sizeof host.bits), sizeof host.bits);
  const JsValue given[] = {host, parse_json(numbers + "}")};
  library_ = call(make, kJsUndefined, given);
  if (is_exception(library_)) return std::unexpected(take_exception(kLibraryFile));
  for (const JsValue value : {given[1], make}) free(value);
  return {};
}

}  // namespace quire::engine
