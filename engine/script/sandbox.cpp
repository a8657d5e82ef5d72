#include "engine/script/sandbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <random>

#include "engine/script/engine_object.h"
#include "engine/script/host_function.h"
#include "engine/script/native_stack.h"
#include "engine/script/sandbox_instance.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

static_assert(kReservedPages * kWasmPageBytes >= kMostScriptMemory);

// Above the module's own stack, which starts here and grows down: static data, then the heap.
constexpr uint32_t kImageStart = 1 << 20;
// The engine's own limit of recursion, in bytes of the module's stack; then it throws a RangeError.
constexpr uint32_t kScriptStack = 256 << 10;
// How long after its deadline a script that does not look at interrupts goes on.
constexpr auto kGrace = std::chrono::milliseconds(50);
// From here on calls are not accepted.
constexpr double kShortTime = 0.8;

// Bits of qjs_init2: Date, eval, RegExp, JSON, Proxy, Map and Set, typed arrays, Promise, BigInt. Left out:
// WeakRef, performance, DOMException, atob.
constexpr uint32_t kIntrinsics = 0x1FF;

uint32_t pages_of(size_t bytes) noexcept {
  return static_cast<uint32_t>(bytes / kWasmPageBytes);
}

uint64_t random_seed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

Sandbox::Sandbox(Watchdog& watchdog) : instance_(std::make_unique<Instance>(*this)), watchdog_(watchdog) {}
Sandbox::~Sandbox() = default;

// ---- Making

Result<void> Sandbox::instantiate() {
  static std::once_flag module_is_ready;
  try {
    std::call_once(module_is_ready, [] { wasm2c_qjs_init_module(); });
    wasm2c_qjs_instantiate(&instance_->module, &instance_->environment, &instance_->system);
    instance_->is_made = true;
    host_function_ = add_host_function();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "memory for a script could not be reserved");
  } catch (const WasmTrap&) {
    return fail(ErrorCode::internal, "the script engine's module could not be set up");
  }
  return {};
}

Result<std::unique_ptr<Sandbox>> Sandbox::make(Watchdog& watchdog) {
  std::unique_ptr<Sandbox> sandbox(new Sandbox(watchdog));
  QUIRE_TRY(sandbox->instantiate());
  return sandbox;
}

Result<std::unique_ptr<Sandbox>> Sandbox::boot(Watchdog& watchdog) {
  QUIRE_ASSIGN(std::unique_ptr<Sandbox> sandbox, make(watchdog));
  w2c_qjs* const module = &sandbox->instance_->module;
  const wasm_rt_memory_t& memory = module->w2c_memory;
  if (module->w2c_0x5F_stack_pointer != kImageStart ||
      std::any_of(memory.data, memory.data + kImageStart, [](uint8_t byte) { return byte != 0; }))
    return fail(ErrorCode::internal, "the script engine's memory is laid out in another way than expected");
  auto booted = sandbox->run({}, "the script library", [&]() -> Result<void> {
    w2c_qjs_0x5Finitialize(module);
    if (w2c_qjs_qjs_init2(module, kIntrinsics) != 0)
      return fail(ErrorCode::internal, "the script engine could not be started");
    w2c_qjs_qjs_set_max_stack_size(module, kScriptStack);
    w2c_qjs_qjs_set_interrupt_handler(module, 1);
    w2c_qjs_qjs_set_promise_rejection_handler(module, 1);
    sandbox->context_ = w2c_qjs_qjs_get_context_ptr(module);
    sandbox->runtime_ = w2c_qjs_qjs_get_runtime_ptr(module);
    sandbox->arguments_ = w2c_qjs_wasm_malloc(module, kMostScriptArguments * sizeof(uint64_t));
    QUIRE_TRY(sandbox->check_tags());
    sandbox->documents_.find_prototypes();
    QUIRE_TRY(sandbox->check_documents());
    sandbox->check_pieces();
    sandbox->check_strings();
    return sandbox->run_library();
  });
  if (!booted) return std::unexpected(std::move(booted.error()));
  return sandbox;
}

// The values that the engine gives for what is known must look as js_word() makes them.
Result<void> Sandbox::check_tags() {
  w2c_qjs* const module = &instance_->module;
  const auto boxed = [&](uint32_t address) {
    JsValue value;
    std::memcpy(&value.bits, at(address, sizeof value.bits), sizeof value.bits);
    return value;
  };
  const JsValue text = new_string("x");
  const JsValue list = parse_json("[7]");
  const JsValue broken = parse_json("[");
  const JsValue half = new_number(0.5);
  const bool agree = boxed(w2c_qjs_qjs_get_undefined(module)).bits == kJsUndefined.bits &&
                     boxed(w2c_qjs_qjs_get_null(module)).bits == kJsNull.bits &&
                     boxed(w2c_qjs_qjs_get_true(module)).bits == new_boolean(true).bits &&
                     new_number(7).bits == new_integer(7).bits && text.tag() == JsTag::kString &&
                     list.tag() == JsTag::kObject && is_exception(broken) && is_float(half) &&
                     number(half) == 0.5 && !is_float(new_integer(-1)) && !is_float(kJsException);
  free(JsValue{w2c_qjs_JS_GetException(module, context_)});
  if (!agree)
    return fail(ErrorCode::internal, "the script engine's values look different from what was expected");
  return {};
}

// What the engine's structures are taken to look like (engine_object.h): a document must come out as it went
// in, and nothing that is more than data may be taken for it; nor may a look at it hold it any longer.
Result<void> Sandbox::check_documents() {
  constexpr std::string_view kJson = R"({"7":{"b":{"c":"\u00e9"}},"a":[1,-2.5,"x",null,true,{},[]],"d":""})";
  constexpr std::string_view kMoreThanData[] = {"({get a() { return 1 }})",
                                                "new Date(0)",
                                                "({a: [,1]})",
                                                "({a: 1n})",
                                                "new class {}",
                                                "({toJSON: 1})",
                                                "[new Map]",
                                                "(() => { const a = [1]; a.length = 2; return a })()",
                                                "Object.assign([1], {toJSON: 1})",
                                                "({__proto__: {}})"};
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const sql::Value document, reader.to_value(kJson, arena));
  const JsValue made = documents_.to_script(document);
  const auto holds = [&] { return EngineMemory(instance_->module).holds(static_cast<uint32_t>(made.bits)); };
  const JsValue held = copy(made);
  bool agree = holds() == 2;
  free(held);
  std::string text, again;
  agree &= json(made, text);
  if (const auto read = documents_.from_script(made, arena)) sql::write_json(*read, again);
  agree &= holds() == 1;
  free(made);
  agree &= text == again && text == R"({"7":{"b":{"c":"é"}},"a":[1,-2.5,"x",null,true,{},[]],"d":""})";
  for (const std::string_view source : kMoreThanData) {
    const JsValue value = evaluate(source, kLibraryFile);
    agree &= !is_exception(value) && !documents_.from_script(value, arena);
    free(value);
  }
  QUIRE_ASSIGN(const bool shapes_agree, check_shapes());
  if (agree && shapes_agree) return {};
  return fail(ErrorCode::internal, "the script engine's objects look different from what was expected");
}

// Objects of one shape must change by themselves (object_shapes.h).
Result<bool> Sandbox::check_shapes() {
  constexpr std::string_view kChange =
      "(l => { l[1].c = 4; delete l[1].a; l[2].b = 5; l[3].__proto__ = {}; return l })";
  std::string json = "[";
  for (int i = 0; i < 4; ++i) json += fmt::format(R"({}{{"a":{},"b":"x"}})", i == 0 ? "" : ",", i);
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const sql::Value list, reader.to_value(json + "]", arena));
  const JsValue change = evaluate(kChange, kLibraryFile);
  if (is_exception(change)) return false;
  const JsValue given = documents_.to_script(list);
  const JsValue changed = call(change, kJsUndefined, {&given, 1});
  std::string text;
  const bool is_text = !is_exception(changed) && this->json(changed, text);
  for (const JsValue value : {change, given, changed}) free(value);
  return is_text && text == R"([{"a":0,"b":"x"},{"b":"x","c":4},{"a":2,"b":5},{"a":3,"b":"x"}])";
}

SandboxImage Sandbox::image(JsValue function) const {
  const w2c_qjs& module = instance_->module;
  const wasm_rt_memory_t& memory = module.w2c_memory;
  static std::atomic<uint64_t> images = 0;
  return {.number = ++images,
          .bytes = {memory.data + kImageStart, memory.data + memory.size},
          .stack_pointer = module.w2c_0x5F_stack_pointer,
          .runtime = runtime_,
          .context = context_,
          .arguments = arguments_,
          .library = library_,
          .prototypes = documents_.prototypes(),
          .names = documents_.names(),
          .shapes = documents_.shapes(),
          .function = function,
          .forms = {},
          .knows_pieces = knows_pieces_,
          .knows_strings = knows_strings_};
}

size_t Sandbox::memory_bytes() const noexcept {
  return instance_->module.w2c_memory.size;
}

Result<void> Sandbox::restore(const SandboxImage& image, size_t memory_bytes) {
  wasm_rt_memory_t& memory = instance_->module.w2c_memory;
  const bool is_base = restored_ == image.number;
  restored_ = 0;
  const auto pages = static_cast<uint32_t>((kImageStart + image.bytes.size()) / kWasmPageBytes);
  memory.max_pages = kReservedPages;
  shrink_memory(memory, pages);
  const auto left = static_cast<uint32_t>(memory.pages);
  if (left < pages && quire_wasm_grow_memory(&memory, pages - left) == UINT32_MAX)
    return fail(ErrorCode::out_of_memory, "memory for a script could not be had");
  restore_memory(memory, kImageStart, image.bytes, is_base);
  restored_ = image.number;
  knows_pieces_ = image.knows_pieces;
  knows_strings_ = image.knows_strings;
  use_pieces(false);
  // What the image has learnt is at nobody's expense, as far as there is address space for it.
  const size_t learnt = image.forms.all().empty() ? 0 : ObjectForms::kMostMemory;
  const uint32_t asked = pages_of(std::clamp(memory_bytes, kLeastScriptMemory, kMostScriptMemory) + learnt);
  memory.max_pages = std::max(pages, std::min(asked, kReservedPages));
  instance_->module.w2c_0x5F_stack_pointer = image.stack_pointer;
  runtime_ = image.runtime;
  context_ = image.context;
  arguments_ = image.arguments;
  library_ = image.library;
  documents_.restore(image.prototypes, image.names, image.shapes);
  function_ = image.function;
  return {};
}

// ---- Running

bool Sandbox::is_time_short() const noexcept {
  return std::chrono::steady_clock::now() >
         start_ + std::chrono::duration_cast<Watchdog::Clock::duration>((deadline_ - start_) * kShortTime);
}

double Sandbox::random() noexcept {
  // xorshift64*, as the engine's own, which would give every run the same numbers.
  random_state_ ^= random_state_ >> 12;
  random_state_ ^= random_state_ << 25;
  random_state_ ^= random_state_ >> 27;
  return static_cast<double>((random_state_ * 0x2545F4914F6CDD1D) >> 11) * 0x1p-53;
}

bool Sandbox::wants_interrupt() noexcept {
  if (interrupts_ != nullptr && interrupts_->load(std::memory_order_relaxed) != interrupts_at_start_)
    breach(Breach::interrupted);
  if (refused_growths() != 0) breach(Breach::memory);
  if (std::chrono::steady_clock::now() > deadline_) breach(Breach::time);
  return breach_ != Breach::none;
}

Breach Sandbox::breach_of_trap(int reason) noexcept {
  if (refused_growths() != 0) return Breach::memory;
  return reason == WASM_RT_TRAP_EXHAUSTION || reason == WASM_RT_TRAP_OOB ? Breach::stack : Breach::fault;
}

Result<void> Sandbox::run(const RunOptions& options, std::string_view name,
                          const std::function<Result<void>()>& body) {
  limits_ = options.limits;
  host_ = options.host;
  interrupts_ = options.interrupts;
  interrupts_at_start_ = interrupts_ != nullptr ? interrupts_->load(std::memory_order_relaxed) : 0;
  start_ = std::chrono::steady_clock::now();
  deadline_ = limits_.end_of_run(start_);
  now_nanoseconds_ = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  if (random_state_ == 0) random_state_ = random_seed() | 1;
  breach_ = Breach::none;
  rejections_.clear();
  if (limits_.statement.is_over()) return std::unexpected(time_error(name));
  QUIRE_ASSIGN(instance_->environment.stack_limit, lowest_script_frame());
  QUIRE_TRY(watchdog_.start());
  // A function that the database calls for this script may run a script in its turn, on the same thread.
  const uint64_t outer_refused = refused_growths();
  set_refused_growths(0);
  Result<void> result;
  {
    const Watchdog::Watch watch(watchdog_, deadline_ + kGrace, instance_->environment.stack_limit);
    try {
      result = body();
    } catch (const WasmTrap& trap) {
      breach(watch.has_struck() ? Breach::time : breach_of_trap(trap.reason));
    } catch (const std::bad_alloc&) {
      result = fail(ErrorCode::out_of_memory, "memory ran out while a script ran");
    }
    if (refused_growths() != 0) breach(Breach::memory);
  }
  set_refused_growths(outer_refused);
  host_ = nullptr;
  if (breach_ != Breach::none) return std::unexpected(breach_error(name));
  return result;
}

Error Sandbox::time_error(std::string_view name) const {
  if (limits_.statement.is_over()) return limits_.statement.error_in(name);
  return {ErrorCode::timeout,
          fmt::format("{} took longer than the {} ms that a script may run; nothing of it was kept", name,
                      limits_.time_ms)};
}

Error Sandbox::breach_error(std::string_view name) const {
  switch (breach_) {
    case Breach::none:
      break;
    case Breach::time:
      return time_error(name);
    case Breach::memory:
      return {ErrorCode::limit_exceeded,
              fmt::format("{} needed more than the {} bytes of memory that a script may have", name,
                          limits_.memory_bytes)};
    case Breach::stack:
      return {ErrorCode::limit_exceeded,
              fmt::format("{} used up its stack: calls are nested too deeply", name)};
    case Breach::interrupted:
      return {ErrorCode::interrupted, fmt::format("{} was interrupted", name)};
    case Breach::operations:
      return {ErrorCode::limit_exceeded,
              fmt::format("{} went on calling the database after its {} operations were used up and calls "
                          "were no longer accepted",
                          name, limits_.operations)};
    case Breach::aborted:
      return {ErrorCode::script_failed, fmt::format("{} was aborted", name)};
    case Breach::fault:
      break;
  }
  return {ErrorCode::internal,
          fmt::format("{} ran into a fault of the script engine, which was stopped", name)};
}

}  // namespace quire::engine
