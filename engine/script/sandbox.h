// One JavaScript engine in its own memory: a WebAssembly instance whose code was compiled ahead of time.
// Whatever happens within, by a script's will or a fault of the engine, stays within that memory; a host
// function is the only way out.
//
// An engine is booted once and its memory kept as an Image. Every run of a script begins with the image of
// that script in the place of the instance's memory, so a run sees nothing of those before it, however they
// ended.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/script_limits.h"
#include "engine/script/document_converter.h"
#include "engine/script/js_value.h"
#include "engine/script/watchdog.h"
#include "sql/error.h"
#include "sql/value/json.h"

namespace quire::engine {

// What scripts can call, behind the library (library.js).
class ScriptHost {
 public:
  virtual ~ScriptHost() = default;
  // `arguments` are borrowed; the result is owned by the caller. kJsException with an exception pending.
  virtual JsValue call(uint32_t function, std::span<const JsValue> arguments) = 0;
};

// How many arguments a function may be called with.
inline constexpr size_t kMostScriptArguments = 1024;

// Why a run was ended from outside.
enum class Breach : uint8_t { none, time, memory, stack, interrupted, operations, aborted, fault };

// What library.js gives for the host to call; held as long as the memory is the library's.
struct LibraryFunctions {
  JsValue start, step, request_body, response_body, unfit_kind;
};

// The memory of an instance at a moment between two runs. Immutable.
struct SandboxImage {
  uint64_t number = 0;         // of no other in this process; from 1 on
  std::vector<uint8_t> bytes;  // from kImageStart on
  uint32_t stack_pointer = 0;
  // Addresses in it.
  uint32_t runtime = 0;
  uint32_t context = 0;
  uint32_t arguments = 0;
  LibraryFunctions library;
  DocumentConverter::Prototypes prototypes;
  std::shared_ptr<const PropertyNames> names;          // of properties, which its engine holds
  std::shared_ptr<const ObjectShapes::Shapes> shapes;  // likewise
  JsValue function;                                    // of a script: the function to call
  ObjectForms forms;                                   // that the script is known to use
  bool knows_pieces = false;                           // Sandbox::knows_pieces() of its engine
  bool knows_strings = false;                          // the same of strings
};

// Belongs to one thread at a time.
class Sandbox {
 public:
  // An instance that has booted and run library.js. internal, out_of_memory.
  static Result<std::unique_ptr<Sandbox>> boot(Watchdog& watchdog);
  // An instance without an engine; restore() gives it one.
  static Result<std::unique_ptr<Sandbox>> make(Watchdog& watchdog);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // The state now. Only after a run that ended well, or boot().
  SandboxImage image(JsValue function = kJsUndefined) const;

  // Puts an image in the place of all that the instance holds. `memory_bytes`: how far it may grow from
  // there.
  Result<void> restore(const SandboxImage& image, size_t memory_bytes);

  struct RunOptions {
    ScriptLimits limits;
    ScriptHost* host = nullptr;
    const std::atomic<uint64_t>* interrupts = nullptr;  // the run ends with interrupted when this changes
  };
  // Runs `body`, which calls the functions below, under the limits. What it fails with, or the error of the
  // limit that was breached, even where the script went on after it. After an error only restore() makes
  // sense. `name` is how messages call the script.
  Result<void> run(const RunOptions& options, std::string_view name,
                   const std::function<Result<void>()>& body);

  // The exception that is pending, as an error: its message, the script's name, line and stack.
  Error take_exception(std::string_view name) { return take_exception(name, ErrorCode::script_failed); }
  // The same of a text that the engine was to read: syntax where it is no JavaScript, or no JSON.
  Error take_fault_of_text(std::string_view name) { return take_exception(name, ErrorCode::syntax); }

  // ---- Values. Those that give a JsValue give kJsException where the engine threw.
  JsValue new_string(std::string_view text);
  JsValue new_number(double number);
  static JsValue new_integer(int32_t number) noexcept {
    return js_word(JsTag::kInteger, static_cast<uint32_t>(number));
  }
  static JsValue new_boolean(bool truth) noexcept { return js_word(JsTag::kBoolean, truth ? 1 : 0); }
  JsValue new_array(std::span<const JsValue> owned);
  JsValue parse_json(std::string_view json);
  JsValue property(JsValue object, const char* name);
  JsValue element(JsValue array, uint32_t index);
  bool set_property(JsValue object, const char* name, JsValue owned);
  JsValue call(JsValue function, JsValue self, std::span<const JsValue> arguments);
  JsValue evaluate(std::string_view source, std::string_view file);
  void free(JsValue value);
  // The same for one that may be no counted reference.
  void free_counted(JsValue value) {
    if (value.tag() < 0 && !is_float(value)) free(value);
  }
  JsValue copy(JsValue value);
  bool is_function(JsValue value);
  static bool is_exception(JsValue value) noexcept { return value.tag() == JsTag::kException; }
  static bool is_undefined(JsValue value) noexcept { return value.tag() == JsTag::kUndefined; }
  static bool is_float(JsValue value) noexcept {
    return static_cast<uint32_t>(value.tag() - JsTag::kFirst) >=
           static_cast<uint32_t>(JsTag::kFloat - JsTag::kFirst);
  }
  static bool is_string(JsValue value) noexcept {
    return value.tag() == JsTag::kString || value.tag() == JsTag::kRope;
  }
  double number(JsValue value);
  // Its text, as String(value) gives it, appended; false where the engine threw, or the text is longer than
  // the limit of results (then an exception is pending as well).
  bool text(JsValue value, std::string& out);
  // The same for people to read, as UTF-8: U+FFFD stands for what is half of a surrogate pair.
  bool readable_text(JsValue value, std::string& out);
  // JSON.stringify(value), likewise; nothing for undefined.
  bool json(JsValue value, std::string& out);
  // Values of ours, and the engine's that are no more than data.
  DocumentConverter& documents() noexcept { return documents_; }
  // For JSON of ours, from run to run.
  sql::JsonReader& reader() noexcept { return reader_; }
  // Throws `owned`.
  JsValue throw_value(JsValue owned, bool is_catchable = true);
  // Throws an Error with a message, and `number` and `body` if `number` is not 0.
  JsValue throw_error(std::string_view message, int number = 0, bool is_catchable = true);
  // All that waits for its turn in the queue of promises; false with an exception pending.
  bool run_jobs();

  enum class PromiseState : uint8_t { none, pending, fulfilled, rejected };
  PromiseState promise_state(JsValue value);
  JsValue promise_result(JsValue promise);

  // Of a run that begins: the small pieces of memory that it takes go with it as a whole. None of them may
  // come into an image. Where the engine is not built so, nothing.
  void use_pieces(bool are_used = true);
  // Whether the engine's own pieces are as expected (sandbox_pieces.cpp).
  bool knows_pieces() const noexcept { return knows_pieces_; }
  // Whether its strings are (sandbox_strings.cpp).
  bool knows_strings() const noexcept { return knows_strings_; }

  // All the memory that the instance has now.
  size_t memory_bytes() const noexcept;
  const LibraryFunctions& library() const noexcept { return library_; }
  JsValue function() const noexcept { return function_; }
  const ScriptLimits& limits() const noexcept { return limits_; }

  // Ends the run: the next look of the engine at its interrupts throws what no script catches.
  void breach(Breach breach) noexcept {
    if (breach_ == Breach::none) breach_ = breach;
  }
  Breach breach() const noexcept { return breach_; }
  // Whether most of the time is used up, so that scripts should come to an end.
  bool is_time_short() const noexcept;
  std::chrono::steady_clock::time_point deadline() const noexcept { return deadline_; }
  // Of this run; the clock of scripts stands still during it.
  uint64_t now_nanoseconds() const noexcept { return now_nanoseconds_; }
  double random() noexcept;

 private:
  Error take_exception(std::string_view name, ErrorCode of_syntax_error);
  friend struct SandboxImports;
  friend class DocumentConverter;
  struct Instance;
  class Bytes;
  class Scratch;

  explicit Sandbox(Watchdog& watchdog);
  Result<void> instantiate();
  Result<void> check_tags();
  void check_pieces();
  JsValue make_string(std::string_view text);
  void check_strings();
  Result<void> check_documents();
  Result<bool> check_shapes();
  Result<void> run_library();
  Result<void> set_stack_limit();
  Error breach_error(std::string_view name) const;
  Error time_error(std::string_view name) const;
  static Breach breach_of_trap(int reason) noexcept;
  std::string property_text(JsValue object, const char* property);
  const uint8_t* at(uint32_t address, uint64_t size);
  void write(uint32_t address, const void* bytes, uint64_t size);
  uint32_t load_word(uint32_t address);
  bool take_text(JsValue owned, std::string& out);
  // How the calls of the engine's imports answer.
  uint32_t add_host_function();
  JsValue call_host(uint32_t count, uint32_t arguments);
  void note_rejection(JsValue promise, JsValue reason, bool is_handled);
  bool wants_interrupt() noexcept;

  std::unique_ptr<Instance> instance_;
  Watchdog& watchdog_;
  // The number of the image that lies in the memory, but for what was written since; 0: none.
  uint64_t restored_ = 0;
  uint32_t runtime_ = 0;
  uint32_t context_ = 0;
  uint32_t arguments_ = 0;      // a place for the arguments of a call
  uint32_t host_function_ = 0;  // by which the engine calls the host: the same in each instance
  bool knows_pieces_ = false, knows_strings_ = false;
  LibraryFunctions library_;
  JsValue function_ = kJsUndefined;
  DocumentConverter documents_{*this};
  sql::JsonReader reader_;

  // Of a run.
  ScriptLimits limits_;
  ScriptHost* host_ = nullptr;
  const std::atomic<uint64_t>* interrupts_ = nullptr;
  uint64_t interrupts_at_start_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point deadline_;
  uint64_t now_nanoseconds_ = 0;
  uint64_t random_state_ = 0;
  Breach breach_ = Breach::none;
  struct Rejection {
    JsValue promise;  // to be compared alone
    JsValue reason;   // owned
  };
  std::vector<Rejection> rejections_;  // of promises that nobody handles so far
};

}  // namespace quire::engine
