// Import: C's callbacks as those of engine/container/import.h.
#include "engine/container/import.h"

#include <string>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "quire/quire.h"

using quire::Result;
using quire::engine::guarded;
using quire::engine::ImportOptions;
using quire::engine::ImportResult;
using quire::engine::null_argument;
using quire::engine::options_argument;

namespace {

ImportOptions import_options(const quire_import_options& given) {
  ImportOptions options;
  options.skip_errors = given.skip_errors != 0;
  options.upsert = given.upsert != 0;
  options.extended_json = given.extended_json != 0;
  options.generate_ids = given.generate_ids != 0;
  if (given.first_line != 0) options.first_line = given.first_line;
  if (given.id_path != nullptr) options.id_path = given.id_path;
  if (given.progress != nullptr)
    options.progress = [given](uint64_t bytes_read, uint64_t items) {
      return given.progress(given.context, bytes_read, items) == 0;
    };
  if (given.skipped != nullptr)
    options.skipped = [given](uint64_t line, std::string_view message) {
      char text[sizeof quire_error::message];
      quire::engine::write_message(message, text);
      given.skipped(given.context, line, text);
    };
  return options;
}

}  // namespace

extern "C" int quire_import(quire_container* container, quire_read_input read, void* read_context,
                            const quire_import_options* given, quire_import_result* result,
                            quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (container == nullptr) return null_argument("the container");
    if (read == nullptr) return null_argument("the function that reads the input");
    QUIRE_TRY(container->database.session().check_outside_transaction("an import cannot run"));
    // Callbacks may release the container's handle.
    quire_database& database = container->database;
    const quire::engine::OpenHandle importing(database);
    const auto store = container->store;
    QUIRE_ASSIGN(const quire_import_options checked, options_argument(given));
    ImportOptions options = import_options(checked);
    options.interrupts = &database.interrupts();
    const auto reader = [=](char* buffer, size_t capacity) { return read(read_context, buffer, capacity); };
    QUIRE_ASSIGN(const ImportResult imported,
                 quire::engine::import_items(database.environment(), *store, reader, options));
    if (result != nullptr)
      *result = {.items = imported.items, .skipped = imported.skipped, .bytes_read = imported.bytes_read};
    return {};
  });
}
