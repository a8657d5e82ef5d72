#include "engine/script/wasm_runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace quire::engine {
namespace {

class WasmMemoryTest : public testing::Test {
 protected:
  WasmMemoryTest() { quire_wasm_allocate_memory(&memory_, kPages); }
  ~WasmMemoryTest() override { wasm_rt_free_memory(&memory_); }

  // As the generated code does: marked where it begins.
  void store(uint64_t address, uint64_t value, size_t size) {
    QUIRE_MARK_STORE(memory_.data, address);
    std::memcpy(memory_.data + address, &value, size);
  }
  std::vector<uint8_t> bytes_now() const {
    return {memory_.data + kStart, memory_.data + kPages * kWasmPageBytes};
  }

  static constexpr uint32_t kPages = 20;
  static constexpr uint64_t kStart = 16 * kWasmPageBytes;
  wasm_rt_memory_t memory_{};
};

TEST_F(WasmMemoryTest, WhatWasWrittenToIsPutBackWhereverItLies) {
  std::mt19937_64 random(1);
  for (uint64_t at = kStart; at < kPages * kWasmPageBytes; at += 8) store(at, random(), 8);
  const std::vector<uint8_t> base = bytes_now();
  restore_memory(memory_, kStart, base, false);
  for (const size_t stores : {0u, 1u, 3u, 50u, 2'000u, 20'000u})
    for (int round = 0; round < 10; ++round) {
      uint64_t at = 0;
      for (size_t i = 0; i < stores; ++i) {
        // Here and there, and one behind the other; also those that reach into it from before, and to its
        // end.
        const uint64_t first = kStart - 7, behind = kPages * kWasmPageBytes - 8;
        at = i % 3 == 0 ? first + random() % (behind - first + 1) : std::min(at + random() % 300, behind);
        store(std::max(at, first), random(), 1 + random() % 8);
      }
      restore_memory(memory_, kStart, base, true);
      ASSERT_EQ(bytes_now(), base) << stores;
    }
}

// Whatever a limit says: what lies behind belongs to others.
TEST_F(WasmMemoryTest, ItGrowsNoFurtherThanItsAddressSpace) {
  memory_.max_pages = kReservedPages + 4;
  set_refused_growths(0);
  EXPECT_EQ(quire_wasm_grow_memory(&memory_, kReservedPages - kPages + 1), UINT32_MAX);
  EXPECT_EQ(refused_growths(), 1);
  EXPECT_EQ(quire_wasm_grow_memory(&memory_, kReservedPages - kPages), kPages);
  EXPECT_EQ(quire_wasm_grow_memory(&memory_, 1), UINT32_MAX);
  memory_.data[kReservedPages * kWasmPageBytes - 1] = 1;
  set_refused_growths(0);
}

}  // namespace
}  // namespace quire::engine
