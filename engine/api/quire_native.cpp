// Native procedures: registered, and what they call.
#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "engine/script/native_procedures.h"
#include "quire/quire.h"
#include "sql/value/json.h"

using quire::Error;
using quire::ErrorCode;
using quire::Result;
using quire::engine::guarded;
using quire::engine::NativeCall;
using quire::engine::null_argument;
using quire::engine::PartitionAccess;
using quire::engine::text_argument;

namespace {

// The caller's context, released with the procedure.
struct Context {
  void* context;
  void (*release)(void*);
  ~Context() {
    if (release != nullptr) release(context);
  }
};

// A code that the procedure made up is that of a script that failed.
Error error_of(int code, const quire_error& filled) {
  const bool is_known =
      code > 0 && quire::error_code_row(static_cast<ErrorCode>(code)).code == static_cast<ErrorCode>(code);
  // The caller may have filled all of it, without a NUL.
  const std::string_view message(filled.message, strnlen(filled.message, sizeof filled.message));
  return {.code = is_known ? static_cast<ErrorCode>(code) : ErrorCode::script_failed,
          .message = message.empty() ? "the procedure failed without a message" : std::string(message),
          .position = {},
          .retry_after_ms = code == QUIRE_TOO_MANY_REQUESTS ? filled.retry_after_ms : 0};
}

// `work` gets the access to the partition and a text to fill, which goes to `out`.
template <typename Work>
int operate(quire_call* call, quire_buffer* out, quire_error* error, const Work& work) {
  return guarded(error, [&]() -> Result<void> {
    if (call == nullptr) return null_argument("the call");
    QUIRE_ASSIGN(PartitionAccess* const access, call->call.operation());
    std::string text;
    QUIRE_TRY(work(*access, text));
    if (out != nullptr) quire::engine::assign(*out, text);
    return {};
  });
}

class JsonRows final : public quire::engine::PageRows {
 public:
  Result<void> add(const quire::sql::Value& row) override {
    if (!text_.empty()) text_ += ',';
    quire::sql::write_json(row, text_);
    return {};
  }
  void clear() override { text_.clear(); }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

int write(quire_call* call, PartitionAccess::Write kind, const char* json, size_t length,
          const char* if_match, quire_buffer* out, quire_error* error) {
  return operate(call, out, error, [&](PartitionAccess& access, std::string& text) -> Result<void> {
    QUIRE_ASSIGN(const std::string_view item, text_argument(json, length, "the item's JSON"));
    quire::sql::JsonReader reader;
    quire::sql::Arena arena;
    QUIRE_ASSIGN(const quire::sql::Value value, reader.to_value(item, arena));
    QUIRE_ASSIGN(const quire::engine::ItemOutcome written,
                 access.write(kind, value, quire::engine::etag_argument(if_match), false));
    access.write_json(written.item, text);
    return {};
  });
}

}  // namespace

extern "C" {

int quire_register_procedure(quire_database* database, const char* name, size_t name_length,
                             quire_native_procedure procedure, void* context, void (*release)(void*),
                             quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    auto owned = std::make_shared<Context>(context, release);
    if (database == nullptr) return null_argument("the database");
    if (procedure == nullptr) return null_argument("the procedure");
    QUIRE_ASSIGN(const std::string_view text, text_argument(name, name_length, "the name of the procedure"));
    return database->native_procedures().add(
        text, [owned, procedure](NativeCall& call, std::string_view arguments) -> Result<void> {
          quire_call handle{call};
          quire_error filled{};
          const int code = procedure(owned->context, &handle, arguments.data(), arguments.size(), &filled);
          if (code != QUIRE_OK) return std::unexpected(error_of(code, filled));
          return {};
        });
  });
}

int quire_call_create(quire_call* call, const char* json, size_t length, quire_buffer* out,
                      quire_error* error) {
  return write(call, PartitionAccess::Write::create, json, length, nullptr, out, error);
}

int quire_call_upsert(quire_call* call, const char* json, size_t length, const char* if_match,
                      quire_buffer* out, quire_error* error) {
  return write(call, PartitionAccess::Write::upsert, json, length, if_match, out, error);
}

int quire_call_replace(quire_call* call, const char* json, size_t length, const char* if_match,
                       quire_buffer* out, quire_error* error) {
  return write(call, PartitionAccess::Write::replace, json, length, if_match, out, error);
}

int quire_call_delete(quire_call* call, const char* id, size_t id_length, const char* if_match,
                      quire_error* error) {
  return operate(call, nullptr, error, [&](PartitionAccess& access, std::string&) -> Result<void> {
    QUIRE_ASSIGN(const std::string_view item, text_argument(id, id_length, "the id"));
    return access.remove(item, quire::engine::etag_argument(if_match));
  });
}

int quire_call_read(quire_call* call, const char* id, size_t id_length, quire_buffer* out,
                    quire_error* error) {
  return operate(call, out, error, [&](PartitionAccess& access, std::string& text) -> Result<void> {
    QUIRE_ASSIGN(const std::string_view item, text_argument(id, id_length, "the id"));
    QUIRE_ASSIGN(const auto found, access.read(item, ""));
    if (found) access.write_json(*found, text);
    return {};
  });
}

int quire_call_query(quire_call* call, const char* query, size_t length, quire_buffer* out,
                     quire_error* error) {
  return operate(call, out, error, [&](PartitionAccess& access, std::string& text) -> Result<void> {
    QUIRE_ASSIGN(const std::string_view json, text_argument(query, length, "the query"));
    quire::sql::JsonReader reader;
    quire::sql::Arena arena;
    quire::sql::Value value;  // undefined: all items
    if (!json.empty()) {
      QUIRE_ASSIGN(value, reader.to_value(json, arena));
    }
    JsonRows rows;
    QUIRE_TRY(access.feed(value, -1, "", rows));
    text = fmt::format(R"({{"feed":[{}]}})", rows.text());
    return {};
  });
}

int quire_call_respond(quire_call* call, const char* json, size_t length, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (call == nullptr) return null_argument("the call");
    QUIRE_ASSIGN(const std::string_view text, text_argument(json, length, "the response"));
    return call->call.respond(text);
  });
}

void quire_call_log(quire_call* call, const char* line, size_t length) {
  if (call != nullptr && line != nullptr) call->call.log({line, length});
}

}  // extern "C"
