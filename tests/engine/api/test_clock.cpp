#include "tests/engine/api/test_clock.h"

#include <atomic>

#include "engine/api/handles.h"

namespace quire::tests {
namespace {

std::atomic<uint32_t> time_of_test = 0;

}  // namespace

void set_time(quire_database* database, uint32_t seconds) {
  time_of_test = seconds;
  database->environment().use_clock([]() noexcept { return time_of_test.load(); });
}

}  // namespace quire::tests
