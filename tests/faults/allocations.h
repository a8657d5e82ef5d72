// The heap of a program that is linked with allocations.cpp: its own, its libraries' and LMDB's. Of the
// requests some can be made to fail.
#pragma once

#include <cstdint>

namespace quire::tests {

// From now on requests are counted, by any thread; the `first`, counted from 1, and those after it up to the
// `last` fail.
void fail_allocations(uint64_t first, uint64_t last) noexcept;
// Ends that; how many there were.
uint64_t stop_failing_allocations() noexcept;

}  // namespace quire::tests
