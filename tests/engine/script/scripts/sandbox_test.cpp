#include "engine/script/sandbox.h"

#include <gtest/gtest.h>

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
    const auto done = sandbox.run(options, "it", [&]() -> Result<void> {
      const JsValue value = sandbox.evaluate(source, "file");
      if (Sandbox::is_exception(value) || !sandbox.run_jobs() || !sandbox.text(value, out))
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
