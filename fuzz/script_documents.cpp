// Any text as JSON that a script is given, and as JavaScript whose value the engine takes: what passes
// between them without JSON text is what JSON.parse and JSON.stringify would have made of it, and a run that
// was ended leaves a sandbox that works.
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/script/sandbox.h"
#include "fuzz/require.h"
#include "sql/value/json.h"

namespace {

using namespace quire;
using engine::JsValue;
using engine::Sandbox;
using fuzz::require;

// A booted engine, and how it was then.
struct Engine {
  engine::Watchdog watchdog;
  std::unique_ptr<Sandbox> sandbox;
  engine::SandboxImage image;

  Engine() {
    auto booted = Sandbox::boot(watchdog);
    require(booted.has_value());
    sandbox = std::move(*booted);
    image = sandbox->image();
  }

  // False if `work` went past a limit.
  template <typename Work>
  bool run(const Work& work) {
    Sandbox::RunOptions options;
    options.limits.time_ms = 200;
    options.limits.memory_bytes = size_t{16} << 20;
    require(sandbox->restore(image, options.limits.memory_bytes).has_value());
    return sandbox
        ->run(options, "it",
              [&]() -> Result<void> {
                work();
                return {};
              })
        .has_value();
  }
};

// What is taken as data looks as JSON.stringify has it.
void require_same(Sandbox& sandbox, JsValue value) {
  sql::Arena arena;
  const auto taken = sandbox.documents().from_script(value, arena);
  if (!taken) return;
  std::string ours, theirs;
  sql::write_json(*taken, ours);
  // A text may be too long, or too long to be made, where what it stands for is not.
  constexpr size_t kLong = size_t{1} << 20;
  require(sandbox.json(value, theirs) ? ours == theirs : ours.size() > kLong);
}

void as_json(Engine& engine, std::string_view text) {
  sql::JsonReader reader;
  sql::Arena arena;
  const auto document = reader.to_value(text, arena);
  if (!document) return;
  engine.run([&] {
    const JsValue made = engine.sandbox->documents().to_script(*document);
    const JsValue parsed = engine.sandbox->parse_json(text);
    // Memory may run out, and the reader takes nesting and numbers that the engine does not.
    if (Sandbox::is_exception(made) || Sandbox::is_exception(parsed)) return;
    std::string ours, theirs;
    if (!engine.sandbox->json(made, ours) || !engine.sandbox->json(parsed, theirs)) return;
    require(ours == theirs);
    require_same(*engine.sandbox, made);
  });
}

void as_script(Engine& engine, std::string_view text) {
  engine.run([&] {
    const JsValue value = engine.sandbox->evaluate(text, "it");
    if (!Sandbox::is_exception(value)) require_same(*engine.sandbox, value);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Engine engine;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  as_json(engine, text);
  as_script(engine, text);
  std::string out;
  require(engine.run(
      [&] { require(engine.sandbox->json(engine.sandbox->evaluate("[1, {a: 'b'}]", "it"), out)); }));
  require(out == R"([1,{"a":"b"}])");
  return 0;
}
