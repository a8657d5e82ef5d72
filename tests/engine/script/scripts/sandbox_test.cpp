#include "engine/script/sandbox.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace quire::engine {
namespace {

class SandboxTest : public testing::Test {
 protected:
  SandboxTest() {
    auto booted = Sandbox::boot(watchdog_);
    EXPECT_TRUE(booted) << booted.error().message;
    sandbox_ = std::move(*booted);
    image_ = sandbox_->image();
    options_.limits.time_ms = 5000;
    options_.limits.memory_bytes = size_t{8} << 20;
  }

  // String(source) evaluated from the image, or the error.
  static std::string evaluate(Sandbox& sandbox, const SandboxImage& image, const Sandbox::RunOptions& options,
                              std::string_view source) {
    std::string out;
    const auto restored = sandbox.restore(image, options.limits.memory_bytes);
    EXPECT_TRUE(restored);
    sandbox.use_pieces();
    const auto done = sandbox.run(options, "it", [&]() -> Result<void> {
      const JsValue value = sandbox.evaluate(source, "file");
      if (Sandbox::is_exception(value)) return std::unexpected(sandbox.take_fault_of_text("it"));
      if (!sandbox.run_jobs() || !sandbox.text(value, out))
        return std::unexpected(sandbox.take_exception("it"));
      return {};
    });
    return done ? out : std::string(error_code_row(done.error().code).name) + ": " + done.error().message;
  }
  std::string evaluate(std::string_view source) { return evaluate(*sandbox_, image_, options_, source); }

  Watchdog watchdog_;
  std::unique_ptr<Sandbox> sandbox_;
  SandboxImage image_;
  Sandbox::RunOptions options_;
};

TEST_F(SandboxTest, EveryRunBeginsWithItsImage) {
  EXPECT_EQ(evaluate("globalThis.left = 1; Object.prototype.x = 2; 'done'"), "done");
  EXPECT_EQ(evaluate("typeof left + typeof ({}).x"), "undefinedundefined");
}

// Only what was written to is put back, wherever the writes came from and however the run ended.
TEST_F(SandboxTest, AnImageComesBackToTheByte) {
  options_.limits.time_ms = 100;
  constexpr std::string_view kRuns[] = {
      "1",
      "globalThis.left = 'x'.repeat(5000) + 'é'; Object.prototype.x = left.split('')",
      "new Uint8Array(300000).fill(7).copyWithin(100, 5000).join('').length",
      "new Float64Array(new ArrayBuffer(65536)).fill(0.5).subarray(3).reverse().set([1, 2])",
      "var v = new DataView(new ArrayBuffer(70000)); for (let i = 0; i < 69992; i += 4089) v.setBigUint64(i, "
      "-1n)",
      "JSON.stringify([...Array(3000).keys()].map(i => ({i, s: 'n' + i})).sort((a, b) => b.i - "
      "a.i)).replace(/n/g, 'm')",
      "(function f(n) { return n === 0 ? [] : [f(n - 1), new Date(n), /a+(b)/.exec('aab')] })(200) + "
      "Date.now()",
      "(function f() { return f() + 1 })()",
      "throw new Error('on purpose')",
      "var a = []; for (;;) a.push('x'.repeat(1000) + a.length)",
      "for (;;) ;",
      "syntax error"};
  for (const std::string_view source : kRuns) {
    (void)evaluate(source);
    ASSERT_TRUE(sandbox_->restore(image_, options_.limits.memory_bytes));
    const SandboxImage now = sandbox_->image();
    ASSERT_TRUE(now.bytes == image_.bytes && now.stack_pointer == image_.stack_pointer) << source;
  }
}

// Pieces that are taken one behind the other, until there is no room for more, are those of the engine's
// lists to all that is done with them.
TEST_F(SandboxTest, ItsPiecesOfMemoryHoldWhatTheEnginesHold) {
  ASSERT_TRUE(sandbox_->knows_pieces());
  constexpr std::string_view kRuns[] = {
      "var a = []; for (let i = 0; i < 3000; i++) { a.push({i, s: 'n' + i}); if (i % 3 == 0) a.shift() } "
      "JSON.stringify(a)",
      "var o = {}; for (let i = 0; i < 300; i++) o['k' + i] = [i]; for (let i = 0; i < 300; i += 2) delete "
      "o['k' + i]; "
      "JSON.stringify(o)",
      "var s = ''; for (let i = 0; i < 2000; i++) s += String.fromCharCode(97 + i % 26) + (i % 50 ? '' : "
      "'\u00e9'); s",
      "var m = new Map, t = new Set; for (let i = 0; i < 500; i++) { m.set('k' + i, {i}); t.add(i % 7) } "
      "m.delete('k3'); [...m.values()].reduce((x, y) => x + y.i, 0) + [...t].join()",
      "var a = {}; for (let i = 0; i < 2000; i++) { const b = {a}; b.self = b; a = i % 10 ? b : {} } typeof "
      "a.self",
      "function f(n) { return n < 2 ? [n] : f(n - 1).concat(f(n - 2)) } f(15).length + f(9).join('')",
      "[5, 3, 9, 1].sort((a, b) => a - "
      "b).map(String).concat('a,b;c'.split(/[,;]/)).join('|').replace(/\\d/g, "
      "d => d * 2)",
      "var b = []; for (let i = 1; i < 600; i += 7) b.push('x'.repeat(i), new Uint8Array(i).fill(i % 251)); "
      "b.map(v => v.length + ':' + v[v.length - 1]).join()",
      "Promise.resolve([1, 2]).then(l => l.map(x => ({x}))); (() => { try { null.x } catch (e) { return "
      "e.message } })()",
      "var big = 1n; for (let i = 0; i < 200; i++) big *= 7n; String(big)",
  };
  for (const std::string_view source : kRuns) {
    const std::string with_pieces = evaluate(source);
    std::string without;
    ASSERT_TRUE(sandbox_->restore(image_, options_.limits.memory_bytes));
    const auto done = sandbox_->run(options_, "it", [&]() -> Result<void> {
      EXPECT_TRUE(sandbox_->text(sandbox_->evaluate(source, "file"), without));
      return {};
    });
    EXPECT_TRUE(done) << source;
    EXPECT_EQ(with_pieces, without) << source;
  }
}

// Short texts of ASCII are made in place.
TEST_F(SandboxTest, StringsThatGoInAreLikeTheEnginesOwn) {
  ASSERT_TRUE(sandbox_->knows_strings());
  ASSERT_TRUE(sandbox_->restore(image_, options_.limits.memory_bytes));
  const auto done = sandbox_->run(options_, "it", [&]() -> Result<void> {
    const JsValue check = sandbox_->evaluate(
        "((s, t, n) => { t = t.repeat(n); const o = {}; o[s] = n; return s === t && o[t] === n && "
        "s.length === t.length && [...s].join('') === t && s + 'y' === t + 'y' && s < t + 'y' && "
        "new Map([[s, n]]).get(t) === n && JSON.stringify(s) === JSON.stringify(t) })",
        "file");
    for (const char* letter : {"x", "\"", "\x7F", "\u00E9", "\u20AC"})
      for (const int count : {0, 1, 2, 7, 8, 9, 100, 1023, 1024, 1025, 5000}) {
        std::string text;
        for (int i = 0; i < count; ++i) text += letter;
        const JsValue given[] = {sandbox_->new_string(text), sandbox_->new_string(letter),
                                 Sandbox::new_integer(count)};
        EXPECT_EQ(sandbox_->call(check, kJsUndefined, given).bits, Sandbox::new_boolean(true).bits)
            << count << " times " << letter;
        for (const JsValue value : given) sandbox_->free_counted(value);
      }
    return {};
  });
  EXPECT_TRUE(done);
}

// What is handed in lies in places that the engine itself does not write to.
TEST_F(SandboxTest, AnImageComesBackFromWhatIsHandedIn) {
  const std::string text(20000, 'x');
  const std::vector<JsValue> numbers(kMostScriptArguments, Sandbox::new_integer(7));
  const std::function<void()> kRuns[] = {
      [&] { (void)sandbox_->evaluate("'" + text + "'", "file"); },
      [&] { (void)sandbox_->parse_json("[\"" + text + "\"]"); },
      [&] { (void)sandbox_->new_string(text); },
      [&] { (void)sandbox_->new_array(numbers); },
      [&] { (void)sandbox_->call(sandbox_->evaluate("(() => 1)", "file"), kJsUndefined, numbers); },
  };
  for (const auto& one : kRuns) {
    ASSERT_TRUE(sandbox_->restore(image_, options_.limits.memory_bytes));
    const auto done = sandbox_->run(options_, "it", [&]() -> Result<void> {
      one();
      return {};
    });
    ASSERT_TRUE(done);
    ASSERT_FALSE(sandbox_->image().bytes == image_.bytes);
    ASSERT_TRUE(sandbox_->restore(image_, options_.limits.memory_bytes));
    EXPECT_TRUE(sandbox_->image().bytes == image_.bytes) << "run " << &one - kRuns;
  }
}

TEST_F(SandboxTest, AnotherImageTakesAllItsPlace) {
  EXPECT_EQ(evaluate("globalThis.kept = 'x'.repeat(200000); 'done'"), "done");
  const SandboxImage larger = sandbox_->image();
  ASSERT_GT(larger.bytes.size(), image_.bytes.size());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(evaluate(*sandbox_, larger, options_, "kept.length + (globalThis.more = [kept])[0]").size(),
              200006U);
    EXPECT_EQ(evaluate("typeof kept + typeof more"), "undefinedundefined");
    ASSERT_TRUE(sandbox_->restore(larger, options_.limits.memory_bytes));
    EXPECT_TRUE(sandbox_->image().bytes == larger.bytes);
    ASSERT_TRUE(sandbox_->restore(image_, options_.limits.memory_bytes));
    EXPECT_TRUE(sandbox_->image().bytes == image_.bytes);
  }
}

TEST_F(SandboxTest, MemoryIsBoundedToTheByte) {
  EXPECT_TRUE(evaluate("var a = []; for (;;) a.push('x'.repeat(1000) + a.length)")
                  .starts_with("limit_exceeded: it needed more than the 8388608 bytes"));
  EXPECT_LE(sandbox_->memory_bytes(), options_.limits.memory_bytes);
  EXPECT_GT(sandbox_->memory_bytes(), options_.limits.memory_bytes / 2);
  EXPECT_EQ(evaluate("1 + 1"), "2");
}

TEST_F(SandboxTest, WhatBeginsOutsideItsMemoryEndsARun) {
  const auto text_at = [&](uint64_t address) {
    EXPECT_TRUE(sandbox_->restore(image_, options_.limits.memory_bytes));
    return sandbox_->run(options_, "it", [&]() -> Result<void> {
      JsValue value = sandbox_->new_string("a string");
      value.bits = (value.bits & ~uint64_t{UINT32_MAX}) | address;
      std::string out;
      sandbox_->text(value, out);
      return {};
    });
  };
  const uint64_t end = sandbox_->memory_bytes();
  for (const uint64_t address :
       {end, end + 4096, end + (1 << 16), end + (1 << 28), uint64_t{UINT32_MAX} - 7}) {
    EXPECT_FALSE(text_at(address)) << address;
    EXPECT_EQ(evaluate("1 + 1"), "2");
  }
}

TEST_F(SandboxTest, TheWatchdogStopsWhatLooksAtNoInterrupt) {
  options_.limits.time_ms = 100;
  options_.limits.memory_bytes = size_t{128} << 20;
  EXPECT_TRUE(evaluate("'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')")
                  .starts_with("timeout: it took longer than the 100 ms"));
  EXPECT_EQ(evaluate("1 + 1"), "2");
}

TEST_F(SandboxTest, ErrorsTellLineAndStack) {
  EXPECT_TRUE(evaluate("function f() {\n  null.x;\n}\nf();")
                  .starts_with("script_failed: it, line 2: TypeError: cannot read property 'x' of null\n    "
                               "at f (file:2:3)\n    at <eval> (file:4:"));
  EXPECT_TRUE(evaluate("var x = ;").starts_with("syntax: it, line 1: SyntaxError"));
  EXPECT_TRUE(evaluate("throw { get number() { throw 1 }, toJSON() { throw 2 } }")
                  .starts_with("script_failed: it: something that has no text"));
}

TEST_F(SandboxTest, ThreadsRunInstancesOfTheirOwn) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto made = Sandbox::make(watchdog_);
      ASSERT_TRUE(made);
      Sandbox::RunOptions options = options_;
      options.limits.time_ms = 100;
      for (int run = 0; run < 5; ++run) {
        if (evaluate(**made, image_, options_, "[1, 2, 3].map((x) => x * 2).join()") == "2,4,6") ++right;
        if (evaluate(**made, image_, options, "for (;;) {}").starts_with("timeout")) ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace quire::engine
