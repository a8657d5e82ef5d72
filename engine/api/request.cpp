#include "engine/api/request.h"

#include "quire/quire.h"

namespace quire::engine {
namespace {

thread_local StatementCharge t_last_charge;
thread_local ScriptLog t_last_log;

}  // namespace

double last_request_charge() noexcept {
  return t_last_charge.units();
}

void set_last_request_charge(double charge) noexcept {
  set_last_request_charge(StatementCharge{.changes = charge});
}

void set_last_request_charge(const StatementCharge& charge) noexcept {
  t_last_charge = charge;
}

ScriptLog& last_request_log() noexcept {
  return t_last_log;
}

}  // namespace quire::engine

extern "C" double quire_request_charge(void) {
  return quire::engine::last_request_charge();
}

extern "C" const char* quire_request_log(size_t* length) {
  const std::string& log = quire::engine::last_request_log().text();
  if (length != nullptr) *length = log.size();
  return log.c_str();
}
