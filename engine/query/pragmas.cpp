#include "engine/query/pragmas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/query/script_statement.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

// ---- Values, as numbers; nothing for one that the pragma does not take

// A literal, or a word: PRAGMA strict = on.
std::string word_of(const sql::Expression& value) {
  if (value.kind == sql::ExpressionKind::identifier) return std::string(value.text);
  if (value.kind != sql::ExpressionKind::literal) return "";
  if (value.literal.is_string()) return std::string(value.literal.as_string());
  std::string text;
  sql::write_json(value.literal, text);
  return text;
}

std::optional<uint64_t> whole_number(const sql::Expression& value) {
  const bool is_whole = value.kind == sql::ExpressionKind::literal &&
                        value.literal.kind() == sql::Kind::integer && value.literal.as_integer() >= 0;
  return is_whole ? std::optional(static_cast<uint64_t>(value.literal.as_integer())) : std::nullopt;
}

std::optional<uint64_t> on_or_off(const sql::Expression& value) {
  const std::string word = word_of(value);
  if (word == "on" || word == "true" || word == "1") return 1;
  if (word == "off" || word == "false" || word == "0") return 0;
  return std::nullopt;
}

constexpr std::string_view kDurabilities[] = {"full", "relaxed", "none"};  // as Durability counts

std::optional<uint64_t> durability_word(const sql::Expression& value) {
  const auto* const found = std::ranges::find(kDurabilities, word_of(value));
  if (found == std::end(kDurabilities)) return std::nullopt;
  return static_cast<uint64_t>(found - std::begin(kDurabilities));
}

// ---- What they do

using Given = std::optional<uint64_t>;

Result<std::string> strict(Session& session, Given value) {
  if (value) session.set_strict(*value != 0);
  return session.strict() ? "true" : "false";
}

template <auto kLimit>
Result<std::string> limit(Session& session, Given value) {
  Limits limits = session.limits();
  if (value) {
    limits.*kLimit = *value;
    session.set_limits(limits);
  }
  return fmt::format("{}", limits.*kLimit);
}

Result<std::string> threads(Session& session, Given value) {
  if (value) session.set_threads(*value);
  return fmt::format("{}", session.threads());
}

Result<std::string> durability(Session& session, Given value) {
  Environment& environment = session.containers().environment();
  if (value) {
    const auto wanted = static_cast<Durability>(*value);
    if (wanted > environment.durability())
      return fail(ErrorCode::invalid_argument,
                  "durability can only grow while the file is open; ask for a weaker one when opening it");
    environment.strengthen(wanted);
  }
  return fmt::format("\"{}\"", kDurabilities[static_cast<size_t>(environment.durability())]);
}

Result<std::string> erase_expired(Session& session, Given value) {
  QUIRE_TRY(session.check_outside_transaction("expired items cannot be erased"));
  QUIRE_ASSIGN(const uint64_t erased, session.containers().erase_expired(value.value_or(UINT64_MAX)));
  return fmt::format("{}", erased);
}

Result<std::string> trust(Session& session, Given value) {
  const auto wanted = value ? std::optional(*value != 0) : std::nullopt;
  QUIRE_ASSIGN(const bool are_trusted, trust_scripts(session.containers(), session, wanted));
  return are_trusted ? "true" : "false";
}

template <auto kLimit>
Result<std::string> script_limit(Session& session, Given value) {
  ScriptLimits limits = session.script_limits();
  if (value) {
    limits.*kLimit = static_cast<std::remove_reference_t<decltype(limits.*kLimit)>>(*value);
    session.set_script_limits(limits);
  }
  return fmt::format("{}", limits.*kLimit);
}

struct PragmaRow {
  std::string_view name;
  std::string_view wanted;  // what it takes
  std::optional<uint64_t> (*read)(const sql::Expression& value);
  uint64_t least, most;
  // The setting as JSON, which is `value` from now on, if there is one.
  Result<std::string> (*run)(Session& session, Given value);
};
constexpr uint64_t kAnyNumber = INT64_MAX;
constexpr PragmaRow kPragmas[] = {
    {"durability", "full, relaxed or none", durability_word, 0, 2, durability},
    {"erase_expired", "a number of items above 0", whole_number, 1, kAnyNumber, erase_expired},
    {"reader_age", "milliseconds, 0 (no limit) to 86400000", whole_number, 0, kMostTimeMs,
     limit<&Limits::reader_age_ms>},
    {"result_size", "a number of bytes, 0 for no limit", whole_number, 0, kAnyNumber,
     limit<&Limits::result_size>},
    {"script_memory", "bytes, 4 MiB to 1 GiB", whole_number, kLeastScriptMemory, kMostScriptMemory,
     script_limit<&ScriptLimits::memory_bytes>},
    {"script_operations", "a number, 1 to 1000000000", whole_number, 1, 1'000'000'000,
     script_limit<&ScriptLimits::operations>},
    {"script_result", "bytes, 1 to 1 GiB", whole_number, 1, kMostScriptMemory,
     script_limit<&ScriptLimits::result_bytes>},
    {"script_time", "milliseconds, 1 to 3600000", whole_number, 1, kMostScriptTimeMs,
     script_limit<&ScriptLimits::time_ms>},
    {"statement_memory", "a number of bytes above 0", whole_number, 1, kAnyNumber,
     limit<&Limits::statement_memory>},
    {"statement_time", "milliseconds, 0 (no limit) to 86400000", whole_number, 0, kMostTimeMs,
     limit<&Limits::statement_time_ms>},
    {"strict", "on or off", on_or_off, 0, 1, strict},
    {"threads", "a whole number from 1 to 64", whole_number, 1, 64, threads},
    {"transaction_size", "a number of bytes above 0", whole_number, 1, kAnyNumber,
     limit<&Limits::transaction_size>},
    {"trust_scripts", "on or off", on_or_off, 0, 1, trust},
};

}  // namespace

Result<std::string> run_pragma(Session& session, const sql::Pragma& pragma) {
  const auto* const row = std::ranges::find(kPragmas, pragma.name, &PragmaRow::name);
  if (row == std::end(kPragmas)) {
    NearestName nearest(pragma.name);
    for (const PragmaRow& known : kPragmas) nearest.offer(known.name);
    return fail(ErrorCode::unresolved_name,
                fmt::format("there is no PRAGMA {}{}", pragma.name, nearest.hint()));
  }
  Given value;
  if (pragma.value != nullptr) {
    value = row->read(*pragma.value);
    if (!value || *value < row->least || *value > row->most)
      return fail(ErrorCode::invalid_argument, fmt::format("PRAGMA {} takes {}", row->name, row->wanted));
  }
  return row->run(session, value);
}

}  // namespace quire::engine
