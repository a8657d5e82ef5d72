#include "engine/api/request.h"

#include "quire/quire.h"

namespace quire::engine {
namespace {

thread_local double t_last_charge = 0;

}  // namespace

double last_request_charge() noexcept {
  return t_last_charge;
}

void set_last_request_charge(double charge) noexcept {
  t_last_charge = charge;
}

}  // namespace quire::engine

extern "C" double quire_request_charge(void) {
  return quire::engine::last_request_charge();
}
