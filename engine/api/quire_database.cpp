// Databases and their containers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "engine/file/compact_file.h"
#include "engine/maintenance/recover.h"
#include "quire/quire.h"

using quire::ErrorCode;
using quire::fail;
using quire::Result;
using quire::engine::CheckReport;
using quire::engine::ContainerDefinition;
using quire::engine::ContainerStore;
using quire::engine::DatabaseOptions;
using quire::engine::Durability;
using quire::engine::Environment;
using quire::engine::FileOptions;
using quire::engine::guarded;
using quire::engine::Limits;
using quire::engine::LongWork;
using quire::engine::null_argument;
using quire::engine::number_of;
using quire::engine::options_argument;
using quire::engine::ScratchText;
using quire::engine::text_argument;
using quire::engine::WorkOptions;

namespace {

std::function<bool(uint64_t done, uint64_t all)> function_of(quire_work_progress progress, void* context) {
  if (progress == nullptr) return nullptr;
  return [progress, context](uint64_t done, uint64_t all) { return progress(context, done, all) == 0; };
}

Result<Durability> durability_argument(const quire_durability& durability) {
  switch (number_of(durability)) {
    case QUIRE_FULL:
      return Durability::full;
    case QUIRE_RELAXED:
      return Durability::relaxed;
    case QUIRE_NONE:
      return Durability::none;
    default:
      return fail(ErrorCode::invalid_argument,
                  "the durability is none of QUIRE_FULL, QUIRE_RELAXED, QUIRE_NONE");
  }
}

// As PRAGMA takes them; zero: as they are.
Result<void> set_limits(const quire_options& given, DatabaseOptions& options) {
  Limits& limits = options.limits;
  if (given.statement_time_ms > quire::engine::kMostTimeMs ||
      given.reader_age_ms > quire::engine::kMostTimeMs)
    return fail(ErrorCode::invalid_argument, "statement_time_ms and reader_age_ms are 86400000 at most");
  limits.statement_time_ms = given.statement_time_ms;
  limits.reader_age_ms = given.reader_age_ms;
  limits.result_size = given.result_size;
  if (given.statement_memory != 0) limits.statement_memory = given.statement_memory;
  if (given.transaction_size != 0) limits.transaction_size = given.transaction_size;
  if (given.script_time_ms > quire::engine::kMostScriptTimeMs)
    return fail(ErrorCode::invalid_argument, "script_time_ms is 3600000 at most");
  if (given.script_time_ms != 0) options.script_limits.time_ms = given.script_time_ms;
  if (given.script_memory == 0) return {};
  if (given.script_memory < quire::engine::kLeastScriptMemory ||
      given.script_memory > quire::engine::kMostScriptMemory)
    return fail(ErrorCode::invalid_argument, "script_memory is from 4 MiB to 1 GiB");
  options.script_limits.memory_bytes = given.script_memory;
  return {};
}

Result<std::unique_ptr<quire_database>> open(const char* path, const quire_options* given) {
  if (path == nullptr) return null_argument("the path");
  QUIRE_ASSIGN(const quire_options options, options_argument(given));
  FileOptions file{.read_only = options.read_only != 0, .must_exist = options.must_exist != 0};
  QUIRE_ASSIGN(file.durability, durability_argument(options.durability));
  file.map_size = options.map_size;
  if (options.busy_timeout_ms != 0) file.busy_timeout_ms = options.busy_timeout_ms;
  file.is_untrusted = options.untrusted != 0;
  DatabaseOptions database{.strict = options.strict != 0,
                           .verify_checksums = options.verify_checksums != 0,
                           .trusts_all_scripts = options.trust_scripts != 0,
                           .limits = {},
                           .script_limits = {}};
  QUIRE_TRY(set_limits(options, database));
  QUIRE_ASSIGN(auto environment, Environment::open(path, file));
  return std::make_unique<quire_database>(std::move(environment), database);
}

}  // namespace

extern "C" {

int quire_open(const char* path, const quire_options* options, quire_database** database,
               quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the place for the database");
    *database = nullptr;
    QUIRE_ASSIGN(auto opened, open(path, options));
    *database = opened.release();
    return {};
  });
}

int quire_close(quire_database* database, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return {};
    QUIRE_TRY(database->environment().check_process());
    if (const size_t open = database->open_handles(); open != 0)
      return fail(ErrorCode::misuse,
                  "the database stays open: containers, statements, snapshots or transactions of it "
                  "have not been released, in number: " +
                      std::to_string(open));
    QUIRE_TRY(database->session().check_no_other_is_within_begin());
    const std::unique_ptr<quire_database> owned(database);
    return {};
  });
}

void quire_interrupt(quire_database* database) {
  if (database != nullptr) database->interrupt();
}

void quire_set_progress(quire_database* database, quire_work_progress progress, void* context) {
  if (database != nullptr) database->session().set_progress(function_of(progress, context));
}

int quire_check(quire_database* database, const char* name, size_t length, quire_buffer* out,
                quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the database");
    if (out == nullptr) return null_argument("the buffer");
    std::string_view container;
    if (name != nullptr) {
      QUIRE_ASSIGN(container, text_argument(name, length, "the container's name"));
      // Below, an empty name means all: here it is that of no container.
      if (container.empty()) QUIRE_TRY(database->containers().open(container));
    }
    QUIRE_TRY(database->session().check_outside_transaction("a check cannot run"));
    const quire::engine::OpenHandle checking(*database);
    QUIRE_ASSIGN(const CheckReport report, database->check(container));
    std::vector<std::string> rows = report.rows();
    rows.pop_back();  // how it went in all
    quire::engine::assign(*out, fmt::format("[{}]", fmt::join(rows, ",")));
    return {};
  });
}

int quire_backup(quire_database* database, const char* path, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the database");
    if (path == nullptr) return null_argument("the path");
    const quire::engine::OpenHandle copying(*database);
    return database->copy_to(path);
  });
}

int quire_compact(const char* path, quire_compaction* compaction, quire_error* error) {
  return quire_compact_watched(path, nullptr, nullptr, compaction, error);
}

int quire_compact_watched(const char* path, quire_work_progress progress, void* context,
                          quire_compaction* compaction, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (path == nullptr) return null_argument("the path");
    const WorkOptions options{.progress = function_of(progress, context)};
    LongWork work(options, "the compaction was interrupted");
    std::error_code unknown;
    work.expect(2 * std::filesystem::file_size(path, unknown));
    QUIRE_ASSIGN(const quire::engine::Compaction done, quire::engine::compact_file(path, [&](uint64_t bytes) {
                   return work.advance_by_pages(bytes);
                 }));
    if (compaction != nullptr) *compaction = {done.bytes_before, done.bytes_after};
    return {};
  });
}

int quire_recover(const char* damaged, const char* fresh, quire_buffer* out, quire_error* error) {
  return quire_recover_watched(damaged, fresh, nullptr, nullptr, out, error);
}

int quire_recover_watched(const char* damaged, const char* fresh, quire_work_progress progress, void* context,
                          quire_buffer* out, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (damaged == nullptr) return null_argument("the path of the damaged file");
    if (fresh == nullptr) return null_argument("the path of the new file");
    QUIRE_ASSIGN(const quire::engine::Recovery recovery,
                 quire::engine::recover_file(damaged, fresh, {.progress = function_of(progress, context)}));
    if (out != nullptr) quire::engine::assign(*out, fmt::format("[{}]", fmt::join(recovery.rows(), ",")));
    return {};
  });
}

int quire_container_create(quire_database* database, const char* definition, size_t length,
                           quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the database");
    QUIRE_ASSIGN(const std::string_view json, text_argument(definition, length, "the definition"));
    QUIRE_ASSIGN(const ContainerDefinition parsed, ContainerDefinition::from_json(json));
    QUIRE_TRY(database->session().check_outside_transaction("containers cannot be made"));
    QUIRE_TRY(database->containers().create(parsed));
    return {};
  });
}

int quire_container_drop(quire_database* database, const char* name, size_t length, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the database");
    QUIRE_ASSIGN(const std::string_view text, text_argument(name, length, "the container's name"));
    QUIRE_TRY(database->session().check_outside_transaction("containers cannot be dropped"));
    return database->containers().drop(text);
  });
}

int quire_erase_expired(quire_database* database, uint64_t most, uint64_t* erased, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the database");
    QUIRE_TRY(database->session().check_outside_transaction("expired items cannot be erased"));
    const quire::engine::OpenHandle erasing(*database);
    QUIRE_ASSIGN(const uint64_t count, database->containers().erase_expired(most));
    if (erased != nullptr) *erased = count;
    return {};
  });
}

int quire_containers(quire_database* database, quire_buffer* out, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the database");
    if (out == nullptr) return null_argument("the buffer");
    ScratchText scratch;
    QUIRE_TRY(database->describe_containers(scratch.text()));
    quire::engine::assign(*out, scratch.text());
    return {};
  });
}

int quire_status(quire_database* database, quire_buffer* out, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the database");
    if (out == nullptr) return null_argument("the buffer");
    ScratchText scratch;
    QUIRE_TRY(database->describe_file(scratch.text()));
    quire::engine::assign(*out, scratch.text());
    return {};
  });
}

int quire_container_open(quire_database* database, const char* name, size_t length,
                         quire_container** container, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (container == nullptr) return null_argument("the place for the container");
    *container = nullptr;
    if (database == nullptr) return null_argument("the database");
    QUIRE_ASSIGN(const std::string_view text, text_argument(name, length, "the container's name"));
    QUIRE_ASSIGN(std::shared_ptr<ContainerStore> store, database->containers().open(text));
    *container = std::make_unique<quire_container>(*database, std::move(store)).release();
    return {};
  });
}

int quire_advise(quire_database* database, const char* container, size_t length, quire_buffer* out,
                 quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (database == nullptr) return null_argument("the database");
    if (out == nullptr) return null_argument("the buffer");
    QUIRE_ASSIGN(const std::string_view name, text_argument(container, length, "the container's name"));
    const quire::engine::OpenHandle advising(*database);
    QUIRE_ASSIGN(const std::vector<std::string> rows, database->advise(name));
    std::string json = "[";
    for (const std::string& row : rows) json += (json.size() > 1 ? "," : "") + row;
    quire::engine::assign(*out, json + "]");
    return {};
  });
}

void quire_container_close(quire_container* container) {
  const std::unique_ptr<quire_container> owned(container);
}

}  // extern "C"
