// One call on a container, as its throughput sees it: admitted, done, charged. What it came to is kept for
// the thread, which quire_request_charge() asks.
#pragma once

#include <span>
#include <string>

#include "engine/container/container.h"
#include "engine/container/request_charge.h"
#include "sql/error.h"
#include "sql/value/value.h"

namespace quire::engine {

// Of this thread's last call.
double last_request_charge() noexcept;
void set_last_request_charge(double charge) noexcept;
void set_last_request_charge(const StatementCharge& charge) noexcept;
// What the triggers of this thread's last call that wrote items have logged.
ScriptLog& last_request_log() noexcept;

// At the head of each function that is a request, before it looks at its arguments: nothing is charged so
// far, and nothing of an earlier call is left where it fails early. The second: of one that writes items.
inline void begin_request() noexcept {
  set_last_request_charge(0);
}
inline void begin_write_request() noexcept {
  begin_request();
  last_request_log().clear();
}

class Request {
 public:
  explicit Request(ContainerStore& store) : store_(store) {}

  // The request is to this partition (or those under a prefix of a hierarchical key; empty: to all).
  // too_many_requests.
  Result<void> admit(std::span<const sql::Value> partition_key) {
    if (!store_.throughput().is_limited()) [[likely]]
      return {};
    epk_ = store_.effective_key(partition_key);
    return store_.throughput().admit(epk_);
  }

  // Runs the part of the request that writes. Where the partition is known only when it is done, `work` ends
  // with admit(): in a transaction of its own, so that a refusal undoes it.
  template <typename Work>
  Result<void> run(WriteTransaction& transaction, const Work& work) {
    const double before = transaction.charged();
    auto done = store_.throughput().is_limited() ? transaction.nested(work) : work(transaction);
    charge_ = transaction.charged() - before;
    return done;
  }

  // It has succeeded, or answered that there is nothing.
  void charge(double units) noexcept {
    charge_ = units;
    finish();
  }
  void finish() {
    set_last_request_charge(charge_);
    store_.throughput().take(epk_, charge_);
  }
  double charged() const noexcept { return charge_; }

 private:
  ContainerStore& store_;
  std::string epk_;
  double charge_ = 0;
};

}  // namespace quire::engine
