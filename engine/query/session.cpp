#include "engine/query/session.h"

#include <fmt/format.h>

#include <utility>

namespace quire::engine {

// ---- Transactions

// LMDB shows a transaction no table that is opened later.
Result<void> Session::open_all_containers() {
  std::vector<std::string> names;
  {
    QUIRE_ASSIGN(const ReadTransaction snapshot, containers_.environment().begin_read());
    QUIRE_ASSIGN(names, containers_.catalog().names(snapshot));
  }
  for (const std::string& name : names) {
    const auto opened = containers_.open(name);
    // Dropped meanwhile: then there is nothing to know.
    if (!opened && opened.error().code != ErrorCode::container_not_found)
      return std::unexpected(opened.error());
  }
  return {};
}

Result<void> Session::begin() {
  if (current().transaction != nullptr)
    return fail(ErrorCode::misuse, "a transaction is open already; COMMIT or ROLLBACK ends it");
  QUIRE_TRY(open_all_containers());
  const uint64_t openings = containers_.openings();
  auto life = life_of_this_thread();
  QUIRE_ASSIGN(auto write, begin_write());
  const std::lock_guard lock(mutex_);
  write_ = std::move(write);
  owner_ = this_thread();
  owners_life_ = std::move(life);
  openings_ = openings;
  return {};
}

Result<std::unique_ptr<ExplicitWrite>> Session::take() {
  const std::lock_guard lock(mutex_);
  if (write_ == nullptr || owner_ != this_thread())
    return fail(ErrorCode::misuse, "no transaction is open; BEGIN opens one, for the thread that says it");
  QUIRE_TRY(write_->transaction().check_no_nested());
  owner_ = ThreadNumber::none;
  return std::move(write_);
}

Result<void> Session::commit() {
  QUIRE_ASSIGN(const auto write, take());
  return write->commit();
}

Result<void> Session::rollback() {
  QUIRE_ASSIGN(const auto write, take());
  write->rollback();
  return {};
}

Session::Current Session::current() {
  // Each statement asks. Only the thread itself makes itself the owner, or ends that.
  if (owner_.load(std::memory_order_relaxed) != this_thread()) return {};
  const std::lock_guard lock(mutex_);
  if (write_ == nullptr) return {};
  return {&write_->transaction(), openings_};
}

void Session::roll_back_what_nobody_can_end() noexcept {
  // Each write asks.
  const ThreadNumber owner = owner_.load(std::memory_order_relaxed);
  if (owner == ThreadNumber::none || owner == this_thread()) return;
  std::unique_ptr<ExplicitWrite> left;  // ends outside of the lock
  const std::lock_guard lock(mutex_);
  if (write_ == nullptr || !owners_life_.expired()) return;
  owner_ = ThreadNumber::none;
  left = std::move(write_);
}

Result<void> Session::check_outside_transaction(std::string_view what) {
  roll_back_what_nobody_can_end();
  if (current().transaction == nullptr) return {};
  return fail(ErrorCode::misuse, fmt::format("{} within BEGIN; COMMIT or ROLLBACK first", what));
}

Result<void> Session::check_no_other_is_within_begin() const {
  const std::lock_guard lock(mutex_);
  if (write_ == nullptr || owner_ == this_thread() || owners_life_.expired()) return {};
  return fail(ErrorCode::misuse,
              "the database stays open: another thread is within BEGIN, and has to COMMIT or ROLLBACK first");
}

Result<void> Session::write(const std::function<Result<void>(WriteTransaction&)>& work) {
  roll_back_what_nobody_can_end();
  const uint64_t most = limits().transaction_size;
  return containers_.environment().write([&](WriteTransaction& transaction) -> Result<void> {
    transaction.limit_size(most);
    QUIRE_TRY(work(transaction));
    return transaction.check_size();
  });
}

Result<std::unique_ptr<ExplicitWrite>> Session::begin_write() {
  roll_back_what_nobody_can_end();
  QUIRE_ASSIGN(auto write, containers_.environment().begin_write());
  write->transaction().limit_size(limits().transaction_size);
  return write;
}

// ---- Settings

Limits Session::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

void Session::set_limits(const Limits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
  reader_age_ms_ = limits.reader_age_ms;
}

WorkOptions Session::long_work(const std::atomic<uint64_t>* interrupts,
                               std::chrono::milliseconds time_limit) const {
  return {progress(), interrupts, sql::TimeLimit::from_now(time_limit)};
}

void Session::set_progress(Progress progress) {
  const std::lock_guard lock(mutex_);
  progress_ = std::move(progress);
}

Session::Progress Session::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

ScriptLimits Session::script_limits(const sql::TimeLimit& statement) {
  const std::lock_guard lock(mutex_);
  ScriptLimits limits = script_limits_;
  limits.statement = statement;
  limits.query_memory = limits_.statement_memory;
  return limits;
}

void Session::set_script_limits(const ScriptLimits& limits) {
  const std::lock_guard lock(mutex_);
  script_limits_ = limits;
}

}  // namespace quire::engine
