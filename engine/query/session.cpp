#include "engine/query/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sql/value/json.h"

namespace quire::engine {

// ---- Transactions

// LMDB shows a transaction no table that is opened later.
Result<void> Session::open_all_containers() {
  QUIRE_ASSIGN(const ReadTransaction snapshot, containers_.environment().begin_read());
  QUIRE_ASSIGN(const std::vector<std::string> names, containers_.catalog().names(snapshot));
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
  QUIRE_ASSIGN(auto write, containers_.environment().begin_write());
  const std::lock_guard lock(mutex_);
  write_ = std::move(write);
  owner_ = std::this_thread::get_id();
  openings_ = openings;
  return {};
}

Result<std::unique_ptr<ExplicitWrite>> Session::take() {
  const std::lock_guard lock(mutex_);
  if (write_ == nullptr || owner_ != std::this_thread::get_id())
    return fail(ErrorCode::misuse, "no transaction is open; BEGIN opens one, for the thread that says it");
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
  const std::lock_guard lock(mutex_);
  if (write_ == nullptr || owner_ != std::this_thread::get_id()) return {};
  return {&write_->transaction(), openings_};
}

Result<void> Session::check_outside_transaction(std::string_view what) {
  if (current().transaction == nullptr) return {};
  return fail(ErrorCode::misuse, fmt::format("{} within BEGIN; COMMIT or ROLLBACK first", what));
}

// ---- Settings

void Session::set_progress(Progress progress) {
  const std::lock_guard lock(mutex_);
  progress_ = std::move(progress);
}

Session::Progress Session::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

namespace {

// A literal, or a word: PRAGMA strict = on.
std::string word_of(const sql::Expression& value) {
  if (value.kind == sql::ExpressionKind::identifier) return std::string(value.text);
  if (value.kind != sql::ExpressionKind::literal) return "";
  if (value.literal.is_string()) return std::string(value.literal.as_string());
  std::string text;
  sql::write_json(value.literal, text);
  return text;
}

std::optional<bool> switch_of(std::string_view word) {
  if (word == "on" || word == "true" || word == "1") return true;
  if (word == "off" || word == "false" || word == "0") return false;
  return std::nullopt;
}

Error wrong_value(std::string_view name, std::string_view wanted) {
  return {ErrorCode::invalid_argument, fmt::format("PRAGMA {} takes {}", name, wanted)};
}

// What a script may use, as PRAGMA names it.
struct ScriptLimitRow {
  std::string_view name;
  std::string_view wanted;
  uint64_t least;
  uint64_t most;
  uint64_t (*get)(const ScriptLimits&);
  void (*set)(ScriptLimits&, uint64_t);
};
constexpr ScriptLimitRow kScriptLimits[] = {
    {"script_time", "milliseconds, 1 to 3600000", 1, 3'600'000,
     [](const ScriptLimits& limits) -> uint64_t { return limits.time_ms; },
     [](ScriptLimits& limits, uint64_t value) { limits.time_ms = static_cast<uint32_t>(value); }},
    {"script_memory", "bytes, 4 MiB to 1 GiB", kLeastScriptMemory, kMostScriptMemory,
     [](const ScriptLimits& limits) -> uint64_t { return limits.memory_bytes; },
     [](ScriptLimits& limits, uint64_t value) { limits.memory_bytes = value; }},
    {"script_operations", "a number, 1 to 1000000000", 1, 1'000'000'000,
     [](const ScriptLimits& limits) -> uint64_t { return limits.operations; },
     [](ScriptLimits& limits, uint64_t value) { limits.operations = static_cast<uint32_t>(value); }},
    {"script_result", "bytes, 1 to 1 GiB", 1, kMostScriptMemory,
     [](const ScriptLimits& limits) -> uint64_t { return limits.result_bytes; },
     [](ScriptLimits& limits, uint64_t value) { limits.result_bytes = value; }},
};

constexpr std::string_view kDurabilities[] = {"full", "relaxed", "none"};  // as Durability counts

}  // namespace

Result<std::string> Session::pragma(const sql::Pragma& pragma) {
  const std::string word = pragma.value != nullptr ? word_of(*pragma.value) : "";
  if (pragma.name == "strict") {
    if (pragma.value != nullptr) {
      const auto on = switch_of(word);
      if (!on) return std::unexpected(wrong_value(pragma.name, "on or off"));
      strict_ = *on;
    }
    return strict() ? "true" : "false";
  }
  if (pragma.name == "statement_memory") {
    if (pragma.value != nullptr) {
      const sql::Value& bytes = pragma.value->literal;
      if (bytes.kind() != sql::Kind::integer || bytes.as_integer() <= 0)
        return std::unexpected(wrong_value(pragma.name, "a number of bytes above 0"));
      statement_memory_ = static_cast<size_t>(bytes.as_integer());
    }
    return fmt::format("{}", statement_memory());
  }
  if (pragma.name == "threads") {
    constexpr int64_t kMostThreads = 64;
    if (pragma.value != nullptr) {
      const sql::Value& count = pragma.value->literal;
      if (count.kind() != sql::Kind::integer || count.as_integer() < 1 || count.as_integer() > kMostThreads)
        return std::unexpected(wrong_value(pragma.name, "a whole number from 1 to 64"));
      threads_ = static_cast<size_t>(count.as_integer());
    }
    return fmt::format("{}", threads());
  }
  if (pragma.name == "durability") {
    Environment& environment = containers_.environment();
    if (pragma.value != nullptr) {
      const auto* const found = std::ranges::find(kDurabilities, word);
      if (found == std::end(kDurabilities))
        return std::unexpected(wrong_value(pragma.name, "full, relaxed or none"));
      const auto wanted = static_cast<Durability>(found - std::begin(kDurabilities));
      if (wanted > environment.durability())
        return fail(ErrorCode::invalid_argument,
                    "durability can only grow while the file is open; ask for a weaker one when opening it");
      environment.strengthen(wanted);
    }
    return fmt::format("\"{}\"", kDurabilities[static_cast<size_t>(environment.durability())]);
  }
  if (pragma.name.starts_with("script_")) return script_pragma(pragma);
  if (pragma.name == "erase_expired") {
    QUIRE_TRY(check_outside_transaction("expired items cannot be erased"));
    uint64_t most = UINT64_MAX;
    if (pragma.value != nullptr) {
      const sql::Value& items = pragma.value->literal;
      if (items.kind() != sql::Kind::integer || items.as_integer() <= 0)
        return std::unexpected(wrong_value(pragma.name, "a number of items above 0"));
      most = static_cast<uint64_t>(items.as_integer());
    }
    QUIRE_ASSIGN(const uint64_t erased, containers_.erase_expired(most));
    return fmt::format("{}", erased);
  }
  NearestName nearest(pragma.name);
  for (const std::string_view name : {"strict", "statement_memory", "threads", "durability", "erase_expired"})
    nearest.offer(name);
  for (const ScriptLimitRow& row : kScriptLimits) nearest.offer(row.name);
  return fail(ErrorCode::unresolved_name,
              fmt::format("there is no PRAGMA {}{}", pragma.name, nearest.hint()));
}

ScriptLimits Session::script_limits() {
  const std::lock_guard lock(mutex_);
  return script_limits_;
}

Result<std::string> Session::script_pragma(const sql::Pragma& pragma) {
  const auto* const row = std::ranges::find(kScriptLimits, pragma.name, &ScriptLimitRow::name);
  if (row == std::end(kScriptLimits)) {
    NearestName nearest(pragma.name);
    for (const ScriptLimitRow& candidate : kScriptLimits) nearest.offer(candidate.name);
    return fail(ErrorCode::unresolved_name,
                fmt::format("there is no PRAGMA {}{}", pragma.name, nearest.hint()));
  }
  const std::lock_guard lock(mutex_);
  if (pragma.value != nullptr) {
    const sql::Value& value = pragma.value->literal;
    if (value.kind() != sql::Kind::integer || value.as_integer() < 0 ||
        static_cast<uint64_t>(value.as_integer()) < row->least ||
        static_cast<uint64_t>(value.as_integer()) > row->most)
      return std::unexpected(wrong_value(pragma.name, row->wanted));
    row->set(script_limits_, static_cast<uint64_t>(value.as_integer()));
  }
  return fmt::format("{}", row->get(script_limits_));
}

}  // namespace quire::engine
